#include "server/server_setup.h"

#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/kernels/target.h"
#include "models/repository/model_sources.h"
#include "server/config/command_line.h"
#include "server/control/pull_models.h"
#include "server/control/version.h"
#include "server/http_front_ends.h"
#include "server/logging/logging.h"
#include "server/net/address_policy.h"
#include "server/sockets/socket_address.h"

namespace millrace::server {

ModelSafety::Options MakeSafetyOptions(const ServerConfig& config,
                                       std::vector<std::string> operators) {
  const bool named = !config.safety_profile.empty();
  return {.file = named ? config.safety_profile : DefaultSafetyProfile(config.models),
          .file_was_named = named,
          .models = config.models,
          .operators = std::move(operators)};
}

runtime::RuntimeOptions MakeRuntimeOptions(const ServerConfig& config, ModelSafety& safety) {
  runtime::RuntimeOptions options;
  options.measured_concurrency = [&safety](const runtime::DeviceFacts& facts) {
    return safety.Measured(facts);
  };
  options.device = config.device;
  options.mode = config.mode;
  options.workers = config.workers;
  if (config.max_in_flight != 0) options.max_in_flight = config.max_in_flight;
  options.accept_unsafe_concurrency = config.accept_unsafe_concurrency;
  options.intra_op_threads = config.intra_op_threads;
  options.graph_cache = {.max_entries = config.graph_cache_entries,
                         .max_bytes = config.graph_cache_bytes};
  options.graph_cache_policy = config.graph_cache;
  options.new_shape = config.graph_cache_new_shape;
  options.max_compiled_shapes = config.graph_cache_entries;
  options.require_libtorch = config.require_libtorch;
  return options;
}

void LogRuntime(const ServerConfig& config, runtime::Runtime& runtime, const ModelSafety& safety) {
  logging::Info("runtime", {{"provenance", runtime::ToLogLine(runtime.provenance())},
                            {"cpu_isa", kernels::ToString(kernels::BestInstructionSet())}});
  if (safety.holds()) {
    logging::Info("safety profile", {{"file", safety.file().string()},
                                     {"permits", runtime.limiter().permits()},
                                     {"limited_by", safety.limited_by()}});
  }
  if (runtime.workers() < config.workers) {
    logging::Warning("fewer workers than asked for", {{"workers", runtime.workers()},
                                                      {"asked", config.workers},
                                                      {"reason", runtime.why_fewer_workers()}});
  }
  if (config.graph_cache == runtime::GraphCachePolicy::kFrozen &&
      runtime.device() == runtime::DeviceType::kCpu) {
    logging::Warning("--graph-cache frozen has no effect: nothing is compiled on the CPU");
  }
  if (const OpenAccess access = AdminAccess(config); access.is_warning) {
    logging::Warning(access.who);
  } else if (!access.who.empty()) {
    logging::Info(access.who);
  }
}

void LogServing(const Ports& ports, size_t models, runtime::Runtime& runtime) {
  for (const auto& [front_end, port] : ports.others) {
    if (port != 0)
      logging::Info("serving on a port of its own", {{"front_end", front_end}, {"port", port}});
  }
  logging::Info("serving", {{"grpc_port", ports.grpc},
                            {"http_port", ports.http},
                            {"metrics_port", ports.metrics},
                            {"models", static_cast<int64_t>(models)},
                            {"workers", runtime.workers()},
                            {"permits", runtime.limiter().permits()},
                            {"permits_source", runtime.safe_concurrency_source()}});
}

std::unique_ptr<CrashFolder> OpenCrashFolder(const ServerConfig& config) {
  if (config.crash_directory.empty()) return nullptr;
  auto folder = std::make_unique<CrashFolder>(config.crash_directory);
  const absl::Status status = folder->Open();
  if (!status.ok()) logging::Warning(StrCat(Message(status), "; no crash is reported there"));
  return folder;
}

absl::Status PullFirst(const ServerConfig& config, const std::function<bool()>& stopping) {
  if (config.pull.empty()) return absl::OkStatus();
  const auto folder = models::FolderForNewModels(config.models);
  if (!folder.ok()) return InvalidArgument("--models: ", folder.status().message());
  const absl::Status status =
      PullModels({.names = config.pull, .folder = *folder, .only_missing = true}, stopping);
  if (status.ok() || stopping()) return absl::OkStatus();
  return absl::Status(status.code(), StrCat("--pull: ", Message(status)));
}

FrameLimits GuardLimits(const ServerConfig& config) {
  // The most gRPC calls that are open at once on all connections, for each that may be incomplete.
  // One address gets half of them.
  constexpr int64_t kOpenPerIncompleteCall = 8;
  return {.header_bytes = config.max_header_bytes,
          .resets_per_second = config.max_resets_per_second,
          .control_frames_per_second = config.max_control_frames_per_second,
          .streams = static_cast<size_t>(config.max_streams_per_connection),
          .message_bytes = config.max_message_bytes,
          .all_calls = kOpenPerIncompleteCall * int64_t{config.max_incomplete_calls}};
}

absl::StatusOr<std::unique_ptr<tracing::TraceExport>> StartTraces(const ServerConfig& config) {
  auto settings = tracing::ReadSettings(
      {.endpoint = config.trace_endpoint,
       .protocol = config.trace_protocol,
       .sample_ratio = config.trace_sample_ratio,
       .service_name = config.trace_service_name},
      ProcessEnvironment(), [](const std::string& warning) { logging::Warning(warning); });
  if (!settings) return nullptr;
  const bool grpc = settings->protocol == tracing::Protocol::kGrpc;
  logging::Info("traces", {{"collector",
                            ToString(HostPort{settings->endpoint.host, settings->endpoint.port})},
                           {"protocol", grpc ? "grpc" : "http/protobuf"},
                           {"sample_ratio", settings->sample_ratio}});
  return tracing::TraceExport::Start(*std::move(settings), kVersion);
}

absl::StatusOr<InheritedSockets> TakeSockets(ServerConfig& config,
                                             std::span<const FrontEnd* const> front_ends) {
  std::vector<std::pair<std::string_view, std::string*>> addresses = {
      {kGrpcSocket, &config.grpc_address},
      {kHttpSocket, &config.http_address},
      {kMetricsSocket, &config.metrics_address}};
  for (const FrontEnd* front_end : front_ends) {
    if (front_end->address != nullptr)
      addresses.emplace_back(front_end->name, &(config.*front_end->address));
  }
  std::vector<std::string_view> names;
  names.reserve(addresses.size());
  for (const auto& [name, address] : addresses) names.push_back(name);
  MILLRACE_ASSIGN_OR_RETURN(auto sockets, InheritedSockets::Take(names));
  for (const auto& [name, address] : addresses) {
    if (const int descriptor = sockets.Find(name); descriptor >= 0) {
      if (const auto local = LocalAddress(descriptor)) *address = ToString(*local);
    }
  }
  // A socket may be open to other machines although the settings are not.
  if (!sockets.empty()) {
    MILLRACE_RETURN_IF_ERROR(Validate(config));
  }
  return sockets;
}

absl::StatusOr<std::unique_ptr<ConnectionListener>> BindGrpc(const ServerConfig& config,
                                                             const InheritedSockets& sockets) {
  const ConnectionLimits limits{.connections = config.max_connections,
                                .connections_per_peer = config.max_connections_per_peer,
                                .handshake_timeout = config.handshake_timeout};
  const int inherited = sockets.Find(kGrpcSocket);
  return inherited >= 0 ? ConnectionListener::Share(inherited, limits)
                        : ConnectionListener::Bind(config.grpc_address, limits);
}

absl::StatusOr<std::unique_ptr<PolicyFile>> OpenPolicy(const ServerConfig& config,
                                                       const ApiKeyStore* keys) {
  if (config.policy.empty()) return std::unique_ptr<PolicyFile>();
  PolicyFile::HasKey has_key;
  if (keys != nullptr) has_key = [keys](std::string_view name) { return keys->HasName(name); };
  return PolicyFile::Open(config.policy, std::move(has_key));
}

TlsFiles TlsFilesOf(const ServerConfig& config) {
  return {config.tls_cert, config.tls_key, config.tls_client_ca};
}

absl::StatusOr<std::shared_ptr<TlsServerCredentials>> OpenTls(const ServerConfig& config) {
  if (config.tls_cert.empty()) return std::shared_ptr<TlsServerCredentials>();
  return TlsServerCredentials::Open(TlsFilesOf(config));
}

}  // namespace millrace::server
