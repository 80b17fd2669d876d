#include "server/tracing/settings.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"

namespace millrace::tracing {
namespace {

using std::chrono::milliseconds;
using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr int kGrpcPort = 4317;
constexpr char kTracesPath[] = "/v1/traces";
constexpr size_t kMostPairs = 64;
constexpr int64_t kLongestMs = int64_t{24} * 60 * 60 * 1000;

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned byte = 0;
    if (i + 2 >= text.size() || !absl::SimpleHexAtoi(View(text.substr(i + 1, 2)), &byte))
      return std::nullopt;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

// Returns false for control characters, which would end a header, and for what is not UTF-8.
bool IsPlainText(std::string_view text) {
  const bool controls = std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
  return !controls && models::IsValidUtf8(text);
}

// Looks variables up, and reports those that cannot be read.
class Variables {
 public:
  Variables(const std::map<std::string, std::string, std::less<>>& environment,
            const std::function<void(const std::string&)>& warn)
      : environment_(environment), warn_(warn) {}

  // Returns the first of these that is set and not empty; empty: none is.
  std::string_view Text(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      const auto found = environment_.find(name);
      if (found == environment_.end() || found->second.empty()) continue;
      name_ = name;
      return found->second;
    }
    name_ = {};
    return {};
  }

  int64_t Number(std::initializer_list<std::string_view> names, int64_t low, int64_t high,
                 int64_t otherwise) {
    const std::string_view text = Text(names);
    if (text.empty()) return otherwise;
    int64_t value = 0;
    if (absl::SimpleAtoi(View(text), &value) && value >= low && value <= high) return value;
    Warn(text, StrCat(low, "..", high));
    return otherwise;
  }

  // Reads "key=value,key=value", whose values are percent-encoded.
  Pairs List(std::initializer_list<std::string_view> names, bool lower_case_keys) {
    const std::string_view text = Text(names);
    Pairs pairs;
    if (text.empty()) return pairs;
    for (const absl::string_view part : absl::StrSplit(View(text), ',', absl::SkipWhitespace())) {
      const std::pair<absl::string_view, absl::string_view> split =
          absl::StrSplit(part, absl::MaxSplits('=', 1));
      const absl::string_view key = absl::StripAsciiWhitespace(split.first);
      const absl::string_view value = absl::StripAsciiWhitespace(split.second);
      auto decoded = PercentDecoded({value.data(), value.size()});
      if (decoded && !IsPlainText(*decoded)) decoded.reset();
      if (key.empty() || !absl::StrContains(part, '=') || !decoded || pairs.size() == kMostPairs) {
        // The value may be a secret.
        warn_(StrCat(name_,
                     ": cannot be read and is ignored; allowed: key=value,... with "
                     "percent-encoded values, at most ",
                     kMostPairs));
        return {};
      }
      pairs.emplace_back(lower_case_keys ? absl::AsciiStrToLower(key) : std::string(key),
                         *std::move(decoded));
    }
    return pairs;
  }

  void Warn(std::string_view value, std::string_view allowed) {
    warn_(StrCat(name_, "=", value, ": is not allowed and is ignored, allowed: ", allowed));
  }

 private:
  const std::map<std::string, std::string, std::less<>>& environment_;
  const std::function<void(const std::string&)>& warn_;
  std::string_view name_;  // the name of the variable that was read last
};

bool IsOff(Variables& variables) {
  if (absl::EqualsIgnoreCase(View(variables.Text({"OTEL_SDK_DISABLED"})), "true")) return true;
  const std::string_view exporter = variables.Text({"OTEL_TRACES_EXPORTER"});
  if (exporter == "none") return true;
  if (!exporter.empty() && exporter != "otlp") variables.Warn(exporter, "otlp, none");
  return false;
}

std::optional<Protocol> ReadProtocol(Variables& variables) {
  const std::string_view protocol =
      variables.Text({"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"});
  if (protocol == "grpc") return Protocol::kGrpc;
  if (protocol == "http/protobuf") return Protocol::kHttp;
  if (!protocol.empty()) variables.Warn(protocol, "grpc, http/protobuf");
  return std::nullopt;
}

void ReadSampler(Variables& variables, Settings& settings) {
  const std::string name(variables.Text({"OTEL_TRACES_SAMPLER"}));
  if (name.empty()) return;
  std::string_view kind = name;
  const bool follows_parent = kind.starts_with("parentbased_");
  if (follows_parent) kind.remove_prefix(std::string_view("parentbased_").size());
  double ratio = 1;
  if (kind == "always_off") {
    ratio = 0;
  } else if (kind == "traceidratio") {
    const std::string_view text = variables.Text({"OTEL_TRACES_SAMPLER_ARG"});
    if (!text.empty() && (!absl::SimpleAtod(View(text), &ratio) || !(ratio >= 0 && ratio <= 1))) {
      variables.Warn(text, "0..1");
      ratio = 1;
    }
  } else if (kind != "always_on") {
    return variables.Warn(name,
                          "always_on, always_off, traceidratio, each also as parentbased_...");
  }
  settings.sample_ratio = ratio;
  settings.follows_parent = follows_parent;
}

// Sets the endpoint and the protocol. Returns false if there is no endpoint.
bool ReadEndpoint(const Flags& flags, Variables& variables, Settings& settings,
                  const std::function<void(const std::string&)>& warn) {
  const std::optional<Protocol> from_variables = ReadProtocol(variables);
  std::string url = flags.endpoint;
  std::string place = "--trace-endpoint";
  // A URL of the variable for traces alone is used as it is, the others get OTLP's path.
  bool whole_path = false;
  if (url == "auto") {
    place = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    url = variables.Text({place});
    whole_path = !url.empty();
    if (url.empty()) {
      place = "OTEL_EXPORTER_OTLP_ENDPOINT";
      url = variables.Text({place});
    }
    if (url.empty()) return false;
  }
  auto endpoint = ParseEndpoint(url);
  if (!endpoint.ok()) {
    warn(StrCat(place, ": ", Message(endpoint.status()), "; there will be no traces"));
    return false;
  }
  settings.endpoint = *std::move(endpoint);
  const Protocol by_port = settings.endpoint.port == kGrpcPort ? Protocol::kGrpc : Protocol::kHttp;
  settings.protocol = flags.protocol.value_or(from_variables.value_or(by_port));
  std::string& path = settings.endpoint.path;
  if (settings.protocol == Protocol::kGrpc) {
    path.clear();
  } else if (whole_path) {
    if (path.empty()) path = "/";
  } else if (!path.ends_with(kTracesPath)) {
    while (path.ends_with('/')) path.pop_back();
    path += kTracesPath;
  }
  return true;
}

}  // namespace

std::optional<Settings> ReadSettings(
    const Flags& flags, const std::map<std::string, std::string, std::less<>>& environment,
    const std::function<void(const std::string& warning)>& warn) {
  if (flags.endpoint == "off") return std::nullopt;
  Variables variables(environment, warn);
  Settings settings;
  if (flags.endpoint == "auto" && IsOff(variables)) return std::nullopt;
  if (!ReadEndpoint(flags, variables, settings, warn)) return std::nullopt;

  settings.headers =
      variables.List({"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"}, true);
  settings.timeout =
      milliseconds(variables.Number({"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
                                     "OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_BSP_EXPORT_TIMEOUT"},
                                    1, kLongestMs, settings.timeout.count()));
  settings.ca_file =
      variables.Text({"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE"});
  settings.certificate_file = variables.Text(
      {"OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"});
  settings.key_file =
      variables.Text({"OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", "OTEL_EXPORTER_OTLP_CLIENT_KEY"});

  ReadSampler(variables, settings);
  if (flags.sample_ratio) {
    settings.sample_ratio = *flags.sample_ratio;
    settings.follows_parent = true;
  }
  constexpr int64_t kMostSpans = 1'000'000;
  auto& queue = settings.queue;
  queue.max_spans = static_cast<size_t>(variables.Number({"OTEL_BSP_MAX_QUEUE_SIZE"}, 1, kMostSpans,
                                                         static_cast<int64_t>(queue.max_spans)));
  queue.batch_spans = static_cast<size_t>(variables.Number(
      {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE"}, 1, kMostSpans, static_cast<int64_t>(queue.batch_spans)));
  queue.batch_spans = std::min(queue.batch_spans, queue.max_spans);
  settings.interval = milliseconds(
      variables.Number({"OTEL_BSP_SCHEDULE_DELAY"}, 1, kLongestMs, settings.interval.count()));

  settings.resource = variables.List({"OTEL_RESOURCE_ATTRIBUTES"}, false);
  std::string service = flags.service_name;
  if (service.empty()) service = variables.Text({"OTEL_SERVICE_NAME"});
  const auto named =
      std::ranges::find(settings.resource, "service.name",
                        [](const auto& pair) -> std::string_view { return pair.first; });
  if (named == settings.resource.end()) {
    settings.resource.emplace_back("service.name", service.empty() ? "millrace" : service);
  } else if (!service.empty()) {
    named->second = service;
  }
  return settings;
}

}  // namespace millrace::tracing
