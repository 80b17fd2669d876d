#include "server/executors/step_messages.h"

#include <cmath>
#include <set>
#include <utility>
#include <variant>

#include "server/executors/payload_fields.h"

namespace millrace::server {
namespace {

bool IsWork(double work) { return std::isfinite(work) && work >= 0; }

}  // namespace

void Fields(auto& archive, MaybeConst<StepResult> auto& result) {
  archive(result.outputs, result.outcome, result.work_done, result.work_left);
}

void WriteRequest(uint64_t id, TimePoint expires, const models::Input* input, FieldWriter& step,
                  const models::SpokenSoFar& spoken) {
  step(id, expires, input != nullptr);
  if (input != nullptr) step(*input, spoken);
}

absl::StatusOr<StepOrder> ReadStep(const MessageFrame& frame) {
  FieldReader reader(frame.header, frame.behind);
  StepOrder order;
  std::set<uint64_t> ids;
  reader(order.model);
  reader.Require(!reader.at_end(), "it has no request");
  while (!reader.at_end()) {
    StepOrder::Entry& entry = order.requests.emplace_back();
    bool begins = false;
    reader(entry.id, entry.expires, begins);
    reader.Require(ids.insert(entry.id).second, "a request is in it twice");
    if (!begins) continue;
    models::SpokenSoFar spoken;
    reader(entry.input.emplace(), spoken);
    auto* const speech = std::get_if<models::SynthesizeInput>(&*entry.input);
    if (speech == nullptr) continue;
    reader.Require(spoken.bytes <= speech->text.size(), "more of a text was spoken than it has");
    speech->spoken = spoken;
  }
  MILLRACE_RETURN_IF_ERROR(reader.End());
  return order;
}

FieldWriter WriteResults(const std::vector<StepResult>& results) {
  FieldWriter message;
  message(results);
  return message;
}

absl::StatusOr<std::vector<StepResult>> ReadResults(const MessageFrame& frame, size_t requests) {
  FieldReader reader(frame.header, frame.behind);
  std::vector<StepResult> results;
  reader(results);
  for (const StepResult& result : results) {
    reader.Require(IsWork(result.work_done) && IsWork(result.work_left),
                   "its work is out of range");
  }
  MILLRACE_RETURN_IF_ERROR(reader.End());
  reader.Require(results.size() == requests,
                 StrCat("it has ", results.size(), " results for ", requests, " requests"));
  MILLRACE_RETURN_IF_ERROR(reader.End());
  return results;
}

}  // namespace millrace::server
