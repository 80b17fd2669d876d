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
  const char* const models = "Models and device";
  const char* const addresses = "Addresses";
  const char* const security = "Security";
  const char* const limits = "Limits";
  const char* const traces = "Traces";
  const char* const stopping = "Stopping";
  const char* const logging = "Logging";

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
  const auto add_front_ends_of = [&front_ends, &o](std::string_view group) {
    const auto rest =
        std::stable_partition(front_ends.begin(), front_ends.end(),
                              [group](const Option& option) { return option.group == group; });
    std::move(front_ends.begin(), rest, std::back_inserter(o));
    front_ends.erase(front_ends.begin(), rest);
  };
  o.push_back(Models(
      Row("models", models, "DIR,...",
          "Model repository: folders of models, <model>/<version>/model.pbtxt, or of one model, "
          "<version>/model.pbtxt or model.pbtxt, which NAME=DIR names"),
      &C::models));
  o.push_back(PublishedModels(
      Row("pull", models, "NAME,...",
          "Fetch these models before the start, as `millrace pull` does, if they are not in the "
          "first folder of --models, such as piper/en_US-lessac-medium,firefox/en-de"),
      &C::pull));
  o.push_back(Bool(Row("allow-pull", models, "BOOL",
                       "Let those who may load models have published ones fetched and models "
                       "removed too, in the console and by the parameters `pull` and `remove`"),
                   &C::allow_pull));
  o.push_back(
      Devices(Row("device", models, "NAME",
                  StrCat("Where forwards run: auto, ", runtime::DeviceNames(" or "),
                         "; with --executors 2 also cuda:0,cuda:1, a card for each executor")),
              &C::device, &C::device_numbers));
  o.push_back(Number(Row("workers", models, "N",
                         "Worker threads, each with a stream of its own; 0: as many as suit the "
                         "device: 2 on cuda, else one for each core that the process may use"),
                     &C::workers, 0, runtime::kWorkerSlots));
  o.push_back(Choice<std::optional<ForwardMode>>(
      Row("mode", models, "MODE",
          "What two forwards may do at once: parallel (all), encode-lock (wait for the device), "
          "serial (nothing); auto: encode-lock on mps unless libtorch is patched, else parallel"),
      &C::mode,
      {{"auto", std::nullopt},
       {"parallel", ForwardMode::kParallel},
       {"encode-lock", ForwardMode::kEncodeLock},
       {"serial", ForwardMode::kSerial}}));
  o.push_back(Number(Row("max-in-flight", models, "N",
                         "Forwards at once on the device; 0: as many as are known to be safe"),
                     &C::max_in_flight, 0, runtime::kWorkerSlots));
  o.push_back(Bool(Row("i-accept-unsafe-concurrency", models, "BOOL",
                       "Let --max-in-flight exceed what is known to be safe: the driver may crash "
                       "or compute wrong results"),
                   &C::accept_unsafe_concurrency));
  o.push_back(
      Path(Row("safety-profile", models, "FILE",
               "What `millrace calibrate` measured: how many forwards at once are safe here; "
               "unset: safety-profile.json in the first folder of --models, where there is one"),
           &C::safety_profile));
  o.push_back(
      Number(Row("intra-op-threads", models, "N",
                 "Threads within one forward on the CPU; 0: cores / forwards that may run at once"),
             &C::intra_op_threads, 0, 1024));
  o.push_back(Number(
      Row("queue-size", models, "N", "Requests that may wait per model; more are refused at once"),
      &C::queue_size, 1, 65536));
  o.push_back(Choice<GraphCachePolicy>(
      Row("graph-cache", models, "MODE",
          "Compiled shapes: grow (any that comes), frozen (after the warm-up, only those of a "
          "model's warm-up)"),
      &C::graph_cache, {{"grow", GraphCachePolicy::kGrow}, {"frozen", GraphCachePolicy::kFrozen}}));
  o.push_back(Choice<NewShape>(Row("graph-cache-new-shape", models, "eager|refuse",
                                   "What a frozen cache does with another shape: run it without a "
                                   "graph, or answer INVALID_ARGUMENT"),
                               &C::graph_cache_new_shape,
                               {{"eager", NewShape::kEager}, {"refuse", NewShape::kRefuse}}));
  o.push_back(Number(Row("graph-cache-entries", models, "N",
                         "Compiled shapes that each worker keeps; on mps, which keeps each for "
                         "ever, that the process, or with a patched libtorch each worker, may "
                         "compile: more are refused"),
                     &C::graph_cache_entries, 1, 1'000'000));
  o.push_back(Bytes(Row("graph-cache-bytes", models, "SIZE", "Memory for them, per worker"),
                    &C::graph_cache_bytes, 0, 1024 * kGiB));
  o.push_back(Bytes(Row("translation-cache-bytes", models, "SIZE",
                        "Memory for translations of sentences that may come again; 0: none is "
                        "kept"),
                    &C::translation_cache_bytes, 0, 1024 * kGiB));
  o.push_back(Number(Row("translation-cache-entries", models, "N", "Sentences in it"),
                     &C::translation_cache_entries, 1, 100'000'000));
  o.push_back(Bytes(Row("speech-cache-bytes", models, "SIZE",
                        "Memory for the audio of sentences that may come again, which takes 100 KB "
                        "a second; 0: none is kept"),
                    &C::speech_cache_bytes, 0, 1024 * kGiB));
  o.push_back(Time(Row("unload-idle-after", models, "TIME",
                       "A model without a request for so long leaves the memory; the next request "
                       "waits while it is loaded again; 0: none does"),
                   &C::unload_idle_after, milliseconds(0), kMostIdleTime));
  o.push_back(Bytes(Row("model-memory-budget", models, "SIZE",
                        "While the models in memory are larger together, by the size of their "
                        "files, the one that was used least recently leaves it; 0: no limit"),
                    &C::model_memory_budget, 0, 64 * (1024 * kGiB)));
  o.push_back(
      Bool(Row("keep-packed-weights", models, "BOOL",
               "Keep weights, as the kernels of this processor read them, in a file beside "
               "a model's others: the next start is faster, and processes share the memory"),
           &C::keep_packed_weights));
  o.push_back(Number(
      Row("executors", models, "N",
          "Processes that hold the models and compute, so that a crash in a model ends none of the "
          "server's connections: it is started again, and its requests run again; 0: the server "
          "computes itself. --device auto is cpu then"),
      &C::executors, 0, kMostExecutors));
  o.push_back(
      Number(Row("spare-executors", models, "N",
                 "Further executors that have loaded all models and wait, so that one that dies is "
                 "replaced at once. Each takes as much memory as one that serves. With several "
                 "cards they are spread over them, and stand in for executors of their card"),
             &C::spare_executors, 0, kMostExecutors));
  o.push_back(Time(Row("executor-max-age", models, "TIME",
                       "A spare executor takes the place of one that has served for so long, which "
                       "ends once its requests have; 0: no limit. Needs --spare-executors"),
                   &C::executor_max_age, milliseconds(0), std::chrono::hours(24 * 30)));
  o.push_back(Bytes(Row("executor-max-growth", models, "SIZE",
                        "A spare executor takes the place of one whose memory has grown by so much "
                        "since it began to serve, and still grows; 0: no limit. Needs "
                        "--spare-executors"),
                    &C::executor_max_growth, 0, 1024 * kGiB));
  o.push_back(Time(Row("executor-step-timeout", models, "TIME",
                       "An executor whose step takes longer, and 20 times as long as the longest "
                       "one before it, is taken for hung and started again"),
                   &C::executor_step_timeout, milliseconds(100), std::chrono::hours(24)));
  o.push_back(Number(Row("executor-restart-limit", models, "N",
                         "After so many executors in a row that die before they have completed a "
                         "step, while none serves, the server ends with exit status 1; 0: never"),
                     &C::executor_restart_limit, 0, 1'000'000));
  o.push_back(Bool(Row("executor-cpu-fallback", models, "BOOL",
                       "After six deaths in a row of executors that use a device, the next one "
                       "computes on the processor"),
                   &C::executor_cpu_fallback));
  o.push_back(
      Path(Row("crash-directory", models, "DIR",
               "Folder that gets a report of each crash of the server or an executor, of which the "
               "newest 100 are kept; `millrace crashes` shows them. Unset: none is written"),
           &C::crash_directory));
  o.push_back(Choice<std::optional<kernels::InstructionSet>>(
      Row("cpu-isa", models, "SET",
          "Greatest instruction set to use on the CPU: auto (all that it has), portable; avx2, "
          "avxvnni, avx512 or amx on x86-64; neon on arm64"),
      &C::cpu_isa, CpuIsaChoices()));
  o.push_back(Aliases(
      Row("voice-aliases", models, "NAME=VOICE,...",
          "Voices, over every protocol but Wyoming, for names that a model does not have. "
          "OpenAI's names (alloy, "
          "nova, ...) and NVIDIA's that are not given stand for voices of the model; auto: all "
          "of them; "
          "off: none"),
      &C::voice_aliases));
  o.push_back(Version(Row("require-libtorch", models, "VERSION",
                          "Refuse to start with a libtorch of another version"),
                      &C::require_libtorch));

  o.push_back(Address(Row("grpc-address", addresses, "ADDR",
                          "gRPC, as all of these host:port or unix:path; port 0 takes a free one"),
                      &C::grpc_address, AddressKind::kRequired));
  o.push_back(Address(
      Row("http-address", addresses, "ADDR",
          "HTTP: the APIs for speech, translation and inference, WebSockets, health, and the "
          "console; off: not served"),
      &C::http_address, AddressKind::kOptional));
  o.push_back(
      Address(Row("metrics-address", addresses, "ADDR", "Prometheus metrics; off: not served"),
              &C::metrics_address, AddressKind::kOptional));
  add_front_ends_of(addresses);
  o.push_back(
      Path(Row("port-file", addresses, "FILE", "Write the real ports here as JSON once serving"),
           &C::port_file));
  o.push_back(Bool(Row("reflection", addresses, "on|off", "Let gRPC tools list the services"),
                   &C::reflection));

  o.push_back(
      Bool(Row("insecure", security, "BOOL", "Allow addresses beyond this machine without TLS"),
           &C::insecure));
  o.push_back(HostNames(Row("allowed-host", security, "NAME,...",
                            "Names by which clients may call the HTTP server, as in a Host header "
                            "that a proxy passes on, where it listens on this machine alone "
                            "without --api-keys; .NAME: all below it; *: any. IP addresses and "
                            "localhost always may"),
                        &C::allowed_hosts));
  o.push_back(OriginList(Row("cors-origin", security, "ORIGIN,...",
                             "Origins whose web pages may use the API over HTTP from a browser; *: "
                             "those of all pages; off: none"),
                         &C::cors_origins));
  o.push_back(Path(Row("tls-cert", security, "FILE",
                       "PEM certificate chain for gRPC; read again when it changes"),
                   &C::tls_cert));
  o.push_back(Path(Row("tls-key", security, "FILE", "PEM private key of it"), &C::tls_key));
  o.push_back(Path(Row("tls-client-ca", security, "FILE",
                       "PEM authorities: every client must show a certificate of theirs"),
                   &C::tls_client_ca));
  o.push_back(Path(Row("api-keys", security, "FILE",
                       "Ask for an API key; lines name:role:sha256, see `millrace hash-key`; read "
                       "again when it changes"),
                   &C::api_keys));
  o.push_back(Path(Row("policy", security, "FILE",
                       "Limits, shares and priorities by API key, in TOML; read again when it "
                       "changes"),
                   &C::policy));
  add_front_ends_of(security);

  o.push_back(Bytes(Row("max-message-bytes", limits, "SIZE", "Largest request"),
                    &C::max_message_bytes, kKiB, kGiB));
  o.push_back(Number(Row("max-translate-characters", limits, "N",
                         "Characters of all texts of a request for translation, or of a file"),
                     &C::max_translate_characters, 1, 100'000'000));
  o.push_back(Number(Row("max-connections", limits, "N", "gRPC connections at once"),
                     &C::max_connections, 1, 1'000'000));
  o.push_back(Number(Row("max-connections-per-peer", limits, "N",
                         "gRPC connections at once from one address, or from one IPv6 /64"),
                     &C::max_connections_per_peer, 1, 1'000'000));
  o.push_back(
      Number(Row("max-streams-per-connection", limits, "N", "gRPC calls at once on one connection"),
             &C::max_streams_per_connection, 1, 1'000'000));
  o.push_back(Number(Row("max-incomplete-calls", limits, "N",
                         "gRPC calls whose request has not arrived; more refuse the oldest"),
                     &C::max_incomplete_calls, 1, 1'000'000));
  o.push_back(Number(Row("refusals-per-second", limits, "N",
                         "Refusals beyond this rate are answered up to 10 s later; 0: none are"),
                     &C::refusals_per_second, 0, 1'000'000));
  o.push_back(
      Time(Row("handshake-timeout", limits, "TIME",
               "A connection that has not begun to speak TLS and HTTP/2, or has not acknowledged "
               "the server's SETTINGS, is closed"),
           &C::handshake_timeout, milliseconds(100), hours(1)));
  o.push_back(
      Time(Row("idle-connection-timeout", limits, "TIME",
               "A connection without a call is told to go; clients come back by themselves"),
           &C::idle_connection_timeout, milliseconds(100), hours(24)));
  o.push_back(
      Time(Row("max-connection-age", limits, "TIME",
               "A connection of this age, give or take a tenth, is told to go once its calls have "
               "ended, so that clients find replicas that were added; 0: none is"),
           &C::max_connection_age, milliseconds(0), hours(24)));
  o.push_back(Time(Row("max-connection-age-grace", limits, "TIME",
                       "Its calls may run for so long before they are cut off; 0: until they end"),
                   &C::max_connection_age_grace, milliseconds(0), hours(24)));
  o.push_back(
      Bytes(Row("max-header-bytes", limits, "SIZE",
                "Headers of a call as they are sent; more closes the connection, as does twice "
                "as much once expanded"),
            &C::max_header_bytes, kKiB, 16 * kMiB));
  o.push_back(Number(Row("max-resets-per-second", limits, "N",
                         "Cancelled calls on one connection; more closes it"),
                     &C::max_resets_per_second, 1, 1'000'000));
  o.push_back(
      Number(Row("max-control-frames-per-second", limits, "N",
                 "HTTP/2 frames beyond those that calls need, on one connection; more closes it"),
             &C::max_control_frames_per_second, 100, 10'000'000));
  o.push_back(Time(Row("keepalive-min-interval", limits, "TIME",
                       "A client that pings more often is disconnected"),
                   &C::keepalive_min_interval, milliseconds(0), hours(24)));
  o.push_back(
      Time(Row("max-request-time", limits, "TIME",
               "Longest time of a request, also of one that sets no deadline; of speech that is "
               "heard while it is made, the longest time without progress"),
           &C::max_request_time, milliseconds(1), hours(24)));
  o.push_back(Time(Row("write-stall-timeout", limits, "TIME",
                       "A stream whose client reads nothing for so long is ended"),
                   &C::write_stall_timeout, milliseconds(1), hours(24)));
  o.push_back(Bytes(Row("max-buffered-bytes", limits, "SIZE",
                        "Finished output that waits for a slow reader, per stream"),
                    &C::max_buffered_bytes, 64 * kKiB, 64 * kGiB));
  o.push_back(Number(Row("max-websockets", limits, "N", "WebSockets that are open at once"),
                     &C::max_websockets, 1, 1'000'000));
  o.push_back(Number(Row("max-websockets-per-peer", limits, "N",
                         "WebSockets that are open at once from one address, or one IPv6 /64"),
                     &C::max_websockets_per_peer, 1, 1'000'000));
  o.push_back(Bytes(Row("max-websocket-message-bytes", limits, "SIZE",
                        "Longest message on a WebSocket; a longer one closes it"),
                    &C::max_websocket_message_bytes, kKiB, 64 * kMiB));
  o.push_back(
      Time(Row("websocket-idle-timeout", limits, "TIME",
               "A WebSocket on which no text comes and none is spoken is closed; ElevenLabs' "
               "clients may ask for less (inactivity_timeout)"),
           &C::websocket_idle_timeout, milliseconds(100), hours(24)));

  o.push_back(
      TraceEndpoint(Row("trace-endpoint", traces, "URL",
                        "Collector of OpenTelemetry that gets the spans of requests; auto: that of "
                        "OTEL_EXPORTER_OTLP_ENDPOINT, if it is set; off: none"),
                    &C::trace_endpoint));
  o.push_back(Choice<std::optional<tracing::Protocol>>(
      Row("trace-protocol", traces, "NAME",
          "grpc or http/protobuf; auto: OTEL_EXPORTER_OTLP_PROTOCOL, else grpc for port 4317 and "
          "http/protobuf for others"),
      &C::trace_protocol,
      {{"auto", std::nullopt},
       {"grpc", tracing::Protocol::kGrpc},
       {"http/protobuf", tracing::Protocol::kHttp}}));
  o.push_back(Ratio(Row("trace-sample-ratio", traces, "X",
                        "Part of the requests to trace, unless their client has decided; auto: "
                        "OTEL_TRACES_SAMPLER, else all"),
                    &C::trace_sample_ratio));
  o.push_back(ServiceName(Row("trace-service-name", traces, "NAME",
                              "Name of this server in traces; empty: OTEL_SERVICE_NAME, else "
                              "millrace"),
                          &C::trace_service_name));

  // The rest has headings of its own.
  std::move(front_ends.begin(), front_ends.end(), std::back_inserter(o));

  o.push_back(Time(Row("drain-delay", stopping, "TIME",
                       "After SIGTERM keep serving for so long while not ready"),
                   &C::drain_delay, milliseconds(0), hours(24)));
  o.push_back(Time(Row("drain-timeout", stopping, "TIME", "Then let requests finish for so long"),
                   &C::drain_timeout, milliseconds(0), hours(24)));

  o.push_back(Choice<LogLevel>(Row("log-level", logging, "LEVEL", "Least level to log"),
                               &C::log_level,
                               {{"trace", LogLevel::kTrace},
                                {"debug", LogLevel::kDebug},
                                {"info", LogLevel::kInfo},
                                {"warning", LogLevel::kWarning},
                                {"error", LogLevel::kError},
                                {"off", LogLevel::kOff}}));
  o.push_back(Choice<LogFormat>(
      Row("log-format", logging, "text|json", "Lines of text, or one JSON object a line"),
      &C::log_format, {{"text", LogFormat::kText}, {"json", LogFormat::kJson}}));
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
