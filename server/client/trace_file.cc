#include "server/client/trace_file.h"

#include <string>

#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/json/json_text.h"

namespace millrace {
namespace {

using nlohmann::json;

constexpr int kProcess = 1;

json NameOf(const char* kind, int thread, const std::string& name) {
  return {
      {"ph", "M"}, {"pid", kProcess}, {"tid", thread}, {"name", kind}, {"args", {{"name", name}}}};
}

double Microseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

}  // namespace

TraceFile::TraceFile(std::ostream& out, int workers, int64_t begin_ns)
    : out_(out), begin_ns_(begin_ns) {
  out_ << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
       << server::JsonText(NameOf("process_name", 0, "millrace"));
  for (int worker = 0; worker < workers; ++worker)
    out_ << ",\n" << server::JsonText(NameOf("thread_name", worker + 1, StrCat("worker ", worker)));
}

void TraceFile::Add(const v1::GetTimelineResponse& response) {
  int thread = 0;
  for (const v1::GetTimelineResponse::Worker& worker : response.workers()) {
    ++thread;
    for (const v1::GetTimelineResponse::Step& step : worker.steps()) {
      out_ << ",\n"
           << server::JsonText(json{{"ph", "X"},
                                    {"pid", kProcess},
                                    {"tid", thread},
                                    {"name", step.model()},
                                    {"cat", "step"},
                                    {"ts", Microseconds(step.begin_ns() - begin_ns_)},
                                    {"dur", Microseconds(step.duration_ns())},
                                    {"args", {{"batch_size", step.requests()}}}});
    }
    steps_ += static_cast<uint64_t>(worker.steps_size());
    lost_ += worker.lost();
    if (worker.lost() == 0) continue;
    out_ << ",\n"
         << server::JsonText(json{{"ph", "i"},
                                  {"s", "t"},
                                  {"pid", kProcess},
                                  {"tid", thread},
                                  {"name", "steps lost"},
                                  {"ts", Microseconds(response.now_ns() - begin_ns_)},
                                  {"args", {{"steps", worker.lost()}}}});
  }
}

void TraceFile::Close() { out_ << "\n]}\n"; }

}  // namespace millrace
