#include "server/scheduling/job.h"

namespace millrace::server {

void Reply::Park(std::unique_ptr<Job> job) {
  FinishJob(std::move(job),
            absl::InternalError("a reply that is never congested was asked to park its job"));
}

absl::Status StopStatus(const models::Request& request) {
  return request.expired()
             ? absl::DeadlineExceededError("the deadline passed before the work was done")
             : absl::CancelledError("the caller went away");
}

void FinishJob(std::unique_ptr<Job> job, const absl::Status& status) {
  Reply& reply = job->reply;
  job.reset();
  reply.Finish(status);
}

}  // namespace millrace::server
