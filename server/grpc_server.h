#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "server/config/server_config.h"

namespace millrace::server {

// The listening gRPC server with its limits, health service and reflection. For one thread.
class GrpcServer {
 public:
  // Listens; the services must outlive it. UNAVAILABLE naming the address when the port is in use.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Listen(
      const ServerConfig& config, std::shared_ptr<grpc::ServerCredentials> credentials,
      const std::vector<grpc::Service*>& services);

  int port() const { return port_; }
  // What grpc.health.v1 says, for the server as a whole and each service.
  void SetServing(bool serving);
  // Takes no more calls, cancels at the deadline what still runs, and waits until every call has
  // ended.
  void Shutdown(std::chrono::system_clock::time_point deadline);

 private:
  GrpcServer(std::unique_ptr<grpc::Server> server, int port)
      : server_(std::move(server)), port_(port) {}

  const std::unique_ptr<grpc::Server> server_;
  const int port_;
};

}  // namespace millrace::server
