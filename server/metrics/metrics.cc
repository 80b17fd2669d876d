#include "server/metrics/metrics.h"

#include "models/core/strings.h"
#include "server/metrics/process_stats.h"

namespace millrace::server {

std::shared_ptr<ModelMetrics> Metrics::ForModel(const std::string& name,
                                                std::optional<models::Task> task) {
  MutexLock lock(mu_);
  std::shared_ptr<ModelMetrics>& model = models_[name];
  if (model == nullptr) model = std::make_shared<ModelMetrics>(name, longest_request_);
  // Another version of the model may have another task.
  if (task) model->AddTask(*task);
  return model;
}

void Metrics::AddOwner(std::function<void(MetricWriter&)> collect) {
  MutexLock lock(owners_mu_);
  owners_.push_back(std::move(collect));
}

void Metrics::RemoveOwners() {
  MutexLock lock(owners_mu_);
  owners_.clear();
}

Metrics::Ended Metrics::CountEnded() const {
  Ended ended;
  MutexLock lock(mu_);
  for (const auto& [name, model] : models_) {
    for (const auto& codes : model->requests) {
      for (size_t i = 0; i < kStatusCodes; ++i) {
        const double count = codes[i]->Value();
        ended.all += count;
        if (IsServersFault(static_cast<absl::StatusCode>(i))) ended.failed += count;
      }
    }
  }
  return ended;
}

MetricWriter Metrics::Collect() const {
  MetricWriter writer;
  {
    MutexLock lock(mu_);
    for (const auto& [name, model] : models_) model->Collect(writer);
  }
  MetricWriter::Labels build = {{"cpu_isa", build_.cpu_isa},
                                {"device", build_.device},
                                {"libtorch", build_.libtorch},
                                {"mode", build_.mode}};
  if (build_.mps_patch_level != 0) build.push_back({"mps_patch", StrCat(build_.mps_patch_level)});
  build.push_back({"version", build_.version});
  writer.Gauges("millrace_build_info", "1; its labels say what runs.").Add(1, std::move(build));
  CollectProcess(writer);
  MutexLock lock(owners_mu_);
  for (const auto& collect : owners_) collect(writer);
  return writer;
}

}  // namespace millrace::server
