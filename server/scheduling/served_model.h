#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "models/core/model.h"
#include "server/metrics/inference_counts.h"
#include "server/metrics/model_metrics.h"
#include "server/scheduling/scheduler.h"

namespace millrace::server {

// The cost of having a model in memory.
struct LoadCost {
  uint64_t bytes = 0;  // estimate of its memory
  Duration time{};     // how long loading and warming it up took
};

// A model with its queue, its metrics and its counts. Requests in flight share it, so unloading
// only stops new ones: the last of them removes the queue and frees the weights.
//
// One that is made idle has no weights: a description stands for the model, and jobs wait in its
// queue, unchecked, until it is loaded. It is loaded once and never becomes idle again; instead,
// another idle one takes its place. Thread-safe. The scheduler must outlive it.
class ServedModel {
 public:
  // Asks for an idle model to be loaded: see Hold.
  using Wanted = std::function<void(const std::shared_ptr<ServedModel>&, Hold::Job)>;

  ServedModel(std::unique_ptr<const models::Model> model, Scheduler& scheduler,
              std::shared_ptr<ModelMetrics> metrics, LoadCost cost = {})
      : ServedModel(std::move(model), scheduler, std::move(metrics), cost, /*idle=*/false) {}
  ~ServedModel() { scheduler_.RemoveQueue(queue_); }
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  // Makes an idle model to take the place of one that is loaded.
  static std::shared_ptr<ServedModel> MakeIdle(const ServedModel& loaded, Wanted wanted);

  bool made_idle() const { return idle_; }
  // Returns true if the model is in memory, so that its queue is served or will be at once.
  bool loaded() const { return !idle_ || loaded_late_.load(std::memory_order_acquire) != nullptr; }
  // Returns true if jobs that wait here may run on a model with this description.
  bool MayBecome(const models::ModelInfo& info) const;
  // Gives an idle model its weights. MayBecome must hold. Jobs still wait until Release. Called at
  // most once, by one thread.
  void Load(std::unique_ptr<const models::Model> model, LoadCost cost);
  // Lets the jobs run that waited for the model to be loaded.
  void Release() { scheduler_.Release(queue_, info().batching); }
  // Ends the jobs that wait for the model to be loaded. There are none if it was released.
  void EndHeld(const absl::Status& status);

  // The model or, as long as it is not loaded, what stands for it. References stay valid.
  const models::Model& model() const {
    const models::Model* late = idle_ ? loaded_late_.load(std::memory_order_acquire) : nullptr;
    return late != nullptr ? *late : *first_;
  }
  const models::ModelInfo& info() const { return model().info(); }
  // The cost of having it in memory: once it is loaded, of this load; before, of the last one.
  LoadCost cost() const;
  ModelMetrics& metrics() const { return *metrics_; }
  InferenceCounts& counts() const { return counts_; }
  QueueId queue() const { return queue_; }

  // Checks the input of a job that may have been queued when the model was not loaded. checked_by:
  // the model that has checked it; null if none has.
  absl::Status CheckLate(const models::Input& input, const models::Model* checked_by) const;

 private:
  ServedModel(std::unique_ptr<const models::Model> first, Scheduler& scheduler,
              std::shared_ptr<ModelMetrics> metrics, LoadCost cost, bool idle);

  Scheduler& scheduler_;
  const bool idle_;                                   // it was made idle
  const std::unique_ptr<const models::Model> first_;  // the model, or its description
  const LoadCost first_cost_;
  // Written by Load before loaded_late_.
  std::unique_ptr<const models::Model> late_;
  LoadCost late_cost_;
  std::atomic<const models::Model*> loaded_late_{nullptr};
  const std::shared_ptr<ModelMetrics>
      metrics_;                     // shared with the registry of metrics, which outlives an unload
  mutable InferenceCounts counts_;  // since this load
  const QueueId queue_;
};

}  // namespace millrace::server
