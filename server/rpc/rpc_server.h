#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <deque>
#include <memory>
#include <vector>

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
  using Options = CallAcceptor::Options;

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

  // Refuses as UNAVAILABLE the calls that are incomplete, and waits until their answers and those
  // of all calls that had ended before are written, or until the deadline. Idempotent.
  void FlushAnswers(std::chrono::system_clock::time_point deadline);
  // Flushes the answers, accepts no more calls, cancels at the deadline those that still run, and
  // waits until every call has ended. Idempotent.
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
  bool is_flushed_ = false;
};

}  // namespace millrace::server
