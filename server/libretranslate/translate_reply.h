#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/mutex.h"
#include "server/services/translation_progress.h"
#include "server/services/translation_request.h"
#include "server/services/translation_results.h"
#include "server/services/work_reply.h"

namespace millrace::server {

// A translation over HTTP. Workers put sentences in, the connection's own thread waits for the end.
//
// Shared by the connection and, until Finish, by the job; the last of them counts the request and
// gives its ticket back.
class TranslateReply final : public WorkReply, public std::enable_shared_from_this<TranslateReply> {
 public:
  // request_id: for the log.
  TranslateReply(Services& services, std::string request_id)
      : WorkReply(services, Method::kHttpTranslate), request_id_(std::move(request_id)) {}
  ~TranslateReply() override;

  // Queues the work, or ends with what is wrong with it. Call it once, first. Never blocks.
  void Start(absl::StatusOr<TranslationWork> work);
  // The end, waiting for it at most that long.
  std::optional<absl::Status> Wait(std::chrono::milliseconds patience) MILLRACE_EXCLUDES(mu_);
  // The client is gone: stops the work. Idempotent.
  void Abandon() MILLRACE_EXCLUDES(mu_);

  // Once it has ended well.
  const TranslationProgress& progress() const { return progress_; }
  std::vector<TranslationResults::Text> TakeResults() { return results_->Take(); }

  void Emit(models::Output output) override;
  void Finish(const absl::Status& status) override MILLRACE_EXCLUDES(mu_);

 private:
  std::string_view ClientRequestId() const override { return request_id_; }

  const std::string request_id_;
  // Of the worker that has the job, then of the connection.
  TranslationProgress progress_;
  std::optional<TranslationResults> results_;
  std::shared_ptr<TranslateReply> self_;  // until Finish, which the job's last thread calls

  Mutex mu_;
  CondVar changed_;
  std::optional<absl::Status> end_ MILLRACE_GUARDED_BY(mu_);
  bool abandoned_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::server
