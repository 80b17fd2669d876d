#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "models/kernels/instruction_set.h"
#include "mps_runtime/forward_mode.h"
#include "mps_runtime/shape_registry.h"
#include "mps_runtime/stream.h"
#include "server/logging/log_level.h"
#include "server/tracing/endpoint.h"

namespace millrace {

// The types of front ends' settings.
#define MILLRACE_SETTING_TYPE(...) __VA_ARGS__;
#define MILLRACE_SETTING(type, field, initial, ...)
#include "server/config/front_end_settings.inc"
#undef MILLRACE_SETTING
#undef MILLRACE_SETTING_TYPE

// The configuration of `millrace serve`, as plain data. Each field is one row of the table in
// options.cc, which gives it its flag, environment variable, TOML key, range and help text.
struct ServerConfig {
  // The settings of front ends, from the settings.inc of each.
#define MILLRACE_SETTING_TYPE(...)
#define MILLRACE_SETTING(type, field, initial, ...) type field = initial;
#include "server/config/front_end_settings.inc"
#undef MILLRACE_SETTING
#undef MILLRACE_SETTING_TYPE

  // Models and device.
  std::string models = "var/models";          // folders: see models::ParseModelSources
  std::vector<std::string> pull;              // published models that must be in the first folder
  bool allow_pull = false;                    // callers may have others fetched
  std::optional<runtime::DeviceType> device;  // empty: the best that is available
  std::vector<int> device_numbers;            // the card of each executor; empty: the first one
  int workers = 0;                            // 0..31; 0: as many as suit the device
  std::optional<runtime::ForwardMode> mode;   // none: the device's default
  int max_in_flight = 0;  // concurrent forwards, 0..31; 0: as many as are known to be safe
  bool accept_unsafe_concurrency = false;  // lets max_in_flight exceed what is known to be safe
  std::filesystem::path safety_profile;    // empty: DefaultSafetyProfile(models)
  int intra_op_threads =
      0;  // per forward; 0: the cores divided by the forwards that may run at once
  size_t queue_size = 256;           // waiting requests per model, 1..65536
  size_t graph_cache_entries = 256;  // per worker; on mps for the whole process
  // Memory of each worker's graphs; those of Kokoro's shapes take about 2.5 GB.
  uint64_t graph_cache_bytes = uint64_t{4} << 30;
  runtime::GraphCachePolicy graph_cache = runtime::GraphCachePolicy::kGrow;
  runtime::NewShape graph_cache_new_shape = runtime::NewShape::kEager;
  uint64_t translation_cache_bytes = 0;  // for the process; 0: translations are not kept
  size_t translation_cache_entries = 100'000;
  uint64_t speech_cache_bytes = 0;                 // for the process; 0: speech is not kept
  std::chrono::milliseconds unload_idle_after{0};  // 0: models stay in memory
  uint64_t model_memory_budget = 0;                // for all models, by estimate; 0: no limit
  bool keep_packed_weights = true;                 // in files beside the models'
  // The greatest instruction set of the CPU that may be used; empty: all that there are.
  std::optional<kernels::InstructionSet> cpu_isa;
  // Processes that hold the models and compute, 0..8; 0: the server itself does.
  int executors = 0;
  int spare_executors = 0;                        // they wait, ready, for one to die; 0..8
  std::chrono::milliseconds executor_max_age{0};  // 0: no limit
  uint64_t executor_max_growth = 0;               // bytes of its memory; 0: no limit
  std::chrono::milliseconds executor_step_timeout = std::chrono::seconds(30);
  int executor_restart_limit = 10;     // in a row that completed no step; 0: no limit
  bool executor_cpu_fallback = false;  // executors that die on the device again and again leave it
  std::filesystem::path crash_directory;  // gets a report of each crash; empty: none is written
  std::string require_libtorch;           // version prefix; empty: any
  // Voices by the names that stand for them over HTTP; OpenAI's names that are missing stand for
  // voices of the model that speaks. None: no name stands for a voice.
  std::optional<std::map<std::string, std::string>> voice_aliases =
      std::map<std::string, std::string>();

  // Addresses: host:port, where port 0 takes a free one. All but gRPC's may be empty: not served.
  std::string grpc_address = "127.0.0.1:8001";
  std::string http_address = "127.0.0.1:8000";
  std::string metrics_address = "127.0.0.1:8002";
  // Whose pages a browser lets read answers over HTTP; "*" alone: all.
  std::vector<std::string> cors_origins;
  std::vector<std::string> allowed_hosts;  // in a Host header; see AllowedHosts
  std::filesystem::path port_file;         // gets the real ports as JSON once serving; empty: none
  bool reflection = true;

  // Security.
  bool insecure = false;  // allows addresses other than loopback without TLS
  std::filesystem::path tls_cert;
  std::filesystem::path tls_key;
  std::filesystem::path tls_client_ca;  // set: clients must present a certificate
  std::filesystem::path api_keys;       // empty: no key is required
  std::filesystem::path policy;         // empty: keys are neither limited nor told apart

  // Limits.
  uint64_t max_message_bytes = uint64_t{16} << 20;
  size_t max_translate_characters = 500'000;  // in all texts of a request, or in a file
  int max_connections = 1024;
  int max_connections_per_peer = 768;
  int max_streams_per_connection = 1024;
  int max_incomplete_calls = 4096;  // calls without their request, on all connections
  int refusals_per_second = 250;    // answered at once; 0: all
  std::chrono::milliseconds handshake_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds idle_connection_timeout = std::chrono::minutes(5);
  std::chrono::milliseconds max_connection_age{0};        // 0: no limit
  std::chrono::milliseconds max_connection_age_grace{0};  // 0: until the last call ends
  uint64_t max_header_bytes = 32 << 10;                   // per call, as sent
  int max_resets_per_second = 1000;                       // per connection
  int max_control_frames_per_second = 10'000;             // per connection
  std::chrono::milliseconds keepalive_min_interval = std::chrono::seconds(5);
  std::chrono::milliseconds max_request_time = std::chrono::minutes(5);
  std::chrono::milliseconds write_stall_timeout = std::chrono::seconds(30);
  uint64_t max_buffered_bytes = uint64_t{1} << 20;  // per stream
  size_t max_websockets = 1024;
  int max_websockets_per_peer = 768;
  uint64_t max_websocket_message_bytes = uint64_t{1} << 20;
  std::chrono::milliseconds websocket_idle_timeout = std::chrono::minutes(5);

  // Traces.
  std::string trace_endpoint = "auto";  // a URL; off; auto: as OpenTelemetry's variables say
  std::optional<tracing::Protocol> trace_protocol;  // none: as the variables say, or by the port
  std::optional<double> trace_sample_ratio;         // 0..1; none: as the variables say, or all
  std::string trace_service_name;                   // empty: as the variables say, or "millrace"

  // Stopping.
  std::chrono::milliseconds drain_delay{0};
  std::chrono::milliseconds drain_timeout = std::chrono::seconds(30);

  // Logging.
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;

  friend bool operator==(const ServerConfig&, const ServerConfig&) = default;
};

// The most executors.
inline constexpr int kMostExecutors = 8;

// The longest unload_idle_after.
inline constexpr std::chrono::hours kMostIdleTime{24 * 30};

// Returns the path of the safety profile in the first folder of a repository of models, for when no
// other was named.
std::filesystem::path DefaultSafetyProfile(const std::string& models);

// Checks combinations of options, such as addresses beyond loopback without TLS. Touches no file.
absl::Status Validate(const ServerConfig& config);

// This says who may load and unload models without a key or a certificate.
struct OpenAccess {
  std::string who;          // says it; empty: nobody may
  bool is_warning = false;  // other machines may; else it is for information
};
OpenAccess AdminAccess(const ServerConfig& config);

}  // namespace millrace
