#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/mutex.h"
#include "server/requests/request_run.h"
#include "server/requests/translation_progress.h"
#include "server/requests/translation_request.h"
#include "server/requests/translation_results.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

// A translation over HTTP. Workers add sentences, and the connection's own thread waits for the
// end.
//
// It is shared by the connection and, until Finish, by the job; the last of them counts the request
// and returns its ticket.
class TranslateReply final : public Reply, public SelfShared<TranslateReply> {
 public:
  // Decides what the connection gets before the end.
  enum class Form : uint8_t { kWhole, kParts };
  // A piece of the translation of a text.
  struct Part {
    size_t text_index = 0;
    std::string text;
    bool sentence_finished = false;
    bool text_finished = false;
  };

  // request_id, caller: written to the log. The request counts for the caller's key.
  TranslateReply(Services& services, std::string request_id, Caller caller = {},
                 Form form = Form::kWhole)
      : run_(services, Method::kHttpTranslate, *this, caller.arrival),
        requester_{std::move(request_id), std::move(caller)},
        form_(form) {
    run_.SetCaller(requester_.caller.key, requester_.caller.priority);
  }
  ~TranslateReply() override;

  const RequestRun& run() const { return run_; }

  using Works = std::vector<TranslationWork>;

  // Queues the first of the works, or ends with its error. Must be called once, before anything
  // else. Never blocks.
  void Start(absl::StatusOr<Works> works) MILLRACE_EXCLUDES(mu_);
  // Waits for the end, or for parts if it gives any, at most that long. Queues each further work
  // when the one before it has ended, with the same ticket and deadline.
  std::optional<absl::Status> Wait(std::chrono::milliseconds patience) MILLRACE_EXCLUDES(mu_);
  // Returns the parts that have come since the last call, in order.
  std::vector<Part> TakeParts() MILLRACE_EXCLUDES(mu_);
  // Stops the work because the client is gone. Idempotent.
  void Abandon() MILLRACE_EXCLUDES(mu_);

  // These may be called once it has ended with OK.
  const std::vector<TranslationText>& texts() const { return texts_; }
  std::vector<TranslationResults::Text> TakeResults() { return results_->Take(); }

  void Emit(models::Output output) override MILLRACE_EXCLUDES(mu_);
  void Finish(const absl::Status& status) override MILLRACE_EXCLUDES(mu_);

 private:
  // Queues the next work that has a model, or sets the end.
  void StartNext() MILLRACE_EXCLUDES(mu_);

  RequestRun run_;
  const Requester requester_;
  const Form form_;
  // Only the thread of the connection uses these members.
  std::vector<TranslationText> texts_;
  Works works_;
  size_t started_ = 0;  // number of works_ that were queued
  // The worker that has the job uses these members, and the connection does once all jobs have
  // ended.
  TranslationProgress progress_;
  std::optional<TranslationResults> results_;

  Mutex mu_;
  CondVar changed_;
  std::vector<Part> parts_ MILLRACE_GUARDED_BY(mu_);
  std::optional<absl::Status> end_ MILLRACE_GUARDED_BY(mu_);
  bool abandoned_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::server
