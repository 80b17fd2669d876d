#include "server/scheduling/job.h"

#include <utility>

#include "models/core/errors.h"
#include "server/scheduling/refusal.h"
#include "server/scheduling/served_model.h"
#include "server/scheduling/step_trace.h"

namespace millrace::server {

Job::Job(models::Input input, const models::TimeLimit& limit, Reply& reply,
         std::shared_ptr<ServedModel> model, const Clock& clock, const FairShare& share)
    : model(std::move(model)),
      request(std::move(input), limit, reply, clock),
      reply(reply),
      share(share),
      admitted(clock.Now()),
      estimate(this->model->model().EstimateWork(request.input())) {
  request.EstimateWorkLeft(estimate);
}

void Reply::Park(std::unique_ptr<Job> job) {
  FinishJob(std::move(job), Internal("a reply that is never congested was asked to park its job"));
}

absl::Status StopStatus(const models::Request& request) {
  return request.expired()
             ? absl::DeadlineExceededError("the deadline passed before the work was done")
             : absl::CancelledError("the caller went away");
}

absl::Status ShutdownStatus(const Job& job) {
  return job.service == Duration::zero() ? Draining() : Unavailable("the server is shutting down");
}

void FinishJob(std::unique_ptr<Job> job, const absl::Status& status) {
  TraceEndOfWait(*job);
  Reply& reply = job->reply;
  InferenceCounts& counts = job->model->counts();
  const Duration took = job->request.now() - job->admitted;
  if (status.ok()) {
    counts.CountSuccess(took, job->waited, job->step_times);
  } else {
    counts.CountFailure(took);
  }
  job.reset();
  reply.Finish(status);
}

}  // namespace millrace::server
