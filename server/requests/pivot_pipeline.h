#pragma once

#include <cstddef>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/payload.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/requests/pivot_sentences.h"
#include "server/requests/services.h"
#include "server/scheduling/job.h"
#include "server/scheduling/served_model.h"

namespace millrace::server {

// A translation by way of English on its way through two models at once: while the first one
// translates a sentence, the second goes on with those before it. Each model has one job at a time
// with a reply of its own, which passes to the request's reply what concerns it: the outputs of the
// second model, the end of both, a slow client.
//
// The first model has one job. When the second is idle, it gets a job of all the sentences that
// wait by then. The first error stops both, and is what the request ends with once neither has a
// job. The first model does not wait for a slow client: what it makes is bounded with its text.
//
// Thread-safe. The request's reply owns it, and outlives all jobs.
class PivotPipeline {
 public:
  struct Models {
    std::shared_ptr<ServedModel> first;
    std::shared_ptr<ServedModel> second;
  };
  // fewest: how many translated sentences, at least 1, the second model begins with; for fewer it
  // waits until the first has ended.
  PivotPipeline(const Services& services, Models models, PivotSentences sentences, size_t fewest);
  PivotPipeline(const PivotPipeline&) = delete;
  PivotPipeline& operator=(const PivotPipeline&) = delete;

  // Returns what the first model's job is to reply to. Call it once, before that is queued: from
  // then on `reply` gets outputs, one at a time, and the end.
  Reply& Begin(Reply& reply, TimePoint deadline);
  // Takes the jobs of a cancelled request out of the queues. If that ends the request, this object
  // may be gone by the return.
  void EndWaiting();

 private:
  // What the job of one model replies to.
  class Stage : public Reply {
   public:
    explicit Stage(PivotPipeline& pipeline) : pipeline_(pipeline) {}
    bool cancelled() const final { return Reply::cancelled() || pipeline_.reply_->cancelled(); }

   protected:
    PivotPipeline& pipeline_;
  };
  class FirstStage final : public Stage {
   public:
    using Stage::Stage;
    void Emit(models::Output output) override;
    void Finish(const absl::Status& status) override;
  };
  class SecondStage final : public Stage {
   public:
    using Stage::Stage;
    void Emit(models::Output output) override;
    void Finish(const absl::Status& status) override;
    bool Congested() const override;
    void Park(std::unique_ptr<Job> job) override;
  };

  // Whether the second model, which is idle, has something to begin.
  bool MayBeginSecond() const MILLRACE_REQUIRES(mu_);
  // Queues the next job of the second model, or ends the request when there is none to come. For
  // whoever has set second_busy_; this may be gone by the return.
  void RunSecond() MILLRACE_EXCLUDES(mu_);
  // The next job; null when what waited is done without one.
  absl::StatusOr<std::unique_ptr<Job>> MakeSecondJob() MILLRACE_EXCLUDES(mu_);
  // Stops both models. For whoever keeps the request from its end by a job of its own.
  void Fail(const absl::Status& status) MILLRACE_EXCLUDES(mu_);

  const Services& services_;
  const Models models_;
  const size_t fewest_;
  Reply* reply_ = nullptr;  // from Begin on
  TimePoint deadline_{};
  FirstStage first_stage_{*this};
  SecondStage second_stage_{*this};
  bool second_begun_ = false;  // of whoever has set second_busy_

  Mutex mu_;
  PivotSentences sentences_ MILLRACE_GUARDED_BY(mu_);
  bool first_ended_ MILLRACE_GUARDED_BY(mu_) = false;
  bool second_busy_ MILLRACE_GUARDED_BY(mu_) = false;  // it has a job, or is about to
  absl::Status status_ MILLRACE_GUARDED_BY(mu_);       // the first error
};

}  // namespace millrace::server
