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

// A translation by way of English through two models at once: while the first one translates a
// sentence, the second one translates those before it. Each model has at most one job, whose own
// reply forwards to the request's reply what the client needs: the second model's outputs, the end
// of both jobs, and whether the client is slow.
//
// The first model has one job. Whenever the second is idle, it gets a job of all sentences that
// wait by then. The first error stops both jobs; the request ends with it once neither has a job.
// The first model does not wait for a slow client, since its output is bounded with its text.
//
// Thread-safe. The request's reply owns the pipeline and outlives all jobs.
class PivotPipeline {
 public:
  struct Models {
    std::shared_ptr<ServedModel> first;
    std::shared_ptr<ServedModel> second;
  };
  // fewest: the number of translated sentences, at least 1, that start the second model; with fewer
  // it waits until the first has ended.
  PivotPipeline(const Services& services, Models models, PivotSentences sentences, size_t fewest);
  PivotPipeline(const PivotPipeline&) = delete;
  PivotPipeline& operator=(const PivotPipeline&) = delete;

  // Returns the reply for the first model's job. Must be called once, before that job is queued;
  // from then on `reply` receives outputs, one at a time, and the end. share: of the jobs of the
  // second model.
  Reply& Begin(Reply& reply, TimePoint deadline, const FairShare& share);
  // Takes the jobs of a cancelled request out of the queues. If that ends the request, this object
  // may be gone when the call returns.
  void EndWaiting();

 private:
  // The reply of one model's job.
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

  // Returns true if the second model, which must be idle, has sentences to begin.
  bool MayBeginSecond() const MILLRACE_REQUIRES(mu_);
  // Queues the next job of the second model, or ends the request if none will follow. Called by the
  // thread that set second_busy_. This object may be gone when the call returns.
  void RunSecond() MILLRACE_EXCLUDES(mu_);
  // Makes the next job; null when the waiting sentences need none.
  absl::StatusOr<std::unique_ptr<Job>> MakeSecondJob() MILLRACE_EXCLUDES(mu_);
  // Stops both models. The caller must have a job that keeps the request from ending.
  void Fail(const absl::Status& status) MILLRACE_EXCLUDES(mu_);

  const Services& services_;
  const Models models_;
  const size_t fewest_;
  Reply* reply_ = nullptr;  // from Begin on
  TimePoint deadline_{};
  FairShare share_;
  FirstStage first_stage_{*this};
  SecondStage second_stage_{*this};
  bool second_begun_ = false;  // used by the thread that set second_busy_

  Mutex mu_;
  PivotSentences sentences_ MILLRACE_GUARDED_BY(mu_);
  bool first_ended_ MILLRACE_GUARDED_BY(mu_) = false;
  bool second_busy_ MILLRACE_GUARDED_BY(mu_) = false;  // the second model has a job, or is about to
  absl::Status status_ MILLRACE_GUARDED_BY(mu_);       // the first error
};

}  // namespace millrace::server
