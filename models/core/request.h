#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "models/core/payload.h"
#include "models/core/time_limit.h"
#include "mps_runtime/base/clock.h"

namespace millrace::models {

// The receiver of a request's outputs, which also knows whether anybody still wants them. It
// outlives the request. Emit is called on worker threads, in order, one call at a time; Cancel and
// cancelled may be called on any thread.
class OutputSink {
 public:
  virtual ~OutputSink() = default;
  virtual void Emit(Output output) = 0;

  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  virtual bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_{false};
};

// The state that a model keeps of a request between two steps, such as the sentences still to do.
// Each model derives its own.
class RequestState {
 public:
  virtual ~RequestState() = default;
  // Called when the next step may be far away, for example because the client reads slowly:
  // releases resources that others may need. Outputs that were emitted stay valid.
  virtual void Suspend() {}

  // Where the state is kept, such as another process. A step of requests in several places costs
  // as much as a step in each of them.
  struct Place {
    const void* where = nullptr;  // null: the state fits any place
    int steps = 0;                // the number of those that run there
  };
  virtual Place place() const { return {}; }
};

// One request as its model sees it. One worker uses it at a time; other threads may only cancel it,
// through its sink.
class Request {
 public:
  Request(Input input, const TimeLimit& limit, OutputSink& sink, const Clock& clock = Clock::Real())
      : input_(std::move(input)),
        limit_(limit),
        expires_(limit.deadline),
        sink_(sink),
        clock_(clock) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  const Input& input() const { return input_; }
  // The model may move large parts out into its own state.
  Input& mutable_input() { return input_; }
  // When its work is due.
  TimePoint deadline() const { return limit_.deadline; }
  // When it ends for want of time: at its deadline, or later if it makes progress.
  TimePoint expires() const { return expires_; }
  const TimeLimit& limit() const { return limit_; }
  bool is_streamed() const { return limit_.patience > Duration{}; }
  // Gives a streamed request time until its next progress.
  void MakeProgress(TimePoint now) {
    if (is_streamed()) expires_ = std::max(expires_, std::min(limit_.last, now + limit_.patience));
  }
  // Makes the work of a streamed request due when it expires, because it cannot be done before.
  void PostponeDeadline() { limit_.deadline = expires_; }

  bool cancelled() const { return sink_.cancelled(); }
  TimePoint now() const { return clock_.Now(); }
  bool expired() const { return now() >= expires_; }
  // Cheap enough to be called in each decoder step.
  bool ShouldStop() const { return cancelled() || expired(); }

  void Emit(Output output) { sink_.Emit(std::move(output)); }

  // Ends the request; later calls are ignored, and the first status stays. The worker loop delivers
  // it.
  void Finish(absl::Status status) {
    if (outcome_) return;
    if (status.ok()) work_done_ += work_left_;
    work_left_ = 0;
    outcome_ = std::move(status);
  }
  // The status once it is finished; empty while another step is needed.
  const std::optional<absl::Status>& outcome() const { return outcome_; }

  // The work that is left, in the units of Model::EstimateWork.
  double work_left() const { return work_left_; }
  // Corrects the estimate of the work that is left. No work was done.
  void EstimateWorkLeft(double work) { work_left_ = work; }
  // Sets the work that is left after a step; the difference counts as done.
  void AdvanceTo(double work_left) {
    work_done_ += std::max(0.0, work_left_ - work_left);
    work_left_ = work_left;
  }
  // The work that was done since the last call of TakeWorkDone.
  double work_done() const { return work_done_; }
  double TakeWorkDone() { return std::exchange(work_done_, 0.0); }

  RequestState* state() { return state_.get(); }
  RequestState::Place place() const {
    return state_ == nullptr ? RequestState::Place() : state_->place();
  }
  void set_state(std::unique_ptr<RequestState> state) { state_ = std::move(state); }

 private:
  Input input_;
  TimeLimit limit_;
  TimePoint expires_;
  OutputSink& sink_;
  const Clock& clock_;
  std::optional<absl::Status> outcome_;
  double work_left_ = 1;
  double work_done_ = 0;
  std::unique_ptr<RequestState> state_;
};

}  // namespace millrace::models
