#include "server/control/server_status.h"

#include <algorithm>

#include "server/control/version.h"

namespace millrace::server {

std::string ServerStatus::Version() const { return kVersion; }

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

Snapshot ServerStatus::Gauges() const {
  Snapshot s;
  for (const auto& model : directory_.All()) {
    const models::ModelInfo& info = model->info();
    const Scheduler::QueueLoad load = scheduler_.load(model->queue());
    s.models.push_back({.name = info.name,
                        .version = info.version,
                        .task = std::string(models::ToString(info.task())),
                        .queue_depth = load.depth,
                        .queue_oldest_seconds = Seconds(load.oldest),
                        .expected_wait_seconds = load.expected_wait,
                        .idle = !model->loaded(),
                        .memory_bytes = model->loaded() ? model->cost().bytes : 0});
  }
  s.failed_models = models_.Failed();
  s.model_load_failures_total = models_.load_failures();
  s.ready = Ready();
  s.polling_delay_seconds = Seconds(polling_delay_.load());
  s.requests_in_flight = requests_in_flight();
  s.permits = runtime_.limiter().permits();
  s.permits_in_use = runtime_.limiter().in_use();
  s.device_memory_bytes = runtime_.device_bytes();
  const auto streams = runtime_.stream_pool().stats();
  s.streams_leased = streams.leased;
  s.stream_leases_total = streams.leases_total;
  s.stream_lease_refusals_total = streams.refusals_total;
  const runtime::GraphCacheStats graphs = runtime_.graph_cache_stats();
  s.graph_cache_entries = graphs.entries;
  s.graph_cache_bytes = graphs.bytes;
  s.graph_cache_hits_total = graphs.hits;
  s.graph_cache_misses_total = graphs.misses;
  s.graph_cache_evictions_total = graphs.evictions;
  s.shapes = runtime_.shape_stats();
  for (const runtime::ThreadGraphCache& cache : runtime_.thread_graph_caches()) {
    s.worker_caches.push_back({cache.slot, cache.stats.entries, cache.stats.hits,
                               cache.stats.misses, cache.compiled_shapes});
  }
  return s;
}

}  // namespace millrace::server
