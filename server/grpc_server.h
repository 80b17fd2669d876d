#pragma once

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/config/server_config.h"
#include "server/connection_listener.h"
#include "server/frontends/front_end.h"
#include "server/frontends/grpc/health_service.h"
#include "server/rpc/call_refusals.h"
#include "server/rpc/rpc_server.h"

namespace millrace::server {

// The listening gRPC server with its limits, health service and reflection. For one thread, but for
// what says otherwise.
class GrpcServer {
 public:
  // Starts to accept calls from the bound listener. The parts, the keys (null: none are required),
  // and the refusals, which it counts, must outlive this.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Listen(
      const ServerConfig& config, std::unique_ptr<ConnectionListener> listener,
      std::shared_ptr<grpc::ServerCredentials> credentials, const GrpcParts& parts,
      const ApiKeyStore* keys, CallRefusals& refusals);

  int port() const { return listener_->port(); }
  // Sets what grpc.health.v1 answers for the server as a whole and each service.
  void SetServing(bool serving) { health_->SetServing(serving); }
  // Sets what it answers for a model; nullopt: there is no such model.
  void SetModelHealth(std::string_view model, std::optional<bool> ready) {
    health_->SetModel(model, ready);
  }
  // Returns for how long a polling thread has not come round; see RpcServer. Not during Shutdown,
  // nor afterwards.
  Duration PollingDelay(TimePoint now) { return server_->PollingDelay(now); }
  // Leaves new connections in the queue of the socket. Any thread.
  void StopAccepting() { listener_->StopAccepting(); }
  // Ends all connections, so that clients see what still runs end with UNAVAILABLE, and waits until
  // every call has ended; those that have not by the deadline are cancelled.
  void Shutdown(std::chrono::system_clock::time_point deadline);

 private:
  using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

  GrpcServer(std::unique_ptr<HealthService> health,
             std::vector<std::unique_ptr<RpcService>> reflection, std::unique_ptr<RpcServer> server,
             std::unique_ptr<Acceptor> acceptor, std::unique_ptr<ConnectionListener> listener)
      : health_(std::move(health)),
        reflection_(std::move(reflection)),
        server_(std::move(server)),
        acceptor_(std::move(acceptor)),
        listener_(std::move(listener)) {}

  absl::Status StartListening();

  const std::unique_ptr<HealthService> health_;
  const std::vector<std::unique_ptr<RpcService>> reflection_;  // one for each version, or none
  const std::unique_ptr<RpcServer> server_;
  const std::unique_ptr<Acceptor> acceptor_;
  const std::unique_ptr<ConnectionListener>
      listener_;  // declared last: its thread uses the acceptor
};

}  // namespace millrace::server
