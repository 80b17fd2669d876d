#include "server/server_setup.h"

#include <utility>

#include "mps_runtime/probe/operator_probe.h"

namespace millrace::server {

ModelSafety::Options MakeSafetyOptions(const ServerConfig& config) {
  const bool named = !config.safety_profile.empty();
  return {.file = named ? config.safety_profile : DefaultSafetyProfile(config.models),
          .file_was_named = named,
          .models = config.models,
          .operators = runtime::OperatorNames()};
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

models::ModelFactory MakeFactory(const ServerConfig& config, const runtime::Runtime& runtime,
                                 translation::TranslationCache& translations) {
  const bool few_shapes = runtime.max_compiled_shapes() != 0 ||
                          config.graph_cache == runtime::GraphCachePolicy::kFrozen;
  return models::MakeModelFactory(
      runtime.device(), few_shapes ? models::ShapePolicy::kFew : models::ShapePolicy::kPadded,
      &translations);
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

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(
    const ServerConfig& config) {
  if (config.tls_cert.empty()) return grpc::InsecureServerCredentials();
  return MakeTlsServerCredentials(TlsFilesOf(config));
}

}  // namespace millrace::server
