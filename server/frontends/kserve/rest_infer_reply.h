#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/mutex.h"
#include "server/requests/request_run.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

// An inference over HTTP. A worker gives the outputs, and the connection's own thread waits for the
// end.
//
// It is shared by the connection and, until Finish, by the job; the last of them counts the request
// and returns its ticket.
class RestInferReply final : public Reply, public SelfShared<RestInferReply> {
 public:
  // request_id, caller: written to the log. The request counts for the caller's key.
  RestInferReply(Services& services, std::string request_id, Caller caller = {})
      : run_(services, Method::kHttpInfer, *this, caller.arrival),
        requester_{std::move(request_id), std::move(caller)} {
    run_.SetCaller(requester_.caller.key, requester_.caller.priority);
  }
  ~RestInferReply() override;

  const RequestRun& run() const { return run_; }

  // Queues the work, or ends with its error. Must be called once, before anything else. Never
  // blocks.
  void Start(absl::StatusOr<Work> work);
  // Waits for the end at most that long.
  std::optional<absl::Status> Wait(std::chrono::milliseconds patience) MILLRACE_EXCLUDES(mu_);
  // Stops the work because the client is gone. Idempotent.
  void Abandon() MILLRACE_EXCLUDES(mu_);
  // Has the request end with that status although the work was done: the answer cannot say it. For
  // the connection, once it has ended with OK.
  void Fail(const absl::Status& status) MILLRACE_EXCLUDES(mu_);

  // These may be called once it has ended with OK.
  const models::ModelInfo& model() const { return run_.model()->info(); }
  const models::InferOutput& output() const { return output_; }

  void Emit(models::Output output) override;
  void Finish(const absl::Status& status) override MILLRACE_EXCLUDES(mu_);

 private:
  RequestRun run_;
  const Requester requester_;
  models::InferOutput output_;  // the worker's until the end, then the connection's

  Mutex mu_;
  CondVar changed_;
  std::optional<absl::Status> end_ MILLRACE_GUARDED_BY(mu_);
  bool abandoned_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::server
