#include "server/config/options.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "models/core/strings.h"
#include "mps_runtime/device_traits.h"
#include "server/config/front_ends.h"
#include "server/config/option_types.h"

namespace millrace {
namespace option_types {
namespace {

std::vector<std::pair<std::string, std::optional<kernels::InstructionSet>>> CpuIsaChoices() {
  using kernels::InstructionSet;
  std::vector<std::pair<std::string, std::optional<InstructionSet>>> choices = {{"auto", {}}};
  for (const InstructionSet set : kernels::kInstructionSets)
    choices.emplace_back(kernels::ToString(set), set);
  return choices;
}

std::vector<Option> MakeOptions() {
  using C = ServerConfig;
  using runtime::ForwardMode;
  using runtime::GraphCachePolicy;
  using runtime::NewShape;
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  constexpr uint64_t kKiB = 1024;
  constexpr uint64_t kMiB = 1024 * kKiB;
  constexpr uint64_t kGiB = 1024 * kMiB;
  const char* const addresses = "Addresses";
  const char* const security = "Security";

  // The settings of front ends. Each stands at the end of its group.
  std::vector<Option> front_ends;
  const auto add_setting = [&front_ends](const char* front_end, Option option) {
    option.front_end = front_end;
    option.is_built = HasFrontEnd(front_end);
    front_ends.push_back(std::move(option));
  };
#define MILLRACE_SETTING_TYPE(...)
#define MILLRACE_SETTING(type, field, initial, ...) add_setting(MILLRACE_SETTING_OF, __VA_ARGS__);
#include "server/config/front_end_settings.inc"
#undef MILLRACE_SETTING
#undef MILLRACE_SETTING_TYPE

  std::vector<Option> o;
  const char* group = nullptr;
  const auto add = [&](const char* name, const char* placeholder, Option option, std::string help) {
    o.push_back(Row(name, group, placeholder, std::move(option), std::move(help)));
  };
  const auto add_front_ends_of = [&front_ends, &o](std::string_view group) {
    const auto rest =
        std::stable_partition(front_ends.begin(), front_ends.end(),
                              [group](const Option& option) { return option.group == group; });
    std::move(front_ends.begin(), rest, std::back_inserter(o));
    front_ends.erase(front_ends.begin(), rest);
  };
  group = "Models and device";
  add("models", "DIR,...", Models(&C::models),
      "Model repository: folders of models, <model>/<version>/model.pbtxt, or of one model, "
      "<version>/model.pbtxt or model.pbtxt, which NAME=DIR names");
  add("pull", "NAME,...", PublishedModels(&C::pull),
      "Fetch these models before the start, as `millrace pull` does, if they are not in the "
      "first folder of --models, such as piper/en_US-lessac-medium,firefox/en-de");
  add("allow-pull", "BOOL", Bool(&C::allow_pull),
      "Let those who may load models have published ones fetched and models removed too, in "
      "the console and by the parameters `pull` and `remove`");
  add("device", "NAME", Devices(&C::device, &C::device_numbers),
      StrCat("Where forwards run: auto, ", runtime::DeviceNames(" or "),
             "; with --executors 2 also cuda:0,cuda:1, a card for each executor"));
  add("workers", "N", Number(&C::workers, 0, runtime::kWorkerSlots),
      "Worker threads, each with a stream of its own; 0: as many as suit the device: 2 on "
      "cuda, else one for each core that the process may use");
  add("mode", "MODE",
      Choice<std::optional<ForwardMode>>(&C::mode, {{"auto", std::nullopt},
                                                    {"parallel", ForwardMode::kParallel},
                                                    {"encode-lock", ForwardMode::kEncodeLock},
                                                    {"serial", ForwardMode::kSerial}}),
      "What two forwards may do at once: parallel (all), encode-lock (wait for the device), "
      "serial (nothing); auto: encode-lock on mps unless libtorch is patched, else parallel");
  add("max-in-flight", "N", Number(&C::max_in_flight, 0, runtime::kWorkerSlots),
      "Forwards at once on the device; 0: as many as are known to be safe");
  add("i-accept-unsafe-concurrency", "BOOL", Bool(&C::accept_unsafe_concurrency),
      "Let --max-in-flight exceed what is known to be safe: the driver may crash or compute "
      "wrong results");
  add("safety-profile", "FILE", Path(&C::safety_profile),
      "What `millrace calibrate` measured: how many forwards at once are safe here; unset: "
      "safety-profile.json in the first folder of --models, where there is one");
  add("intra-op-threads", "N", Number(&C::intra_op_threads, 0, 1024),
      "Threads within one forward on the CPU; 0: cores / forwards that may run at once");
  add("queue-size", "N", Number(&C::queue_size, 1, 65536),
      "Requests that may wait per model; more are refused at once");
  add("graph-cache", "MODE",
      Choice<GraphCachePolicy>(&C::graph_cache, {{"grow", GraphCachePolicy::kGrow},
                                                 {"frozen", GraphCachePolicy::kFrozen}}),
      "Compiled shapes: grow (any that comes), frozen (after the warm-up, only those of a "
      "model's warm-up)");
  add("graph-cache-new-shape", "eager|refuse",
      Choice<NewShape>(&C::graph_cache_new_shape,
                       {{"eager", NewShape::kEager}, {"refuse", NewShape::kRefuse}}),
      "What a frozen cache does with another shape: run it without a graph, or answer "
      "INVALID_ARGUMENT");
  add("graph-cache-entries", "N", Number(&C::graph_cache_entries, 1, 1'000'000),
      "Compiled shapes that each worker keeps; on mps, which keeps each for ever, that the "
      "process, or with a patched libtorch each worker, may compile: more are refused");
  add("graph-cache-bytes", "SIZE", Bytes(&C::graph_cache_bytes, 0, 1024 * kGiB),
      "Memory for them, per worker");
  add("translation-cache-bytes", "SIZE", Bytes(&C::translation_cache_bytes, 0, 1024 * kGiB),
      "Memory for translations of sentences that may come again; 0: none is kept");
  add("translation-cache-entries", "N", Number(&C::translation_cache_entries, 1, 100'000'000),
      "Sentences in it");
  add("speech-cache-bytes", "SIZE", Bytes(&C::speech_cache_bytes, 0, 1024 * kGiB),
      "Memory for the audio of sentences that may come again, which takes 100 KB a second; 0: "
      "none is kept");
  add("unload-idle-after", "TIME", Time(&C::unload_idle_after, milliseconds(0), kMostIdleTime),
      "A model without a request for so long leaves the memory; the next request waits while "
      "it is loaded again; 0: none does");
  add("model-memory-budget", "SIZE", Bytes(&C::model_memory_budget, 0, 64 * (1024 * kGiB)),
      "While the models in memory are larger together, by the size of their files, the one "
      "that was used least recently leaves it; 0: no limit");
  add("keep-packed-weights", "BOOL", Bool(&C::keep_packed_weights),
      "Keep weights, as the kernels of this processor read them, in a file beside a model's "
      "others: the next start is faster, and processes share the memory");
  add("executors", "N", Number(&C::executors, 0, kMostExecutors),
      "Processes that hold the models and compute, so that a crash in a model ends none of the "
      "server's connections: it is started again, and its requests run again; 0: the server "
      "computes itself. --device auto is cpu then");
  add("spare-executors", "N", Number(&C::spare_executors, 0, kMostExecutors),
      "Further executors that have loaded all models and wait, so that one that dies is "
      "replaced at once. Each takes as much memory as one that serves. With several cards they "
      "are spread over them, and stand in for executors of their card");
  add("executor-max-age", "TIME",
      Time(&C::executor_max_age, milliseconds(0), std::chrono::hours(24 * 30)),
      "A spare executor takes the place of one that has served for so long, which ends once "
      "its requests have; 0: no limit. Needs --spare-executors");
  add("executor-max-growth", "SIZE", Bytes(&C::executor_max_growth, 0, 1024 * kGiB),
      "A spare executor takes the place of one whose memory has grown by so much since it "
      "began to serve, and still grows; 0: no limit. Needs --spare-executors");
  add("executor-step-timeout", "TIME",
      Time(&C::executor_step_timeout, milliseconds(100), std::chrono::hours(24)),
      "An executor whose step takes longer, and 20 times as long as the longest one before it, "
      "is taken for hung and started again");
  add("executor-restart-limit", "N", Number(&C::executor_restart_limit, 0, 1'000'000),
      "After so many executors in a row that die before they have completed a step, while none "
      "serves, the server ends with exit status 1; 0: never");
  add("executor-cpu-fallback", "BOOL", Bool(&C::executor_cpu_fallback),
      "After six deaths in a row of executors that use a device, the next one computes on the "
      "processor");
  add("crash-directory", "DIR", Path(&C::crash_directory),
      "Folder that gets a report of each crash of the server or an executor, of which the "
      "newest 100 are kept; `millrace crashes` shows them. Unset: none is written");
  add("cpu-isa", "SET",
      Choice<std::optional<kernels::InstructionSet>>(&C::cpu_isa, CpuIsaChoices()),
      "Greatest instruction set to use on the CPU: auto (all that it has), portable; avx2, "
      "avxvnni, avx512 or amx on x86-64; neon on arm64");
  add("voice-aliases", "NAME=VOICE,...", Aliases(&C::voice_aliases),
      "Voices, over every protocol but Wyoming, for names that a model does not have. OpenAI's "
      "names (alloy, nova, ...) and NVIDIA's that are not given stand for voices of the model; "
      "auto: all of them; off: none");
  add("require-libtorch", "VERSION", Version(&C::require_libtorch),
      "Refuse to start with a libtorch of another version");

  group = addresses;
  add("grpc-address", "ADDR", Address(&C::grpc_address, AddressKind::kRequired),
      "gRPC, as all of these host:port or unix:path; port 0 takes a free one");
  add("http-address", "ADDR", Address(&C::http_address, AddressKind::kOptional),
      "HTTP: the APIs for speech, translation and inference, WebSockets, health, and the "
      "console; off: not served");
  add("metrics-address", "ADDR", Address(&C::metrics_address, AddressKind::kOptional),
      "Prometheus metrics; off: not served");
  add_front_ends_of(addresses);
  add("port-file", "FILE", Path(&C::port_file), "Write the real ports here as JSON once serving");
  add("reflection", "on|off", Bool(&C::reflection), "Let gRPC tools list the services");

  group = security;
  add("insecure", "BOOL", Bool(&C::insecure), "Allow addresses beyond this machine without TLS");
  add("allowed-host", "NAME,...", HostNames(&C::allowed_hosts),
      "Names by which clients may call the HTTP server, as in a Host header that a proxy "
      "passes on, where it listens on this machine alone without --api-keys; .NAME: all below "
      "it; *: any. IP addresses and localhost always may");
  add("cors-origin", "ORIGIN,...", OriginList(&C::cors_origins),
      "Origins whose web pages may use the API over HTTP from a browser; *: those of all "
      "pages; off: none");
  add("tls-cert", "FILE", Path(&C::tls_cert),
      "PEM certificate chain for gRPC; read again when it changes");
  add("tls-key", "FILE", Path(&C::tls_key), "PEM private key of it");
  add("tls-client-ca", "FILE", Path(&C::tls_client_ca),
      "PEM authorities: every client must show a certificate of theirs");
  add("api-keys", "FILE", Path(&C::api_keys),
      "Ask for an API key; lines name:role:sha256, see `millrace hash-key`; read again when it "
      "changes");
  add("policy", "FILE", Path(&C::policy),
      "Limits, shares and priorities by API key, in TOML; read again when it changes");
  add_front_ends_of(security);

  group = "Limits";
  add("max-message-bytes", "SIZE", Bytes(&C::max_message_bytes, kKiB, kGiB), "Largest request");
  add("max-translate-characters", "N", Number(&C::max_translate_characters, 1, 100'000'000),
      "Characters of all texts of a request for translation, or of a file");
  add("max-connections", "N", Number(&C::max_connections, 1, 1'000'000),
      "gRPC connections at once");
  add("max-connections-per-peer", "N", Number(&C::max_connections_per_peer, 1, 1'000'000),
      "gRPC connections at once from one address, or from one IPv6 /64");
  add("max-streams-per-connection", "N", Number(&C::max_streams_per_connection, 1, 1'000'000),
      "gRPC calls at once on one connection");
  add("max-incomplete-calls", "N", Number(&C::max_incomplete_calls, 1, 1'000'000),
      "gRPC calls whose request has not arrived; more refuse the oldest");
  add("refusals-per-second", "N", Number(&C::refusals_per_second, 0, 1'000'000),
      "Refusals beyond this rate are answered up to 10 s later; 0: none are");
  add("handshake-timeout", "TIME", Time(&C::handshake_timeout, milliseconds(100), hours(1)),
      "A connection that has not begun to speak TLS and HTTP/2, or has not acknowledged the "
      "server's SETTINGS, is closed");
  add("idle-connection-timeout", "TIME",
      Time(&C::idle_connection_timeout, milliseconds(100), hours(24)),
      "A connection without a call is told to go; clients come back by themselves");
  add("max-connection-age", "TIME", Time(&C::max_connection_age, milliseconds(0), hours(24)),
      "A connection of this age, give or take a tenth, is told to go once its calls have "
      "ended, so that clients find replicas that were added; 0: none is");
  add("max-connection-age-grace", "TIME",
      Time(&C::max_connection_age_grace, milliseconds(0), hours(24)),
      "Its calls may run for so long before they are cut off; 0: until they end");
  add("max-header-bytes", "SIZE", Bytes(&C::max_header_bytes, kKiB, 16 * kMiB),
      "Headers of a call as they are sent; more closes the connection, as does twice as much "
      "once expanded");
  add("max-resets-per-second", "N", Number(&C::max_resets_per_second, 1, 1'000'000),
      "Cancelled calls on one connection; more closes it");
  add("max-control-frames-per-second", "N",
      Number(&C::max_control_frames_per_second, 100, 10'000'000),
      "HTTP/2 frames beyond those that calls need, on one connection; more closes it");
  add("keepalive-min-interval", "TIME",
      Time(&C::keepalive_min_interval, milliseconds(0), hours(24)),
      "A client that pings more often is disconnected");
  add("max-request-time", "TIME", Time(&C::max_request_time, milliseconds(1), hours(24)),
      "Longest time of a request, also of one that sets no deadline; of speech that is heard "
      "while it is made, the longest time without progress");
  add("write-stall-timeout", "TIME", Time(&C::write_stall_timeout, milliseconds(1), hours(24)),
      "A stream whose client reads nothing for so long is ended");
  add("max-buffered-bytes", "SIZE", Bytes(&C::max_buffered_bytes, 64 * kKiB, 64 * kGiB),
      "Finished output that waits for a slow reader, per stream");
  add("max-websockets", "N", Number(&C::max_websockets, 1, 1'000'000),
      "WebSockets that are open at once");
  add("max-websockets-per-peer", "N", Number(&C::max_websockets_per_peer, 1, 1'000'000),
      "WebSockets that are open at once from one address, or one IPv6 /64");
  add("max-websocket-message-bytes", "SIZE",
      Bytes(&C::max_websocket_message_bytes, kKiB, 64 * kMiB),
      "Longest message on a WebSocket; a longer one closes it");
  add("websocket-idle-timeout", "TIME",
      Time(&C::websocket_idle_timeout, milliseconds(100), hours(24)),
      "A WebSocket on which no text comes and none is spoken is closed; ElevenLabs' clients "
      "may ask for less (inactivity_timeout)");

  group = "Traces";
  add("trace-endpoint", "URL", TraceEndpoint(&C::trace_endpoint),
      "Collector of OpenTelemetry that gets the spans of requests; auto: that of "
      "OTEL_EXPORTER_OTLP_ENDPOINT, if it is set; off: none");
  add("trace-protocol", "NAME",
      Choice<std::optional<tracing::Protocol>>(&C::trace_protocol,
                                               {{"auto", std::nullopt},
                                                {"grpc", tracing::Protocol::kGrpc},
                                                {"http/protobuf", tracing::Protocol::kHttp}}),
      "grpc or http/protobuf; auto: OTEL_EXPORTER_OTLP_PROTOCOL, else grpc for port 4317 and "
      "http/protobuf for others");
  add("trace-sample-ratio", "X", Ratio(&C::trace_sample_ratio),
      "Part of the requests to trace, unless their client has decided; auto: "
      "OTEL_TRACES_SAMPLER, else all");
  add("trace-service-name", "NAME", ServiceName(&C::trace_service_name),
      "Name of this server in traces; empty: OTEL_SERVICE_NAME, else millrace");

  // The rest has headings of its own.
  std::move(front_ends.begin(), front_ends.end(), std::back_inserter(o));

  group = "Stopping";
  add("drain-delay", "TIME", Time(&C::drain_delay, milliseconds(0), hours(24)),
      "After SIGTERM keep serving for so long while not ready");
  add("drain-timeout", "TIME", Time(&C::drain_timeout, milliseconds(0), hours(24)),
      "Then let requests finish for so long");

  group = "Logging";
  add("log-level", "LEVEL",
      Choice<LogLevel>(&C::log_level, {{"trace", LogLevel::kTrace},
                                       {"debug", LogLevel::kDebug},
                                       {"info", LogLevel::kInfo},
                                       {"warning", LogLevel::kWarning},
                                       {"error", LogLevel::kError},
                                       {"off", LogLevel::kOff}}),
      "Least level to log");
  add("log-format", "text|json",
      Choice<LogFormat>(&C::log_format, {{"text", LogFormat::kText}, {"json", LogFormat::kJson}}),
      "Lines of text, or one JSON object a line");
  return o;
}

}  // namespace
}  // namespace option_types

std::span<const Option> ServeOptions() {
  static const std::vector<Option> options = option_types::MakeOptions();
  return options;
}

const Option* FindOption(std::string_view name) {
  for (const Option& option : ServeOptions()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string FlagOf(std::string_view option) { return StrCat("--", std::string(option)); }

std::string KeyOf(std::string_view option) {
  return absl::StrReplaceAll(std::string(option), {{"-", "_"}});
}

std::string VariableOf(std::string_view option) {
  return StrCat("MILLRACE_", absl::AsciiStrToUpper(KeyOf(option)));
}

}  // namespace millrace
