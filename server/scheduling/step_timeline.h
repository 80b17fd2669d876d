#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// The steps that each worker runs now and has run last, for people who look at the server; and,
// while somebody records, each of them. Thread-safe; each worker reports its own steps, which costs
// two locks that it seldom shares.
class StepTimeline {
 public:
  // Successive steps of one model. Short steps that follow one another closely share a block, so
  // that a fixed number of blocks covers some seconds of work.
  struct Block {
    std::string model;
    TimePoint begin;
    TimePoint end;
    size_t steps = 0;
    size_t requests = 0;  // summed over the steps
  };
  struct Running {
    std::string model;
    size_t requests = 0;
    TimePoint begin;
  };
  struct Worker {
    uint64_t steps = 0;  // steps that have ended, since the start
    uint64_t requests = 0;
    Duration busy{};  // the time that these took
    std::optional<Running> running;
    std::vector<Block> blocks;  // the oldest first
  };

  // One step, for a recording.
  struct Step {
    std::string model;
    size_t requests = 0;
    TimePoint begin;
    TimePoint end;
  };
  // The steps of a worker that a reader has not seen.
  struct Unseen {
    std::vector<Step> steps;  // the oldest first
    uint64_t next = 0;        // to be given to the next RecordSteps
    uint64_t lost = 0;        // older ones that are no longer kept
  };

  // The most steps that are kept of a worker while they are recorded.
  static constexpr size_t kMaxSteps = 4096;
  // For how long after a call of RecordSteps steps are kept.
  static constexpr std::chrono::seconds kRecordingTime{5};
  // The most blocks that are kept of a worker.
  static constexpr size_t kMaxBlocks = 128;

  explicit StepTimeline(int workers) : workers_(static_cast<size_t>(workers)) {}
  StepTimeline(const StepTimeline&) = delete;
  StepTimeline& operator=(const StepTimeline&) = delete;

  // Worker 0 .. workers - 1 begins a step, and ends it before its next one.
  void Begin(int worker, const std::string& model, size_t requests, TimePoint now);
  void End(int worker, TimePoint now);

  // Returns the state of each worker, with the blocks that ended after `since`.
  std::vector<Worker> Read(TimePoint since) const;
  // Returns the steps of each worker from the number `seen` on, and keeps those to come. seen:
  // `next` of the call before, one for each worker; empty at the first call, which returns no
  // steps.
  std::vector<Unseen> RecordSteps(std::span<const uint64_t> seen, TimePoint now);
  size_t workers() const { return workers_.size(); }

 private:
  // The distance keeps workers from each other's cache lines.
  struct alignas(128) Lane {
    mutable Mutex mu;
    uint64_t steps MILLRACE_GUARDED_BY(mu) = 0;
    uint64_t requests MILLRACE_GUARDED_BY(mu) = 0;
    Duration busy MILLRACE_GUARDED_BY(mu){};
    bool runs MILLRACE_GUARDED_BY(mu) = false;
    Running running MILLRACE_GUARDED_BY(mu);  // keeps its memory from step to step
    std::deque<Block> blocks MILLRACE_GUARDED_BY(mu);
    TimePoint record_until MILLRACE_GUARDED_BY(mu){};
    std::deque<Step> recorded MILLRACE_GUARDED_BY(mu);  // the last ones, without a gap
  };

  std::vector<Lane> workers_;
};

}  // namespace millrace::server
