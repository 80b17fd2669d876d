#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "server/rpc/background_thread.h"
#include "server/rpc/call_acceptor.h"
#include "server/rpc/common_trailer.h"
#include "server/rpc/heartbeat.h"
#include "server/rpc/method_table.h"
#include "server/rpc/polling_thread.h"
#include "server/rpc/rpc_service.h"

namespace millrace::server {

// A gRPC server of RpcServices with its polling threads. Start and Shutdown must be called on one
// thread.
class RpcServer {
 public:
  using OnRefused = CallAcceptor::OnRefused;
  struct Options {
    // The most calls of all connections whose request has not arrived; see CallAcceptor.
    size_t max_incomplete_calls = 4096;
    // The calls a second that are refused with RESOURCE_EXHAUSTED at once; see RefusalPacer. 0:
    // all.
    double refusals_per_second = 250;
    // Called on a polling thread for each call that is refused by max_incomplete_calls.
    std::function<void()> on_incomplete_call_refused = [] {};
    // Called on a polling thread with each message of a client. What it does not accept ends the
    // call with that status.
    std::function<absl::Status(const ByteBuffer&)> check_message = {};
    // Called on any thread for each call that is refused before a service sees it, because its
    // method is unknown or its message is not accepted, and for each that a service ends with
    // UNAUTHENTICATED or PERMISSION_DENIED.
    OnRefused on_refused = {};
    // Added to the trailers of calls; null: none. It must outlive the server.
    const CommonTrailer* trailer = nullptr;
  };

  // Builds and starts a server; null if gRPC cannot. The services must outlive it.
  static std::unique_ptr<RpcServer> Start(grpc::ServerBuilder& builder,
                                          const std::vector<RpcService*>& services,
                                          const Options& options);
  static std::unique_ptr<RpcServer> Start(grpc::ServerBuilder& builder,
                                          const std::vector<RpcService*>& services) {
    return Start(builder, services, Options());
  }
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;
  ~RpcServer() { Shutdown(std::chrono::system_clock::now()); }

  // Accepts no more calls, cancels at the deadline those that still run, and waits until every call
  // has ended. Idempotent.
  void Shutdown(std::chrono::system_clock::time_point deadline);

  // Returns the longest time for which a polling thread has not come round to what waits for it,
  // since an earlier call of this function. One thread; not during Shutdown, nor afterwards.
  Duration PollingDelay(TimePoint now);

 private:
  explicit RpcServer(const std::vector<RpcService*>& services) : methods_(services) {}

  const MethodTable methods_;
  grpc::AsyncGenericService service_;
  BackgroundThread background_;
  std::vector<std::unique_ptr<PollingThread>> threads_;
  std::deque<Heartbeat> heartbeats_;                      // one for each thread
  std::vector<std::unique_ptr<CallAcceptor>> acceptors_;  // one for each thread
  std::unique_ptr<grpc::Server> server_;
  bool is_shut_down_ = false;
};

}  // namespace millrace::server
