#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/metrics/model_metrics.h"
#include "server/requests/or_internal.h"
#include "server/requests/pivot_pipeline.h"
#include "server/requests/services.h"
#include "server/scheduling/admission.h"
#include "server/scheduling/job.h"
#include "server/scheduling/served_model.h"
#include "server/security/caller.h"

namespace millrace::server {

// What a decoded request asks for.
struct Work {
  std::shared_ptr<ServedModel> model;
  models::Input input;
  size_t characters = 0;  // of text taken in, where it counts at once
  // What a second model goes on with; else null. The input is the first model's.
  std::unique_ptr<PivotPipeline> pivot = nullptr;
};

// Who asked, for a line of the log.
struct Requester {
  std::string request_id;  // the client's name for the request, unchecked; may be empty
  Caller caller;
};

// The run of one request through the server, whatever protocol brought it: from the model's check
// to the queue, and from the result to metrics and log. A member of the request's Reply, which
// takes the outputs and the end; that may come on any thread. Holds the ticket for as long as it
// lives.
class RequestRun {
 public:
  // The run must be a member of `reply`. The time of the request begins here.
  RequestRun(Services& services, Method method, Reply& reply)
      : services_(services), method_(method), reply_(reply), start_(services.clock.Now()) {}
  RequestRun(const RequestRun&) = delete;
  RequestRun& operator=(const RequestRun&) = delete;

  // Queues the work, as Submit does. Returns nullopt once it is queued: the reply may be gone then.
  // Otherwise returns what the request ends with: what is wrong with it, or OK when the work has no
  // model because nothing is to be done.
  std::optional<absl::Status> Begin(absl::StatusOr<Work>&& work, TimePoint deadline);
  // Checks the work's input, takes a ticket, unless there is one from an earlier job, and queues a
  // job. Once it is queued, the reply may be gone by the return; on failure nothing was queued.
  // Never blocks.
  absl::Status Submit(Work&& work, TimePoint deadline);
  // Tells the work to stop and takes it out of the queue. Its end may come before the return.
  void Cancel();
  // Counts and logs the end, once. Asks for the requester only when there is a line to write.
  void Record(const absl::Status& status, absl::FunctionRef<Requester()> requester);

  Services& services() const { return services_; }
  Reply& reply() const { return reply_; }
  // The model's metrics after Submit; before that, those for requests without a model.
  ModelMetrics& metrics() const {
    return model_ != nullptr ? model_->metrics() : services_.no_model_metrics;
  }
  const ServedModel* model() const { return model_.get(); }
  TimePoint start() const { return start_; }
  Duration elapsed() const { return services_.clock.Now() - start_; }
  // The client's name for the request if it is a valid one, else a new one. The first call decides.
  const std::string& RequestId(std::string_view from_client);
  // Whether an end with this status leaves a line in the log.
  static bool IsLogged(const absl::Status& status);

 private:
  Services& services_;
  const Method method_;
  Reply& reply_;
  const TimePoint start_;
  // Set in Submit, before any other thread sees the reply.
  std::shared_ptr<ServedModel> model_;
  std::unique_ptr<PivotPipeline> pivot_;
  Ticket ticket_;
  std::string request_id_;  // made when it is first needed
};

}  // namespace millrace::server
