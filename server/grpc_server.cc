#include "server/grpc_server.h"

#include <grpc/grpc.h>
#include <grpcpp/server_builder.h>

#include <array>
#include <string>
#include <utility>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/stubs/common.h"
#include "models/core/strings.h"
#include "server/frontends/grpc/reflection_service.h"
#include "server/http2/connection_guard.h"
#include "server/http2/message_refusal.h"
#if GOOGLE_PROTOBUF_VERSION < 4022000  // later ones log through Abseil
#include "google/protobuf/stubs/logging.h"
#include "models/core/errors.h"
#endif

namespace millrace::server {
namespace {

// Each takes about 12 KB.
constexpr int kMostWaitingCalls = 16'384;

// Some hundred short calls.
constexpr int kMostReadAtOnce = 16 << 10;

// Returns why the connection guard refused the message in whose place this one came; OK if it is
// the client's own.
absl::Status RefusalOf(const ByteBuffer& message, uint64_t max_message_bytes) {
  if (!MessageRefusal::MayHaveSize(message.size())) return absl::OkStatus();
  std::array<uint8_t, MessageRefusal::kBytes> bytes;
  if (!message.Read([&](google::protobuf::io::ZeroCopyInputStream& stream) {
        return google::protobuf::io::CodedInputStream(&stream).ReadRaw(
            bytes.data(), static_cast<int>(bytes.size()));
      }))
    return absl::OkStatus();
  const auto refusal = MessageRefusal::Decode(bytes);
  if (!refusal) return absl::OkStatus();
  switch (refusal->reason) {
    case MessageRefusal::Reason::kTooLarge:
      return absl::ResourceExhaustedError(
          StrCat("a message of ", refusal->size, " bytes is larger than ", max_message_bytes,
                 " bytes, the most that are allowed (--max-message-bytes)"));
    case MessageRefusal::Reason::kTooManyAtOnce:
      return absl::ResourceExhaustedError(
          StrCat("a message of ", refusal->size, " bytes cannot be taken beside the messages of ",
                 "other open calls of the connection or its address; send fewer of them at once"));
    case MessageRefusal::Reason::kCompressed:
      return absl::UnimplementedError(
          "the message is compressed, which is not supported; send it without grpc-encoding");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Listen(
    const ServerConfig& config, std::unique_ptr<ConnectionListener> listener,
    std::shared_ptr<grpc::ServerCredentials> credentials, const GrpcParts& parts,
    const ApiKeyStore* keys, CallRefusals& refusals) {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  // gRPC's messages about bad requests would appear between the log's own lines; the calls'
  // statuses say the same.
  google::protobuf::SetLogHandler(nullptr);
#endif

  std::vector<RpcService*> services;
  std::vector<std::string> names;
  for (const auto& service : parts.services) {
    services.push_back(service.get());
    names.push_back(service->full_name());
  }
  auto health = std::make_unique<HealthService>(names, keys);
  services.push_back(health.get());
  std::vector<std::unique_ptr<RpcService>> reflection;
  if (config.reflection) {
    using Version = ReflectionService::Version;
    names.push_back(health->full_name());
    for (const Version version : {Version::kV1, Version::kV1Alpha})
      names.push_back(ReflectionService::FullName(version));
    for (const Version version : {Version::kV1, Version::kV1Alpha}) {
      reflection.push_back(std::make_unique<ReflectionService>(version, names));
      services.push_back(reflection.back().get());
    }
  }

  grpc::ServerBuilder builder;
  auto acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      std::move(credentials));
  builder.SetMaxReceiveMessageSize(static_cast<int>(config.max_message_bytes));
  // gRPC unpacks a message whole before it looks at its size, so clients must not compress.
  builder.AddChannelArgument(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET,
                             1 << GRPC_COMPRESS_NONE);
  builder.SetMaxSendMessageSize(-1);  // long speech is one reply
  // The work of a call keeps its deadline, and a client cancels what it waits for no longer. A
  // timer of gRPC for each call would end it on a thread whose time no connection's turn has.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_DEADLINE_CHECKS, 0);
  // Newer versions refuse calls by themselves while many wait to begin, by default a thousand; ours
  // are refused with a retry hint and counted.
  builder.AddChannelArgument("grpc.server.max_pending_requests", kMostWaitingCalls);
  builder.AddChannelArgument("grpc.server.max_pending_requests_hard_limit", kMostWaitingCalls);
  // Otherwise up to 4 MiB of one connection are parsed before the next one has its turn.
  builder.AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kMostReadAtOnce);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, config.max_streams_per_connection);
  // This time-out ends with the client's first settings frame.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             static_cast<int>(config.handshake_timeout.count()));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             static_cast<int>(config.idle_connection_timeout.count()));
  if (config.max_connection_age.count() != 0) {
    // gRPC varies the age of each connection by a tenth, so that not all of them come back at once.
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                               static_cast<int>(config.max_connection_age.count()));
    if (config.max_connection_age_grace.count() != 0) {
      builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                                 static_cast<int>(config.max_connection_age_grace.count()));
    }
  }
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             static_cast<int>(config.keepalive_min_interval.count()));
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 2);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // Keepalive pings find clients that vanished without closing.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  std::unique_ptr<RpcServer> server = RpcServer::Start(
      builder, services,
      {.max_incomplete_calls = static_cast<size_t>(config.max_incomplete_calls),
       .refusals_per_second = static_cast<double>(config.refusals_per_second),
       .on_incomplete_call_refused = [] { ConnectionGuard::Process().CountIncompleteCall(); },
       .check_message = [max = config.max_message_bytes](
                            const ByteBuffer& message) { return RefusalOf(message, max); },
       .on_refused = [&refusals](absl::StatusCode code, std::string_view method,
                                 std::string_view client) { refusals.Add(code, method, client); },
       .trailer = parts.trailer});
  if (server == nullptr) return Internal("gRPC could not start its server");
  std::unique_ptr<GrpcServer> result(new GrpcServer(std::move(health), std::move(reflection),
                                                    std::move(server), std::move(acceptor),
                                                    std::move(listener)));
  MILLRACE_RETURN_IF_ERROR(result->StartListening());
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
  health_->EndWatches();  // otherwise they would last until the deadline
  // The end of a connection takes with it what was not written to it.
  server_->FlushAnswers(deadline);
  // This precedes the stop of gRPC, which would cancel the calls that arrive afterwards or have not
  // ended, and a client would take that for its own cancellation.
  listener_->Stop();
  server_->Shutdown(deadline);
}

}  // namespace millrace::server
