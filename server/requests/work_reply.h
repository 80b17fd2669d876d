#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/metrics/model_metrics.h"
#include "server/requests/services.h"
#include "server/scheduling/admission.h"
#include "server/scheduling/job.h"
#include "server/scheduling/served_model.h"
#include "server/security/caller.h"

namespace millrace::server {

// What the function returns, or INTERNAL when it throws, as for want of memory.
template <typename Function>
auto OrInternal(Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

// What a decoded request asks for.
struct Work {
  std::shared_ptr<ServedModel> model;
  models::Input input;
  size_t characters = 0;  // of text taken in, where it counts at once
  // What goes on with what the model gives (SubmitNext); else null.
  std::shared_ptr<ServedModel> next_model = nullptr;
};

// The way of a request through the server, whatever it came by: from the model's check to the
// queue, and from the result to metrics and log. The end may come on any thread.
class WorkReply : public Reply {
 protected:
  WorkReply(Services& services, Method method)
      : services_(services), method_(method), start_(services.clock.Now()) {}

  // Checks the work's input, takes a ticket, unless it has one from an earlier job, and queues a
  // job. Once it is queued, `this` may be gone by the return; on failure nothing was queued. Never
  // blocks.
  absl::Status Submit(Work work, TimePoint deadline);
  // From Finish, of work that ended well: queues what next_model is to do, if `next` gives
  // anything, within the deadline and on the ticket of the first. False: this is the end, with that
  // status.
  bool SubmitNext(const std::function<std::optional<models::Input>()>& next, absl::Status& status);
  // Tells the work to stop and takes it out of the queue.
  void CancelWork();
  // Counts and logs the end, once.
  void Record(const absl::Status& status);

  Services& services() const { return services_; }
  // Of the model once Submit was called, else the nameless ones.
  ModelMetrics& metrics() {
    return model_ != nullptr ? model_->metrics() : services_.no_model_metrics;
  }
  const ServedModel* model() const { return model_.get(); }
  TimePoint start() const { return start_; }
  // The client's, or a new one.
  const std::string& RequestId();
  // Whether an end with this status leaves a line in the log.
  static bool IsLogged(const absl::Status& status);

 private:
  // What the client calls the request, unchecked; may be empty.
  virtual std::string_view ClientRequestId() const = 0;
  // Asked for a line of the log alone.
  virtual Caller GetCaller() const = 0;

  Services& services_;
  const Method method_;
  const TimePoint start_;
  // Set in Submit, before any other thread sees this.
  std::shared_ptr<ServedModel> model_;
  std::shared_ptr<ServedModel> next_model_;
  TimePoint deadline_{};
  Ticket ticket_;
  std::string request_id_;  // made when it is first needed
};

}  // namespace millrace::server
