#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// The steps that each worker runs now and has run last, for people who look at the server.
// Thread-safe; each worker reports its own steps, which costs two locks that it seldom shares.
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
    uint64_t steps = 0;  // that have ended, since the start
    uint64_t requests = 0;
    Duration busy{};  // the time that these took
    std::optional<Running> running;
    std::vector<Block> blocks;  // the oldest first
  };

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
  };

  std::vector<Lane> workers_;
};

}  // namespace millrace::server
