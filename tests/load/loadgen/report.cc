#include "tests/load/loadgen/report.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <sys/resource.h>

#include <array>
#include <string_view>

namespace millrace::loadgen {
namespace {

using google::protobuf::Struct;

constexpr std::array<std::string_view, kStatusCodes> kStatusNames = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void Put(Struct& object, const std::string& name, double value) {
  (*object.mutable_fields())[name].set_number_value(value);
}
void Put(Struct& object, const std::string& name, const std::string& value) {
  (*object.mutable_fields())[name].set_string_value(value);
}
Struct& PutObject(Struct& object, const std::string& name) {
  return *(*object.mutable_fields())[name].mutable_struct_value();
}

void PutPercentiles(Struct& object, const std::string& name, const Histogram& histogram) {
  Struct& out = PutObject(object, name);
  Put(out, "count", static_cast<double>(histogram.count()));
  Put(out, "p50", histogram.PercentileMs(0.5));
  Put(out, "p90", histogram.PercentileMs(0.9));
  Put(out, "p95", histogram.PercentileMs(0.95));
  Put(out, "p99", histogram.PercentileMs(0.99));
  Put(out, "max", histogram.MaxMs());
}

}  // namespace

std::string ReportJson(const Options& options, const Recorder& recorder, const Outputs& outputs,
                       uint64_t offered, std::chrono::nanoseconds wall) {
  Struct root;
  Put(root, "method", options.method_name);
  Put(root, "model", options.model);
  Put(root, "loop", std::string(options.open_loop() ? "open" : "closed"));
  Put(root, "wall_seconds", static_cast<double>(wall.count()) / 1e9);
  Put(root, "offered", static_cast<double>(offered));
  Put(root, "unsent", static_cast<double>(recorder.unsent()));
  Put(root, "ok_in_window", static_cast<double>(recorder.ok_in_window()));
  Put(root, "wrong", static_cast<double>(recorder.wrong()));
  Put(root, "inconsistent", static_cast<double>(outputs.inconsistent()));
  Put(root, "output_bytes", static_cast<double>(recorder.output_bytes()));
  Put(root, "audio_seconds", recorder.audio_seconds());
  Put(root, "generator_cpu_seconds", CpuSeconds());
  PutPercentiles(root, "send_lag_ms", recorder.send_lag());

  Struct& statuses = PutObject(root, "statuses");
  const auto messages = recorder.messages();
  for (size_t code = 0; code < kStatusCodes; ++code) {
    const Recorder::PerStatus& status = recorder.status(code);
    if (status.latency.count() == 0) continue;
    Struct& out = PutObject(statuses, std::string(kStatusNames[code]));
    Put(out, "count", static_cast<double>(status.latency.count()));
    PutPercentiles(out, "latency_ms", status.latency);
    PutPercentiles(out, "service_ms", status.service);
    const auto message = messages.find(static_cast<int>(code));
    if (message != messages.end()) Put(out, "first_message", message->second);
  }

  if (options.method == Method::kStreamSynthesize) {
    Struct& stream = PutObject(root, "stream");
    PutPercentiles(stream, "first_audio_ms", recorder.first_audio());
    PutPercentiles(stream, "gap_ms", recorder.gaps());
    Put(stream, "underruns", static_cast<double>(recorder.underruns()));
    Put(stream, "streams_with_underrun", static_cast<double>(recorder.streams_with_underrun()));
    Put(stream, "stalled_seconds", recorder.stalled_seconds());
  }

  if (options.method == Method::kStreamTranslate)
    PutPercentiles(PutObject(root, "stream"), "first_text_ms", recorder.first_text());

  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(root, &json);
  return status.ok() ? json : "{}";
}

}  // namespace millrace::loadgen
