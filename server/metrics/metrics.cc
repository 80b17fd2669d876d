#include "server/metrics/metrics.h"

#include <utility>

#include "mps_runtime/base/mutex.h"
#include "prometheus/collectable.h"
#include "prometheus/text_serializer.h"
#include "server/metrics/counted_collector.h"
#include "server/metrics/open_metrics.h"
#include "server/metrics/process_stats.h"
#include "server/metrics/single_metric.h"
#include "server/metrics/snapshot_families.h"

namespace millrace::server {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

std::vector<MetricFamily> CollectProcess() {
  const ProcessStats stats = ReadProcessStats();
  return {
      Single("process_resident_memory_bytes", "Resident memory.", MetricType::Gauge,
             stats.resident_bytes),
      Single("process_cpu_seconds_total", "User and system time spent.", MetricType::Counter,
             stats.cpu_seconds),
      Single("process_start_time_seconds", "Start of the process since the epoch.",
             MetricType::Gauge, stats.start_time_seconds),
      Single("process_open_fds", "Open file descriptors.", MetricType::Gauge, stats.open_fds),
  };
}

}  // namespace

// Reads the gauges when they are scraped, so that requests pay nothing for them.
class Metrics::SnapshotCollector final : public prometheus::Collectable {
 public:
  void Set(std::function<Snapshot()> source) MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    source_ = std::move(source);
  }

  std::vector<MetricFamily> Collect() const override {
    std::vector<MetricFamily> families = CollectProcess();
    MutexLock lock(
        mu_);  // held while reading, so that SetSnapshot(nullptr) waits for a scrape under way
    if (source_) AppendSnapshot(source_(), families);
    return families;
  }

 private:
  mutable Mutex mu_;
  std::function<Snapshot()> source_ MILLRACE_GUARDED_BY(mu_);
};

Metrics::Metrics(const BuildInfo& build, Duration longest_request)
    : counted_(std::make_shared<CountedCollector>(build, longest_request)),
      snapshot_(std::make_shared<SnapshotCollector>()) {}

Metrics::~Metrics() = default;

std::shared_ptr<ModelMetrics> Metrics::ForModel(const std::string& name,
                                                std::optional<models::Task> task) {
  return counted_->ForModel(name, task);
}

void Metrics::SetSnapshot(std::function<Snapshot()> snapshot) {
  snapshot_->Set(std::move(snapshot));
}

Metrics::Ended Metrics::CountEnded() const { return counted_->CountEnded(); }

std::string Metrics::Text() const {
  std::vector<MetricFamily> families = counted_->Collect();
  for (MetricFamily& family : snapshot_->Collect()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

std::string Metrics::OpenMetrics() const {
  std::vector<AnnotatedFamily> families = counted_->CollectAnnotated();
  for (MetricFamily& family : snapshot_->Collect()) families.push_back({std::move(family), {}});
  return OpenMetricsText(families);
}

}  // namespace millrace::server
