#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "server/rpc/background_thread.h"
#include "server/rpc/polling_thread.h"
#include "server/rpc/rpc_service.h"
#include "server/rpc/unknown_methods.h"

namespace millrace::server {

// A gRPC server of RpcServices with its polling threads. Start and Shutdown are for one thread.
class RpcServer {
 public:
  // Builds and starts it; null when gRPC cannot. The services must outlive it.
  static std::unique_ptr<RpcServer> Start(grpc::ServerBuilder& builder,
                                          const std::vector<RpcService*>& services);
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;
  ~RpcServer() { Shutdown(std::chrono::system_clock::now()); }

  // Takes no more calls, cancels at the deadline what still runs, and waits until every call has
  // ended. Idempotent.
  void Shutdown(std::chrono::system_clock::time_point deadline);

 private:
  explicit RpcServer(const std::vector<RpcService*>& services) : unknown_methods_(services) {}

  UnknownMethods unknown_methods_;
  BackgroundThread background_;
  std::vector<std::unique_ptr<PollingThread>> threads_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace millrace::server
