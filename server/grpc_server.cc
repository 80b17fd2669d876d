#include "server/grpc_server.h"

#include <grpc/grpc.h>

#include <string>
#include <utility>

#include "google/protobuf/stubs/common.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/server_builder.h"
#include "models/core/strings.h"
#if GOOGLE_PROTOBUF_VERSION < 4022000  // later ones log through Abseil
#include "google/protobuf/stubs/logging.h"
#endif

namespace millrace::server {
namespace {

// The reflection library adds its plugin to every builder of a process that links it; this takes it
// out again.
class WithoutReflection final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    std::erase_if(*plugins, [](const auto& plugin) {
      return dynamic_cast<grpc::reflection::ProtoServerReflectionPlugin*>(plugin.get()) != nullptr;
    });
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Listen(
    const ServerConfig& config, std::unique_ptr<ConnectionListener> listener,
    std::shared_ptr<grpc::ServerCredentials> credentials, std::vector<RpcService*> services) {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  // Its lines on bad requests would stand between the log's own; their statuses say the same.
  google::protobuf::SetLogHandler(nullptr);
#endif

  std::vector<std::string> names;
  for (const RpcService* service : services) names.push_back(service->full_name());
  auto health = std::make_unique<HealthService>(std::move(names));
  services.push_back(health.get());

  // A switch of the process that the next builder obeys.
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();

  grpc::ServerBuilder builder;
  if (!config.reflection) builder.SetOption(std::make_unique<WithoutReflection>());
  auto acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      std::move(credentials));
  builder.SetMaxReceiveMessageSize(static_cast<int>(config.max_message_bytes));
  builder.SetMaxSendMessageSize(-1);  // long speech in one reply
  // Newer versions refuse calls by themselves while a thousand wait to be begun; ours are refused
  // with a hint and counted.
  builder.AddChannelArgument("grpc.server.max_pending_requests", 1 << 20);
  builder.AddChannelArgument("grpc.server.max_pending_requests_hard_limit", 1 << 20);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, config.max_streams_per_connection);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             static_cast<int>(config.keepalive_min_interval.count()));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 2);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // Finds clients that vanished without a word.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  std::unique_ptr<RpcServer> server = RpcServer::Start(builder, services);
  if (server == nullptr) return absl::InternalError("gRPC could not start its server");
  std::unique_ptr<GrpcServer> result(new GrpcServer(std::move(health), std::move(server),
                                                    std::move(acceptor), std::move(listener)));
  if (absl::Status status = result->StartListening(); !status.ok()) return status;
  return result;
}

absl::Status GrpcServer::StartListening() {
  return listener_->Start([this](int listener_fd, int fd) {
    Acceptor::NewConnectionParameters connection;
    connection.listener_fd = listener_fd;
    connection.fd = fd;
    acceptor_->HandleNewConnection(&connection);
  });
}

void GrpcServer::Shutdown(std::chrono::system_clock::time_point deadline) {
  listener_->Stop();
  health_->EndWatches();  // they would last until the deadline
  server_->Shutdown(deadline);
}

}  // namespace millrace::server
