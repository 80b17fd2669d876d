#include "server/executors/step_messages.h"

#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

using std::chrono::nanoseconds;

bool IsWork(double work) { return std::isfinite(work) && work >= 0; }

absl::Status MalformedStep(std::string_view what) {
  return InvalidArgument("a step's message is malformed: ", what);
}

}  // namespace

void WriteRequest(uint64_t id, TimePoint expires, const models::Input* input,
                  executor::v1::Step& message, Behind& behind, const models::SpokenSoFar& spoken) {
  executor::v1::StepRequest& request = *message.add_requests();
  request.set_id(id);
  request.set_expires_ns(
      std::chrono::duration_cast<nanoseconds>(expires.time_since_epoch()).count());
  if (input == nullptr) return;
  WriteInput(*input, *request.mutable_input(), behind);
  if (spoken.sentences == 0) return;
  executor::v1::SpokenSoFar& to = *request.mutable_input()->mutable_synthesize()->mutable_spoken();
  to.set_bytes(spoken.bytes);
  to.set_sentences(spoken.sentences);
}

absl::StatusOr<StepOrder> ReadStep(const executor::v1::Step& message, std::string_view behind) {
  StepOrder order{.model = message.model(), .requests = {}};
  BehindReader reader(behind);
  std::set<uint64_t> ids;
  for (const executor::v1::StepRequest& request : message.requests()) {
    if (!ids.insert(request.id()).second) return MalformedStep("a request is in it twice");
    StepOrder::Entry entry{
        .id = request.id(),
        .expires =
            TimePoint(std::chrono::duration_cast<Duration>(nanoseconds(request.expires_ns()))),
        .input = {}};
    if (request.has_input()) {
      MILLRACE_ASSIGN_OR_RETURN(entry.input, ReadInput(request.input(), reader));
    }
    order.requests.push_back(std::move(entry));
  }
  if (order.requests.empty()) return MalformedStep("it has no request");
  MILLRACE_RETURN_IF_ERROR(reader.End());
  return order;
}

void WriteResult(const StepResult& result, executor::v1::StepDone& message, Behind& behind) {
  executor::v1::StepResult& to = *message.add_results();
  for (const models::Output& output : result.outputs)
    WriteOutput(output, *to.add_outputs(), behind);
  if (result.outcome) WriteStatus(*result.outcome, *to.mutable_outcome());
  to.set_work_done(result.work_done);
  to.set_work_left(result.work_left);
}

absl::StatusOr<std::vector<StepResult>> ReadStepDone(const executor::v1::StepDone& message,
                                                     std::string_view behind, size_t requests) {
  if (static_cast<size_t>(message.results_size()) != requests) {
    return MalformedStep(
        StrCat("it has ", message.results_size(), " results for ", requests, " requests"));
  }
  BehindReader reader(behind);
  std::vector<StepResult> results;
  results.reserve(requests);
  for (const executor::v1::StepResult& from : message.results()) {
    StepResult& result = results.emplace_back();
    for (const executor::v1::Output& output : from.outputs()) {
      MILLRACE_ASSIGN_OR_RETURN(auto read, ReadOutput(output, reader));
      result.outputs.push_back(std::move(read));
    }
    if (from.has_outcome()) {
      const executor::v1::Status& outcome = from.outcome();
      result.outcome = ReadStatus(outcome);
      if (outcome.code() != static_cast<int>(result.outcome->code()))
        return MalformedStep("it has an unknown status");
    }
    if (!IsWork(from.work_done()) || !IsWork(from.work_left()))
      return MalformedStep("its work is out of range");
    result.work_done = from.work_done();
    result.work_left = from.work_left();
  }
  MILLRACE_RETURN_IF_ERROR(reader.End());
  return results;
}

}  // namespace millrace::server
