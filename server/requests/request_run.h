#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/limits/key_account.h"
#include "server/metrics/model_metrics.h"
#include "server/requests/or_internal.h"
#include "server/requests/pivot_pipeline.h"
#include "server/requests/request_span.h"
#include "server/requests/services.h"
#include "server/scheduling/admission.h"
#include "server/scheduling/job.h"
#include "server/scheduling/served_model.h"
#include "server/security/caller.h"

namespace millrace::server {

// The work that a decoded request asks for.
struct Work {
  std::shared_ptr<ServedModel> model;
  models::Input input;
  size_t characters = 0;  // the source text's, if they are counted on admission
  // Set if a second model continues the translation; the input is then the first model's.
  std::unique_ptr<PivotPipeline> pivot = nullptr;
  // The time that the request itself gives the work, from its beginning, where its message says so.
  std::optional<Duration> timeout = std::nullopt;
};

// The sender of a request, for a line of the log.
struct Requester {
  std::string request_id;  // the client's name for the request, unchecked; may be empty
  Caller caller;
};

// The run of one request through the server, whatever its protocol: from the model's check to the
// queue, and from the result to metrics and log. It is a member of the request's Reply, which takes
// the outputs and the end; the end may come on any thread. It holds the ticket as long as it lives.
class RequestRun {
 public:
  // The run must be a member of `reply`. Starts the clock of the request, and its trace if it is
  // sampled. arrival: read only here.
  RequestRun(Services& services, Method method, Reply& reply, const tracing::Arrival& arrival = {})
      : services_(services), method_(method), reply_(reply), start_(services.clock.Now()) {
    if (services.tracer != nullptr) BeginTrace(arrival);
  }
  ~RequestRun() {
    if (charged_) account_->Leave();
  }
  RequestRun(const RequestRun&) = delete;
  RequestRun& operator=(const RequestRun&) = delete;

  // Names the sender, whose limits and share of the workers the request counts for. Without it, and
  // for a sender without a key, it counts for all callers without one. `priority` is what the
  // sender asks for: a name of a Priority, which may lower that of its key, or empty. Must be
  // called before Begin and Submit.
  void SetCaller(std::string_view key, std::string_view priority);
  // Queues the work, as Submit does. Returns nullopt once it is queued, when the reply may already
  // be gone. Otherwise returns the request's final status: what is wrong with it, or OK if the work
  // has no model because there is nothing to do.
  std::optional<absl::Status> Begin(absl::StatusOr<Work>&& work, const models::TimeLimit& limit);
  // Checks the work's input, takes a ticket unless an earlier job has one, and queues a job. Once
  // it is queued, the reply may be gone when the call returns; on failure nothing is queued. Never
  // blocks.
  absl::Status Submit(Work&& work, const models::TimeLimit& limit);
  // Charges the sender for audio that was made.
  void CountAudio(double seconds) const {
    if (account_ != nullptr) account_->AddAudio(seconds);
  }
  // Returns what the sender's limits are and what is left of them; empty if there are none.
  RateLimitFields rate_limit() const {
    return account_ != nullptr ? account_->rate_limit() : RateLimitFields();
  }
  // Returns the same for those who are told now and then; see KeyAccount::rate_limit_if_due.
  RateLimitFields rate_limit_if_due() const {
    return account_ != nullptr ? account_->rate_limit_if_due() : RateLimitFields();
  }
  // Cancels the work and takes it out of the queue. The request may end before the call returns.
  void Cancel();
  // Records that the client has left, which Cancel does too. The first call counts.
  void MarkLeft();
  // Counts the time until now as that to the first audio.
  void ObserveFirstAudio() const;
  // Counts and logs the end, and ends the trace. Must be called once, when all work has ended.
  // Calls `requester` only if a line is written or the request is sampled.
  void Record(const absl::Status& end, absl::FunctionRef<Requester()> requester);

  Services& services() const { return services_; }
  Reply& reply() const { return reply_; }
  // Returns the model's metrics after Submit; before that, those for requests without a model.
  ModelMetrics& metrics() const {
    return model_ != nullptr ? model_->metrics() : services_.no_model_metrics;
  }
  const ServedModel* model() const { return model_.get(); }
  TimePoint start() const { return start_; }
  // Returns the time that the request has by --max-request-time. streamed: its output is taken
  // while it is made.
  models::TimeLimit Limit(bool streamed = false) const {
    models::TimeLimit limit(start_ + services_.max_request_time);
    limit.most = services_.max_request_time;
    if (streamed) limit.patience = limit.most;
    return limit;
  }
  Duration elapsed() const { return services_.clock.Now() - start_; }
  // The client's name for the request if it is a valid one, else a new one. The first call decides.
  const std::string& RequestId(std::string_view from_client);
  // Returns true if the end with this status is logged.
  static bool IsLogged(const absl::Status& status);

 private:
  void BeginTrace(const tracing::Arrival& arrival);
  // Returns the status that a request ends with whose client has left: one that leaves because its
  // own deadline has passed has not cancelled anything.
  absl::Status OutcomeOf(const absl::Status& status) const;
  // Takes a place under the sender's limits.
  absl::Status Charge(const RequestCost& cost);

  Services& services_;
  const Method method_;
  Reply& reply_;
  const TimePoint start_;
  // Null unless the request is sampled.
  std::unique_ptr<RequestSpan> span_;
  // Set in Submit, before any other thread sees the reply.
  std::shared_ptr<ServedModel> model_;
  std::unique_ptr<PivotPipeline> pivot_;
  Ticket ticket_;
  TimePoint client_deadline_ = TimePoint::max();
  std::atomic<TimePoint> left_{TimePoint::max()};  // when the client left
  std::shared_ptr<KeyAccount> account_;            // null without limits
  absl::Status priority_status_;  // the status of the priority that the sender asks for
  FairShare share_;
  std::optional<RequestCost> charged_;  // the cost of the request at its beginning
  std::string request_id_;              // made at the first RequestId
};

}  // namespace millrace::server
