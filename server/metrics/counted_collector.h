#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mps_runtime/base/mutex.h"
#include "prometheus/client_metric.h"
#include "prometheus/collectable.h"
#include "prometheus/metric_family.h"
#include "prometheus/metric_type.h"
#include "server/metrics/metrics.h"
#include "server/metrics/open_metrics.h"
#include "server/metrics/sharded_counter.h"
#include "server/metrics/sharded_histogram.h"

namespace millrace::server {

// The counters and histograms of all models, and the constant families. Thread-safe.
class Metrics::CountedCollector final : public prometheus::Collectable {
 public:
  CountedCollector(const BuildInfo& build, Duration longest_request);

  // As Metrics has it.
  std::shared_ptr<ModelMetrics> ForModel(const std::string& name, std::optional<models::Task> task)
      MILLRACE_EXCLUDES(mu_);
  // As Metrics has it.
  Ended CountEnded() const MILLRACE_EXCLUDES(mu_);
  std::vector<prometheus::MetricFamily> Collect() const override MILLRACE_EXCLUDES(mu_);
  // Returns the families with the exemplars of their histograms.
  std::vector<AnnotatedFamily> CollectAnnotated() const MILLRACE_EXCLUDES(mu_);

 private:
  using Labels = std::vector<prometheus::ClientMetric::Label>;

  // A set of tasks, one bit each.
  using Kinds = unsigned;
  static constexpr Kinds kNoKind = 0;
  static constexpr Kinds kEveryKind = 1;
  static Kinds KindOf(models::Task task) { return Kinds{2} << static_cast<unsigned>(task); }

  struct Model {
    std::shared_ptr<ModelMetrics> metrics;
    Kinds kinds = kEveryKind;
  };

  template <typename Metric>
  struct Member {
    Labels labels;
    const Metric* metric;
    const Model* model;
    Kinds zero_for;  // tasks of models for which the page shows it at 0
  };

  // All metrics of one name.
  template <typename Metric>
  struct Family {
    AnnotatedFamily Collect(prometheus::MetricType type) const;

    const char* name;
    const char* help;
    std::vector<Member<Metric>> members;
  };

  // The owner is the entry of the model in models_.
  std::shared_ptr<ModelMetrics> MakeModel(const std::string& name, const Model& owner)
      MILLRACE_REQUIRES(mu_);

  static constexpr size_t kCountersOfAModel = 5 + kRefusals + kMethods * kStatusCodes;

  const std::vector<double> latency_buckets_;
  const prometheus::MetricFamily build_info_;
  mutable Mutex mu_;
  // Its values do not move.
  std::map<std::string, Model> models_ MILLRACE_GUARDED_BY(mu_);
  // Deques, because their elements must not move.
  std::deque<ShardedCounters> counters_ MILLRACE_GUARDED_BY(mu_);
  std::deque<ShardedHistogram> histograms_ MILLRACE_GUARDED_BY(mu_);
  Family<ShardedCounter> requests_ MILLRACE_GUARDED_BY(mu_){
      "millrace_requests_total", "Finished requests by gRPC status code.", {}};
  Family<ShardedCounter> refused_ MILLRACE_GUARDED_BY(mu_){
      "millrace_requests_refused_total", "Requests that the server refused, by reason.", {}};
  Family<ShardedCounter> helped_ MILLRACE_GUARDED_BY(mu_){
      "millrace_helped_seconds_total",
      "Time that idle workers spent on parts of other workers' forwards.",
      {}};
  Family<ShardedCounter> audio_ MILLRACE_GUARDED_BY(mu_){
      "millrace_audio_seconds_total", "Seconds of speech produced.", {}};
  Family<ShardedCounter> characters_ MILLRACE_GUARDED_BY(mu_){
      "millrace_characters_total", "Characters of text processed.", {}};
  Family<ShardedCounter> tokens_ MILLRACE_GUARDED_BY(mu_){
      "millrace_tokens_total", "Tokens read and produced.", {}};
  Family<ShardedHistogram> request_seconds_ MILLRACE_GUARDED_BY(mu_){
      "millrace_request_duration_seconds", "From arrival to the last reply.", {}};
  Family<ShardedHistogram> queue_seconds_ MILLRACE_GUARDED_BY(mu_){
      "millrace_queue_duration_seconds",
      "Waiting in the queue, before all of a request's steps together.",
      {}};
  Family<ShardedHistogram> compute_seconds_ MILLRACE_GUARDED_BY(mu_){
      "millrace_compute_duration_seconds", "The forward of one batch.", {}};
  Family<ShardedHistogram> permit_seconds_ MILLRACE_GUARDED_BY(mu_){
      "millrace_permit_wait_seconds", "Waiting for a permit before a forward.", {}};
  Family<ShardedHistogram> first_audio_seconds_ MILLRACE_GUARDED_BY(mu_){
      "millrace_time_to_first_audio_seconds", "From arrival to the first audio.", {}};
  Family<ShardedHistogram> batch_size_ MILLRACE_GUARDED_BY(mu_){
      "millrace_batch_size", "Requests in one step.", {}};
};

}  // namespace millrace::server
