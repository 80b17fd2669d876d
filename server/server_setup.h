#pragma once

#include <grpcpp/security/server_credentials.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "mps_runtime/runtime.h"
#include "server/config/server_config.h"
#include "server/connection_listener.h"
#include "server/control/model_safety.h"
#include "server/control/port_file.h"
#include "server/crashes/crash_folder.h"
#include "server/frontends/front_end.h"
#include "server/http2/frame_guard.h"
#include "server/limits/key_limits.h"
#include "server/security/api_key_store.h"
#include "server/security/server_credentials.h"
#include "server/sockets/inherited_sockets.h"
#include "server/tracing/otlp/trace_export.h"

namespace millrace::server {

// The name of gRPC's socket, where a service manager passes it.
inline constexpr std::string_view kGrpcSocket = "grpc";

// These functions make what `serve`, and in part `check`, needs from the configuration.

// operators: those that models of this process run.
ModelSafety::Options MakeSafetyOptions(const ServerConfig& config,
                                       std::vector<std::string> operators);

// safety: must outlive the bootstrap.
runtime::RuntimeOptions MakeRuntimeOptions(const ServerConfig& config, ModelSafety& safety);

// Logs what runs, and warns of settings that have no effect or that are dangerous.
void LogRuntime(const ServerConfig& config, runtime::Runtime& runtime, const ModelSafety& safety);

// Logs that requests are served. models: how many.
void LogServing(const Ports& ports, size_t models, runtime::Runtime& runtime);

// Returns the folder of crash reports; null if there is none. Serving goes on without.
std::unique_ptr<CrashFolder> OpenCrashFolder(const ServerConfig& config);

// Fetches the models of --pull that are not there. It ends early, with OK, once `stopping` is
// true.
absl::Status PullFirst(const ServerConfig& config, const std::function<bool()>& stopping);

FrameLimits GuardLimits(const ServerConfig& config);

// Returns null if requests are not traced. Logs what is wrong with OpenTelemetry's variables.
absl::StatusOr<std::unique_ptr<tracing::TraceExport>> StartTraces(const ServerConfig& config);

// Returns the sockets that the service manager passed for the ports, and sets the addresses of
// these ports in the configuration, which is checked again. Main thread.
absl::StatusOr<InheritedSockets> TakeSockets(ServerConfig& config,
                                             std::span<const FrontEnd* const> front_ends);

// Binds the address of gRPC, or takes its socket.
absl::StatusOr<std::unique_ptr<ConnectionListener>> BindGrpc(const ServerConfig& config,
                                                             const InheritedSockets& sockets);

TlsFiles TlsFilesOf(const ServerConfig& config);

// Returns null if no policy is named. keys: null, or must outlive the policy.
absl::StatusOr<std::unique_ptr<PolicyFile>> OpenPolicy(const ServerConfig& config,
                                                       const ApiKeyStore* keys);

// Returns null if no certificate is named.
absl::StatusOr<std::shared_ptr<TlsServerCredentials>> OpenTls(const ServerConfig& config);

}  // namespace millrace::server
