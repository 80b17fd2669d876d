#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {

// Callers who each send a request after another, and what became of these.
struct Callers {
  std::shared_ptr<ServedModel> model;
  int count = 0;
  int sentences = 0;     // per request
  Duration deadline{};   // for each request; 0: none
  double misjudged = 1;  // how many times as long as its text a request proves to be
  Duration gives_up{};   // so long after a request it is cancelled; 0: never
  FairShare share = {};
  // Refused callers come again so much later.
  Duration pause = std::chrono::milliseconds(200);

  int ended = 0;      // OK
  int late = 0;       // admitted, and over its deadline
  int refused = 0;    // at once
  int sent_away = 0;  // after a wait, without having begun
  int cancelled = 0;
  Duration sum{};  // over those that ended
  std::vector<Duration> times = {};
};

// Workers of a scheduler and its callers, in virtual time and on one thread: the same every time.
//
// A request is a number of sentences; a step does one of each of its requests, or, where batches
// are continuous, a part of as many as there are rows for.
class ClosedLoops {
 public:
  struct Speed {
    Duration step{};      // whatever its size
    Duration sentence{};  // for each in addition
    size_t rows = 0;      // continuous: sentences in work at once
    int parts = 1;        // steps that a sentence takes
  };
  static constexpr double kWorkOfSentence = 100;

  ClosedLoops(int workers, int queue_size = 256)
      : workers_(workers),
        scheduler_({.default_queue_size = static_cast<size_t>(queue_size), .workers = workers},
                   clock_),
        steps_(workers) {}
  ~ClosedLoops() {
    std::vector<std::unique_ptr<Job>> left = scheduler_.Close();
    for (Step& step : steps_) std::ranges::move(step.batch, std::back_inserter(left));
    for (auto& job : left) FinishJob(std::move(job), absl::UnavailableError("over"));
  }

  std::shared_ptr<ServedModel> AddModel(const std::string& name, const Speed& speed,
                                        models::BatchPolicy policy = {}) {
    auto model =
        Serve(scheduler_, metrics_, name, policy, {.estimate_work = [](const models::Input& input) {
                return static_cast<double>(std::get<models::SynthesizeInput>(input).text.size());
              }});
    models_.push_back({model.get(), speed});
    return model;
  }
  Callers& Add(Callers callers) {
    callers_.push_back(std::move(callers));
    Callers& added = callers_.back();
    for (int i = 0; i < added.count; ++i) At(clock_.Now(), [this, &added] { Send(added); });
    return added;
  }
  // Speed of everything from then on, as when another process wants the machine.
  void SlowDown(double times) { slowness_ = times; }

  void RunFor(Duration time) {
    const TimePoint end = clock_.Now() + time;
    while (!events_.empty() && events_.begin()->first.first <= end) {
      auto event = events_.extract(events_.begin());
      clock_.Advance(event.key().first - clock_.Now());
      event.mapped()();
      Dispatch();
    }
    clock_.Advance(end - clock_.Now());
  }
  // Sentences that were done of requests that ended well, since this was last called.
  int TakeUseful() { return std::exchange(useful_, 0); }

 private:
  // Deletes itself at its end.
  class Call final : public Reply {
   public:
    Call(ClosedLoops& loops, Callers& callers)
        : loops_(loops), callers_(callers), start_(loops.clock_.Now()) {}
    void Emit(models::Output) override {}
    void Finish(const absl::Status& status) override {
      loops_.calls_.erase(
          std::ranges::find(loops_.calls_, number, &std::pair<size_t, Call*>::first));
      loops_.End(callers_, status, loops_.clock_.Now() - start_);
      delete this;
    }
    size_t number = 0;
    double sentences_left = 0;

   private:
    ClosedLoops& loops_;
    Callers& callers_;
    const TimePoint start_;
  };
  // The step of a worker; an empty batch: none.
  struct Step {
    std::vector<std::unique_ptr<Job>> batch;
    Duration took;
    std::vector<double> done;  // sentences of each
  };

  void At(TimePoint at, std::function<void()> action) {
    events_.emplace(std::pair(at, ++number_), std::move(action));
  }

  void Send(Callers& callers) {
    auto* call = new Call(*this, callers);
    call->number = ++number_;
    call->sentences_left = callers.misjudged * callers.sentences;
    models::SynthesizeInput input;
    input.text.assign(static_cast<size_t>(callers.sentences * kWorkOfSentence), 'a');
    const TimePoint deadline =
        callers.deadline.count() == 0 ? TimePoint::max() : clock_.Now() + callers.deadline;
    auto job = std::make_unique<Job>(std::move(input), deadline, *call, callers.model, clock_,
                                     callers.share);
    calls_.emplace_back(call->number, call);
    const absl::Status status = scheduler_.Submit(job);
    if (!status.ok()) {
      job.reset();
      calls_.pop_back();
      delete call;
      ++callers.refused;
      At(clock_.Now() + callers.pause, [this, &callers] { Send(callers); });
      return;
    }
    const size_t number = calls_.back().first;
    const QueueId queue = callers.model->queue();
    if (deadline != TimePoint::max()) At(deadline, [this, number, queue] { Leave(number, queue); });
    if (callers.gives_up.count() != 0)
      At(clock_.Now() + callers.gives_up, [this, number, queue] { Leave(number, queue); });
  }

  void Leave(size_t number, QueueId queue) {
    const auto found = std::ranges::find(calls_, number, &std::pair<size_t, Call*>::first);
    if (found == calls_.end()) return;
    found->second->Cancel();
    if (auto job = scheduler_.Remove(queue, *found->second)) {
      const absl::Status status = StopStatus(job->request);
      FinishJob(std::move(job), status);
    }
  }

  void End(Callers& callers, const absl::Status& status, Duration took) {
    Duration pause{};
    if (status.ok()) {
      ++callers.ended;
      useful_ += callers.sentences;
      callers.sum += took;
      callers.times.push_back(took);
    } else if (absl::IsDeadlineExceeded(status)) {
      ++callers.late;
    } else if (absl::IsResourceExhausted(status)) {
      ++callers.sent_away;
      pause = callers.pause;
    } else {
      ++callers.cancelled;
    }
    At(clock_.Now() + pause, [this, &callers] { Send(callers); });
  }

  static Call& CallOf(Job& job) { return static_cast<Call&>(job.reply); }

  void Dispatch() {
    for (int worker = 0; worker < workers_; ++worker) {
      while (steps_[worker].batch.empty() && Waiting()) {
        Scheduler::Popped popped;
        scheduler_.PopBatch(popped);
        for (auto& job : popped.dropped) {
          const auto outcome = job->request.outcome();
          const absl::Status status = outcome ? *outcome : StopStatus(job->request);
          FinishJob(std::move(job), status);
        }
        if (!popped.batch.empty()) Start(worker, std::move(popped.batch));
      }
    }
  }
  bool Waiting() const {
    return std::ranges::any_of(
        models_, [&](const auto& model) { return scheduler_.depth(model.first->queue()) != 0; });
  }

  void Start(int worker, std::vector<std::unique_ptr<Job>> batch) {
    const Speed& speed = std::ranges::find(models_, batch.front()->model.get(),
                                           &std::pair<ServedModel*, Speed>::first)
                             ->second;
    Step& step = steps_[worker];
    step.done.clear();
    // Each has one in work; where batches are continuous the rows that are left go round.
    std::vector<int> in_work(batch.size(), 1);
    auto sentences = static_cast<double>(batch.size());
    for (bool more = speed.rows > 0; more;) {
      more = false;
      for (size_t i = 0; i < batch.size() && sentences < static_cast<double>(speed.rows); ++i) {
        if (in_work[i] >= CallOf(*batch[i]).sentences_left) continue;
        ++in_work[i];
        ++sentences;
        more = true;
      }
    }
    for (const int each : in_work) step.done.push_back(static_cast<double>(each) / speed.parts);
    step.took = std::chrono::duration_cast<Duration>(
        slowness_ * (std::chrono::duration<double>(speed.step) +
                     sentences * std::chrono::duration<double>(speed.sentence)));
    step.batch = std::move(batch);
    At(clock_.Now() + step.took, [this, worker] { EndOf(std::exchange(steps_[worker], {})); });
  }

  void EndOf(Step step) {
    double work = 0;
    const QueueId queue = step.batch.front()->model->queue();
    for (size_t i = 0; i < step.batch.size(); ++i) {
      Job& job = *step.batch[i];
      Call& call = CallOf(job);
      if (job.service.count() == 0)
        job.request.EstimateWorkLeft(call.sentences_left * kWorkOfSentence);
      call.sentences_left -= step.done[i];
      if (call.sentences_left > 1e-6) {
        job.request.AdvanceTo(call.sentences_left * kWorkOfSentence);
      } else {
        job.request.Finish(absl::OkStatus());
      }
    }
    scheduler_.EndStep(step.batch, step.took);
    size_t quick = 0;
    for (const auto& job : step.batch) {
      work += job->request.TakeWorkDone();
      quick += job->quick ? 1 : 0;
    }
    const size_t jobs = step.batch.size();
    for (auto& job : step.batch) {
      if (const auto outcome = job->request.outcome()) {
        FinishJob(std::move(job), *outcome);
      } else if (job->request.ShouldStop()) {
        const absl::Status status = StopStatus(job->request);
        FinishJob(std::move(job), status);
      } else {
        scheduler_.Requeue(std::move(job), Scheduler::Wake::kNobody);
      }
    }
    scheduler_.ReportStep(queue, {.jobs = jobs, .took = step.took, .work = work, .quick = quick});
  }

  const int workers_;
  testing::FakeClock clock_;
  Metrics metrics_{BuildInfo{}};
  Scheduler scheduler_;
  std::vector<std::pair<ServedModel*, Speed>> models_;
  std::deque<Callers> callers_;
  std::vector<std::pair<size_t, Call*>> calls_;
  std::vector<Step> steps_;                                               // by worker
  std::map<std::pair<TimePoint, size_t>, std::function<void()>> events_;  // in the order added
  size_t number_ = 0;
  int useful_ = 0;
  double slowness_ = 1;
};

}  // namespace millrace::server
