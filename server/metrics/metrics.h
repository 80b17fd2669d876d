#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mps_runtime/base/mutex.h"
#include "server/metrics/metric_writer.h"
#include "server/metrics/model_metrics.h"

namespace millrace::server {

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
  explicit Metrics(BuildInfo build, Duration longest_request = std::chrono::minutes(5))
      : build_(std::move(build)), longest_request_(longest_request) {}

  // Returns the metrics of a model, the same object for each call with this name; "" and no task
  // for requests that reached no model. Their counts stay for as long as this object.
  std::shared_ptr<ModelMetrics> ForModel(const std::string& name,
                                         std::optional<models::Task> task = std::nullopt)
      MILLRACE_EXCLUDES(mu_);
  // Adds what collects the metrics of an owner, such as a front end, on a scrape's thread.
  void AddOwner(std::function<void(MetricWriter&)> collect) MILLRACE_EXCLUDES(owners_mu_);
  // Removes all owners, and waits for a scrape under way.
  void RemoveOwners() MILLRACE_EXCLUDES(owners_mu_);
  // The requests that have ended since the start, of all models and methods.
  struct Ended {
    double all = 0;
    double failed = 0;  // refused, or failed for a reason of the server: see IsServersFault
  };
  // Sums some thousand counters, for which no request waits.
  Ended CountEnded() const MILLRACE_EXCLUDES(mu_);
  // Returns the page of a scrape in Prometheus' text format.
  std::string Text() const { return Collect().PrometheusText(); }
  // Returns the page in OpenMetrics' text format, whose histograms of times have sampled requests
  // as exemplars.
  std::string OpenMetrics() const { return Collect().OpenMetrics(); }

 private:
  MetricWriter Collect() const MILLRACE_EXCLUDES(mu_, owners_mu_);

  const BuildInfo build_;
  const Duration longest_request_;
  mutable Mutex mu_;
  std::map<std::string, std::shared_ptr<ModelMetrics>> models_ MILLRACE_GUARDED_BY(mu_);
  mutable Mutex owners_mu_;  // held while they collect
  std::vector<std::function<void(MetricWriter&)>> owners_ MILLRACE_GUARDED_BY(owners_mu_);
};

}  // namespace millrace::server
