#include "server/scheduling/step_trace.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/core/strings.h"
#include "server/scheduling/served_model.h"
#include "server/tracing/request_trace.h"

namespace millrace::server {
namespace {

// The names of the spans.
constexpr char kQueue[] = "queue";
constexpr char kPrepare[] = "prepare";
constexpr char kPermit[] = "permit";
constexpr char kForward[] = "forward";
constexpr char kComplete[] = "complete";
constexpr char kClientStall[] = "client stall";

// Records the wait of a job in its queue until `now`, and before that its wait for the client.
void TraceWait(Job& job, TimePoint now) {
  tracing::RequestTrace& trace = *job.reply.trace();
  if (job.parked_at != TimePoint()) {
    trace.Add(kClientStall, job.parked_at, job.in_queue ? job.enqueued : now);
    job.parked_at = {};
  }
  // A job that has waited for its client since it was made was in no queue.
  if (job.in_queue && job.enqueued != TimePoint()) trace.Add(kQueue, job.enqueued, now);
}

}  // namespace

bool AnySampled(std::span<const std::unique_ptr<Job>> batch) {
  return std::ranges::any_of(batch, [](const auto& job) { return job->reply.trace() != nullptr; });
}

void TraceEndOfWait(Job& job) {
  if (job.reply.trace() != nullptr) TraceWait(job, job.request.now());
}

StepTrace::StepTrace(std::span<const std::unique_ptr<Job>> batch, Place place, TimePoint start)
    : place_(place), batch_size_(batch.size()), model_(batch.front()->model), begin_(start) {
  for (const auto& job : batch) {
    if (job->reply.trace() == nullptr) continue;
    TraceWait(*job, start);
    job->in_queue = false;
    members_.push_back({job->reply.trace(), tracing::NewSpanId()});
  }
}

void StepTrace::End(const char* name, TimePoint now, Phase next) {
  for (const Member& member : members_) member.trace->Add(name, begin_, now);
  phase_ = next;
  begin_ = now;
}

tracing::Span StepTrace::Forward(const Member& member, TimePoint begin, TimePoint end) const {
  tracing::Span span;
  span.id = member.forward;
  span.name = kForward;
  span.begin = begin;
  span.end = end;
  span.attributes = {{"millrace.model", model_->info().name},
                     {"millrace.worker", int64_t{place_.worker}},
                     {"millrace.stream", int64_t{place_.stream}},
                     {"millrace.batch_size", static_cast<int64_t>(batch_size_)}};
  for (const Member& other : members_) {
    if (&other == &member) continue;
    if (span.links.size() == kMaxLinks) {
      ++span.dropped_links;
    } else {
      span.links.push_back({other.trace->id(), other.forward});
    }
  }
  return span;
}

void StepTrace::NothingToRun(TimePoint now) { End(kPrepare, now, Phase::kOver); }

void StepTrace::Prepared(TimePoint now) { End(kPrepare, now, Phase::kForward); }

void StepTrace::Forwarded(TimePoint now, Duration waited, ModelMetrics& metrics) {
  const TimePoint permitted = begin_ + waited;
  for (const Member& member : members_) {
    member.trace->Add(kPermit, begin_, permitted);
    member.trace->Add(Forward(member, permitted, now));
  }
  if (!members_.empty()) {
    const std::string id = tracing::ToHex(members_.front().trace->id());
    metrics.compute_seconds.SetExemplar(Seconds(now - permitted), id);
    metrics.permit_wait_seconds.SetExemplar(Seconds(waited), id);
  }
  phase_ = Phase::kComplete;
  begin_ = now;
}

void StepTrace::Completed(TimePoint now) { End(kComplete, now, Phase::kOver); }

void StepTrace::Failed(TimePoint now, const absl::Status& status) {
  if (phase_ == Phase::kOver) return;
  for (const Member& member : members_) {
    tracing::Span span;
    if (phase_ == Phase::kForward) {
      span = Forward(member, begin_, now);
    } else {
      span.name = phase_ == Phase::kPrepare ? kPrepare : kComplete;
      span.begin = begin_;
      span.end = now;
    }
    span.failed = true;
    span.error = Message(status);
    member.trace->Add(std::move(span));
  }
  phase_ = Phase::kOver;
}

}  // namespace millrace::server
