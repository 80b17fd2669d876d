#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "absl/status/statusor.h"
#include "models/repository/model_factory.h"
#include "models/translation/translation_cache.h"
#include "mps_runtime/runtime.h"
#include "server/config/server_config.h"
#include "server/control/model_safety.h"
#include "server/security/server_credentials.h"
#include "server/tracing/otlp/trace_export.h"

namespace millrace::server {

// These functions make what both `serve` and `check` need from the configuration.

ModelSafety::Options MakeSafetyOptions(const ServerConfig& config);

// safety: must outlive the bootstrap.
runtime::RuntimeOptions MakeRuntimeOptions(const ServerConfig& config, ModelSafety& safety);

// translations: must outlive the models.
models::ModelFactory MakeFactory(const ServerConfig& config, const runtime::Runtime& runtime,
                                 translation::TranslationCache& translations);

// Returns null if requests are not traced. Logs what is wrong with OpenTelemetry's variables.
absl::StatusOr<std::unique_ptr<tracing::TraceExport>> StartTraces(const ServerConfig& config);

TlsFiles TlsFilesOf(const ServerConfig& config);

// Returns insecure credentials if no certificate is named.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(
    const ServerConfig& config);

}  // namespace millrace::server
