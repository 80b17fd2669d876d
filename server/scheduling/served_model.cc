#include "server/scheduling/served_model.h"

#include "server/scheduling/job.h"
#include "server/scheduling/unloaded_model.h"

namespace millrace::server {

ServedModel::ServedModel(std::unique_ptr<const models::Model> first, Scheduler& scheduler,
                         std::shared_ptr<ModelMetrics> metrics, LoadCost cost, bool idle)
    : scheduler_(scheduler),
      idle_(idle),
      first_(std::move(first)),
      first_cost_(cost),
      metrics_(std::move(metrics)),
      counts_(first_->info().batching.max_batch),
      queue_(scheduler.AddQueue(first_->info().batching)) {}

std::shared_ptr<ServedModel> ServedModel::MakeIdle(const ServedModel& loaded, Wanted wanted) {
  // The constructor is private, so std::make_shared cannot call it.
  std::shared_ptr<ServedModel> model(new ServedModel(std::make_unique<UnloadedModel>(loaded.info()),
                                                     loaded.scheduler_, loaded.metrics_,
                                                     loaded.cost(), /*idle=*/true));
  // The queue belongs to the model, so it must not keep it.
  const auto want = [weak = std::weak_ptr(model), wanted = std::move(wanted)](Hold::Job job) {
    if (const auto strong = weak.lock()) wanted(strong, job);
  };
  loaded.scheduler_.HoldQueue(model->queue_,
                              {.wanted = want, .load_time = model->first_cost_.time});
  return model;
}

bool ServedModel::MayBecome(const models::ModelInfo& info) const {
  const models::ModelInfo& now = this->info();
  // The counts have room for batches of this size.
  return now.version == info.version && now.task() == info.task() &&
         now.batching.max_batch == info.batching.max_batch;
}

void ServedModel::Load(std::unique_ptr<const models::Model> model, LoadCost cost) {
  late_ = std::move(model);
  late_cost_ = cost;
  loaded_late_.store(late_.get(), std::memory_order_release);
}

void ServedModel::EndHeld(const absl::Status& status) {
  for (std::unique_ptr<Job>& job : scheduler_.TakeHeld(queue_)) FinishJob(std::move(job), status);
}

LoadCost ServedModel::cost() const {
  const bool late = loaded_late_.load(std::memory_order_acquire) != nullptr;
  return late ? late_cost_ : first_cost_;
}

absl::Status ServedModel::CheckLate(const models::Input& input,
                                    const models::Model* checked_by) const {
  if (!idle_) return absl::OkStatus();
  const models::Model& loaded = model();
  return checked_by == &loaded ? absl::OkStatus() : loaded.Validate(input);
}

}  // namespace millrace::server
