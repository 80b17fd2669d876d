#pragma once

#include <memory>
#include <utility>

#include "models/core/model.h"
#include "server/metrics/model_metrics.h"
#include "server/scheduling/scheduler.h"

namespace millrace::server {

// A loaded model with its queue and its metrics. Requests in flight share it, so unloading only
// stops new ones: the last of them removes the queue and frees the weights. Thread-safe (constant
// after construction). The scheduler must outlive it.
class ServedModel {
 public:
  ServedModel(std::unique_ptr<const models::Model> model, Scheduler& scheduler,
              std::shared_ptr<ModelMetrics> metrics)
      : scheduler_(scheduler),
        model_(std::move(model)),
        metrics_(std::move(metrics)),
        queue_(scheduler.AddQueue(model_->info().batching)) {}
  ~ServedModel() { scheduler_.RemoveQueue(queue_); }
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  const models::Model& model() const { return *model_; }
  const models::ModelInfo& info() const { return model_->info(); }
  ModelMetrics& metrics() const { return *metrics_; }
  QueueId queue() const { return queue_; }

 private:
  Scheduler& scheduler_;
  const std::unique_ptr<const models::Model> model_;
  const std::shared_ptr<ModelMetrics>
      metrics_;  // shared with the registry of metrics, which outlives an unload
  const QueueId queue_;
};

}  // namespace millrace::server
