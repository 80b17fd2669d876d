#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/translation/translation_cache.h"
#include "mps_runtime/shape_registry.h"
#include "server/metrics/model_metrics.h"

namespace prometheus {
class Exposer;
}

namespace millrace::server {

// What gauges show at the moment of a scrape; read from the components that own the numbers.
struct Snapshot {
  struct Model {
    std::string name;
    int64_t version = 0;
    std::string task;
    size_t queue_depth = 0;
  };
  std::vector<Model> models;
  bool ready = false;
  int64_t requests_in_flight = 0;
  int permits = 0;
  int permits_in_use = 0;
  int64_t device_memory_bytes = 0;
  int streams_leased = 0;
  uint64_t stream_leases_total = 0;
  uint64_t stream_lease_refusals_total = 0;
  size_t graph_cache_entries = 0;
  size_t graph_cache_bytes = 0;
  uint64_t graph_cache_hits_total = 0;
  uint64_t graph_cache_misses_total = 0;
  uint64_t graph_cache_evictions_total = 0;
  runtime::ShapeStats shapes = {};
  models::TranslationCache::Stats translations = {};
};

// Labels of millrace_build_info.
struct BuildInfo {
  std::string version;
  std::string libtorch;
  std::string device;
  std::string mode;
};

// All metrics of the process. Labels are bounded: model names come from the repository, never from
// a request. Thread-safe.
class Metrics {
 public:
  explicit Metrics(const BuildInfo& build);
  ~Metrics();

  // The metrics of a model, the same at each call with this name; "" for requests that reached no
  // model. They live as long as this.
  std::shared_ptr<ModelMetrics> ForModel(const std::string& name);
  // Where the gauges come from; called on a scrape's thread. Before it is set the gauges are
  // missing.
  void SetSnapshot(std::function<Snapshot()> snapshot);
  // Serves GET /metrics on an address such as "127.0.0.1:8002" (port 0: a free one); returns the
  // port.
  absl::StatusOr<int> Expose(const std::string& address);
  // The page as a scrape would see it.
  std::string Text() const;

 private:
  class CountedCollector;
  class SnapshotCollector;

  const std::shared_ptr<CountedCollector> counted_;
  const std::shared_ptr<SnapshotCollector> snapshot_;
  std::unique_ptr<prometheus::Exposer> exposer_;  // last: its threads read the others
};

}  // namespace millrace::server
