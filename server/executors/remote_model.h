#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/core/model.h"
#include "mps_runtime/base/clock.h"
#include "server/scheduling/unloaded_model.h"

namespace millrace::server {

class ExecutorPool;

// A model that executors hold, as the front has it. Inputs are checked by the executor, with the
// first step of a request; the state of a request is there too. When an executor dies, the requests
// that it had run again on another one, once they have their next step:
//
//  - Speech goes on behind the last sentence that was delivered, everything else begins again.
//    Outputs that were delivered are dropped when they come again. If others come, the request ends
//    with INTERNAL, since its client has half of something else.
//  - A request that was in a step when an executor died by its own fault is a suspect: from then on
//    nothing else runs in its executor during its steps. If that dies again, the request is
//    convicted: it ends with INTERNAL, and for an hour its copies are INVALID_ARGUMENT.
//  - After kMostReplays of deaths in its steps, and when the pool's budget is spent, it ends with
//    UNAVAILABLE.
//
// The pool must outlive it.
class RemoteModel final : public models::Model {
 public:
  // So many replays in a row may follow deaths in a request's steps. An output that is new for its
  // client begins a new row.
  static constexpr int kMostReplays = 8;
  // So many may follow deaths of executors that were out of memory, which the request may be the
  // cause of.
  static constexpr int kMostReplaysWithoutMemory = 2;

  RemoteModel(models::ModelInfo info, uint64_t id, ExecutorPool& pool);
  ~RemoteModel() override;

  const models::ModelInfo& info() const override { return description_.info(); }
  absl::Status Validate(const models::Input& input) const override;
  double EstimateWork(const models::Input& input) const override {
    return description_.EstimateWork(input);
  }
  std::unique_ptr<models::Batch> Prepare(std::span<models::Request* const> requests) const override;
  // The executor has warmed up.
  std::vector<models::Input> WarmupInputs() const override { return {}; }

 private:
  class RemoteBatch;

  // Names what a request asks for, in this process.
  size_t Fingerprint(const models::Input& input) const;

  const UnloadedModel description_;
  const uint64_t id_;
  ExecutorPool& pool_;
  // The longest step that has ended.
  mutable std::atomic<Duration::rep> longest_step_{0};
};

}  // namespace millrace::server
