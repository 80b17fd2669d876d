#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/core/lru_cache.h"
#include "mps_runtime/shape_registry.h"
#include "server/metrics/model_metrics.h"

namespace millrace::server {

// The values of the gauges at the moment of a scrape, read from the components that own the
// numbers.
struct Snapshot {
  struct Model {
    std::string name;
    int64_t version = 0;
    std::string task;
    size_t queue_depth = 0;
    double queue_oldest_seconds = 0;
    double expected_wait_seconds = 0;
    bool idle = false;          // not in memory until the next request
    uint64_t memory_bytes = 0;  // estimate; 0 while it is idle
  };
  std::vector<Model> models;
  std::vector<std::string> failed_models;  // their last load failed; some may be loaded
  uint64_t model_load_failures_total = 0;
  bool ready = false;
  double polling_delay_seconds = 0;
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
  // The graph caches of workers that compile on their own; empty on other devices.
  struct WorkerCache {
    int worker = 0;  // 0: the main thread, which loads models
    size_t entries = 0;
    uint64_t hits = 0;
    uint64_t misses = 0;
    size_t compiled_shapes = 0;
  };
  std::vector<WorkerCache> worker_caches = {};
  models::LruStats translations = {};
  models::LruStats speech = {};
  // The counts of gRPC connections.
  struct Connections {
    int64_t open = 0;
    // Connections that the server did not accept, or closed, by reason.
    uint64_t refused = 0;
    uint64_t made_room = 0;
    std::vector<std::pair<std::string_view, uint64_t>> abuse = {};  // by its kind
  };
  Connections connections = {};
  uint64_t incomplete_calls_refused_total = 0;
  // Requests that the HTTP servers refused, by status; see HttpServer::CountRefusals.
  std::vector<std::pair<int, uint64_t>> http_refused_total = {};
  // Calls that were refused over gRPC, by code; see CallRefusals.
  std::vector<std::pair<std::string_view, uint64_t>> grpc_refused_total = {};
  struct WebSockets {
    size_t open = 0;
    uint64_t opened_total = 0;
  };
  WebSockets web_sockets = {};
  // The unloading of models that are not used, and their loading for a request, since the start.
  struct IdleModels {
    uint64_t unloaded_idle = 0;
    uint64_t unloaded_for_memory = 0;
    uint64_t loads = 0;  // that succeeded
    uint64_t failed_loads = 0;
    double load_seconds = 0;  // of all loads
    size_t waiting = 0;       // requests that wait for a load now
  };
  IdleModels idle_models = {};
  // The counts of spans of traces.
  struct Traces {
    size_t queued = 0;
    uint64_t exported_total = 0;
    // Dropped spans, by reason.
    uint64_t queue_full = 0;
    uint64_t too_many = 0;
    uint64_t export_failed = 0;
    uint64_t rejected = 0;
  };
  Traces traces = {};
  // The use of the server by a key since the start; there are none without a policy.
  struct Key {
    std::string name;  // label
    uint64_t requests_total = 0;
    std::vector<std::pair<std::string_view, uint64_t>> refused_total;  // by limit
    double characters_total = 0;
    double audio_seconds_total = 0;
    double worker_seconds_total = 0;
    int64_t requests_in_flight = 0;
  };
  std::vector<Key> keys = {};
};

// The labels of millrace_build_info.
struct BuildInfo {
  std::string version;
  std::string libtorch;
  std::string device;
  std::string mode;
  std::string cpu_isa;
  int mps_patch_level = 0;  // 0: no label
};

// All metrics of the process. Labels are bounded: model names come from the repository, never from
// a request. The page shows each metric that applies to a model's task at 0 from the start, since a
// rate needs the value before the first event. Status codes without an alert, and the times of a
// method, begin with the first request that has them. Thread-safe.
class Metrics {
 public:
  // Histograms of times extend to `longest_request`.
  explicit Metrics(const BuildInfo& build, Duration longest_request = std::chrono::minutes(5));
  ~Metrics();

  // Returns the metrics of a model, the same object for each call with this name; "" and no task
  // for requests that reached no model. They live as long as this object.
  std::shared_ptr<ModelMetrics> ForModel(const std::string& name,
                                         std::optional<models::Task> task = std::nullopt);
  // Sets the source of the gauges, which is called on a scrape's thread. The gauges are missing
  // until it is set.
  void SetSnapshot(std::function<Snapshot()> snapshot);
  // The requests that have ended since the start, of all models and methods.
  struct Ended {
    double all = 0;
    double failed = 0;  // refused, or failed for a reason of the server: see IsServersFault
  };
  // Sums some thousand counters, for which no request waits.
  Ended CountEnded() const;
  // Returns the page of a scrape in Prometheus' text format.
  std::string Text() const;
  // Returns the page in OpenMetrics' text format, whose histograms of times have sampled requests
  // as exemplars.
  std::string OpenMetrics() const;

 private:
  class CountedCollector;
  class SnapshotCollector;

  const std::shared_ptr<CountedCollector> counted_;
  const std::shared_ptr<SnapshotCollector> snapshot_;
};

}  // namespace millrace::server
