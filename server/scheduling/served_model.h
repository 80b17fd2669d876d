#pragma once

#include <memory>
#include <utility>

#include "models/core/model.h"
#include "server/metrics/inference_counts.h"
#include "server/metrics/model_metrics.h"
#include "server/scheduling/scheduler.h"

namespace millrace::server {

// A loaded model with its queue, its metrics and its counts. Requests in flight share it, so
// unloading only stops new ones: the last of them removes the queue and frees the weights.
// Thread-safe (constant after construction). The scheduler must outlive it.
class ServedModel {
 public:
  ServedModel(std::unique_ptr<const models::Model> model, Scheduler& scheduler,
              std::shared_ptr<ModelMetrics> metrics)
      : scheduler_(scheduler),
        model_(std::move(model)),
        metrics_(std::move(metrics)),
        counts_(model_->info().batching.max_batch),
        queue_(scheduler.AddQueue(model_->info().batching)) {}
  ~ServedModel() { scheduler_.RemoveQueue(queue_); }
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  const models::Model& model() const { return *model_; }
  const models::ModelInfo& info() const { return model_->info(); }
  ModelMetrics& metrics() const { return *metrics_; }
  InferenceCounts& counts() const { return counts_; }
  QueueId queue() const { return queue_; }

 private:
  Scheduler& scheduler_;
  const std::unique_ptr<const models::Model> model_;
  const std::shared_ptr<ModelMetrics>
      metrics_;                     // shared with the registry of metrics, which outlives an unload
  mutable InferenceCounts counts_;  // since this load
  const QueueId queue_;
};

}  // namespace millrace::server
