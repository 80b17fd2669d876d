#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "server/scheduling/job.h"
#include "server/tracing/span.h"

namespace millrace::tracing {
class RequestTrace;
}  // namespace millrace::tracing

namespace millrace::server {

class ModelMetrics;

// Returns true if any of the requests is sampled. Costs a branch for each.
bool AnySampled(std::span<const std::unique_ptr<Job>> batch);

// The spans of one step, for those of its requests that are sampled: their waits before it, and its
// phases, of which the forwards of the batch point to each other. A phase that throws ends in
// Failed. Belongs to the worker, and must not outlive the jobs.
class StepTrace {
 public:
  // The most links of a span. In a large batch everybody would point to everybody.
  static constexpr size_t kMaxLinks = 32;

  struct Place {
    int worker = 0;
    int stream = 0;
  };

  // Records the waits of the jobs, and begins `Prepare`.
  StepTrace(std::span<const std::unique_ptr<Job>> batch, Place place, TimePoint start);

  // Ends a step of which nothing was left to run after `Prepare`.
  void NothingToRun(TimePoint now);
  // Ends `Prepare`, and begins to wait for the permit. From here on exceptions end the forward.
  void Prepared(TimePoint now);
  // Ends the forward, which had waited for its permit for so long.
  void Forwarded(TimePoint now, Duration waited, ModelMetrics& metrics);
  void Completed(TimePoint now);
  // Ends the phase that runs with an error.
  void Failed(TimePoint now, const absl::Status& status);

 private:
  enum class Phase : uint8_t { kPrepare, kForward, kComplete, kOver };
  struct Member {
    tracing::RequestTrace* trace = nullptr;
    tracing::SpanId forward;
  };

  // Adds a span from `begin_` on to each request, and begins the next phase.
  void End(const char* name, TimePoint now, Phase next);
  tracing::Span Forward(const Member& member, TimePoint begin, TimePoint end) const;

  const Place place_;
  const size_t batch_size_;
  const std::shared_ptr<ServedModel> model_;
  std::vector<Member> members_;
  Phase phase_ = Phase::kPrepare;
  TimePoint begin_;  // the begin of the phase
};

// Records how long a job waited that ends without another step.
void TraceEndOfWait(Job& job);

}  // namespace millrace::server
