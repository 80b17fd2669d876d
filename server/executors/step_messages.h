#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/payload.h"
#include "mps_runtime/base/clock.h"
#include "server/executors/fields.h"
#include "server/executors/frame.h"

namespace millrace::server {

// The next step of some requests of one model, as the front orders it and an executor runs it.
struct StepOrder {
  struct Entry {
    uint64_t id = 0;
    TimePoint expires{};                 // on the steady clock, which processes share
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

// Adds a request to a step, which begins with the number of its model; the input, if any, must
// outlive `step`. spoken: what earlier runs of speech have delivered.
void WriteRequest(uint64_t id, TimePoint expires, const models::Input* input, FieldWriter& step,
                  const models::SpokenSoFar& spoken = {});
// Fails with INVALID_ARGUMENT in one line for a message that the functions here do not write.
absl::StatusOr<StepOrder> ReadStep(const MessageFrame& frame);

// The results, in the order of the requests, must outlive what is returned.
FieldWriter WriteResults(const std::vector<StepResult>& results);
// Returns as many results as there were requests. Fails as ReadStep does.
absl::StatusOr<std::vector<StepResult>> ReadResults(const MessageFrame& frame, size_t requests);

}  // namespace millrace::server
