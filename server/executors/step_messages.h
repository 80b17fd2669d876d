#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "millrace/executor/v1/executor.pb.h"
#include "models/core/payload.h"
#include "mps_runtime/base/clock.h"
#include "server/executors/payload_messages.h"

namespace millrace::server {

// The next step of some requests of one model, as the front orders it and an executor runs it.
struct StepOrder {
  struct Entry {
    uint64_t id = 0;
    TimePoint expires{};
    std::optional<models::Input> input;  // with the first step of a request
  };
  uint64_t model = 0;
  std::vector<Entry> requests;
};

// The outcome of a step for one request.
struct StepResult {
  std::vector<models::Output> outputs;
  std::optional<absl::Status> outcome;  // none: another step is needed
  double work_done = 0;
  double work_left = 0;
};

// Adds a request to a step; the input, if any, must outlive `behind`. spoken: what earlier runs of
// speech have delivered.
void WriteRequest(uint64_t id, TimePoint expires, const models::Input* input,
                  executor::v1::Step& message, Behind& behind,
                  const models::SpokenSoFar& spoken = {});
// These fail as the functions in payload_messages.h do.
absl::StatusOr<StepOrder> ReadStep(const executor::v1::Step& message, std::string_view behind);

// Adds the result of the next request; it must outlive `behind`.
void WriteResult(const StepResult& result, executor::v1::StepDone& message, Behind& behind);
// Returns as many results as there were requests.
absl::StatusOr<std::vector<StepResult>> ReadStepDone(const executor::v1::StepDone& message,
                                                     std::string_view behind, size_t requests);

}  // namespace millrace::server
