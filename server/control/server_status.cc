#include "server/control/server_status.h"

#include <algorithm>
#include <utility>

#include "server/control/version.h"

namespace millrace::server {

std::string ServerStatus::Version() const { return kVersion; }

void ServerStatus::SetDegraded(std::string degraded) {
  const MutexLock lock(mu_);
  degraded_ = std::move(degraded);
}

std::string ServerStatus::Degraded() const {
  const MutexLock lock(mu_);
  return degraded_;
}

std::optional<ModelStatusView> ServerStatus::FindModel(std::string_view name) const {
  for (ModelStatusView& view : models_.Models()) {
    if (view.info.name == name) return std::move(view);
  }
  return std::nullopt;
}

std::pair<size_t, size_t> ServerStatus::Queue(std::string_view model) const {
  const auto found = directory_.Find(model, "");
  if (!found.ok()) return {0, 0};
  return {scheduler_.depth((*found)->queue()), scheduler_.capacity((*found)->queue())};
}

ServerStatus::Load ServerStatus::CurrentLoad() const {
  Load load{.permits = runtime_.limiter().permits(), .permits_in_use = runtime_.limiter().in_use()};
  for (const auto& model : directory_.All()) {
    const Scheduler::QueueLoad queue = scheduler_.load(model->queue());
    load.queue_depth += queue.depth;
    load.queue_oldest_seconds = std::max(load.queue_oldest_seconds, Seconds(queue.oldest));
    load.expected_wait_seconds = std::max(load.expected_wait_seconds, queue.expected_wait);
  }
  return load;
}

void ServerStatus::Collect(MetricWriter& writer) const {
  writer.Gauge("millrace_server_ready", "1 while requests are accepted.", Ready() ? 1 : 0);
  writer.Gauge("millrace_server_degraded",
               "1 while something is out of order although requests may be served, such as an "
               "executor that has no successor yet.",
               Degraded().empty() ? 0 : 1);
  writer.Gauge("millrace_requests_in_flight", "Requests admitted and not yet answered.",
               requests_in_flight());
  writer.Gauge("millrace_grpc_polling_delay_seconds",
               "Time for which a thread that serves gRPC has not come round to new events; 0 or "
               "about 1 while all is well.",
               Seconds(polling_delay_.load()));
}

}  // namespace millrace::server
