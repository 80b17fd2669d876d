#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "absl/status/statusor.h"
#include "models/repository/model_factory.h"
#include "models/translation/translation_cache.h"
#include "mps_runtime/runtime.h"
#include "server/config/server_config.h"
#include "server/control/model_safety.h"
#include "server/limits/key_limits.h"
#include "server/security/api_key_store.h"
#include "server/security/server_credentials.h"

namespace millrace::server {

// These functions make what both `serve` and `check` need from the configuration.

ModelSafety::Options MakeSafetyOptions(const ServerConfig& config);

// safety: must outlive the bootstrap.
runtime::RuntimeOptions MakeRuntimeOptions(const ServerConfig& config, ModelSafety& safety);

// translations: must outlive the models.
models::ModelFactory MakeFactory(const ServerConfig& config, const runtime::Runtime& runtime,
                                 translation::TranslationCache& translations);

TlsFiles TlsFilesOf(const ServerConfig& config);

// Returns null if no policy is named. keys: null, or must outlive the policy.
absl::StatusOr<std::unique_ptr<PolicyFile>> OpenPolicy(const ServerConfig& config,
                                                       const ApiKeyStore* keys);

// Returns insecure credentials if no certificate is named.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(
    const ServerConfig& config);

}  // namespace millrace::server
