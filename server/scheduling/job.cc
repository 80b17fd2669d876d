#include "server/scheduling/job.h"

namespace millrace::server {

void Reply::Park(std::unique_ptr<Job> job) {
  FinishJob(std::move(job),
            absl::InternalError("a reply that is never congested was asked to park its job"));
}

void FinishJob(std::unique_ptr<Job> job, const absl::Status& status) {
  Reply& reply = job->reply;
  job.reset();
  reply.Finish(status);
}

}  // namespace millrace::server
