#include "server/metrics/counted_collector.h"

#include <type_traits>
#include <utility>

#include "server/metrics/single_metric.h"

namespace millrace::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// The buckets begin at a null model's tens of microseconds, with about three a decade, and end at
// the longest request: anything longer was ended at its deadline.
std::vector<double> LatencyBuckets(Duration longest_request) {
  constexpr double kBounds[] = {0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                0.025,   0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,
                                10,      25,     60,      120,    300,   900,    3600,  14400};
  const double longest = Seconds(longest_request);
  std::vector<double> bounds;
  for (const double bound : kBounds) {
    if (bound < longest) bounds.push_back(bound);
  }
  bounds.push_back(longest);
  return bounds;
}

const std::vector<double> kBatchBuckets = {1, 2, 4, 8, 16, 32, 64, 128, 256};

std::vector<ClientMetric::Label> LabelsOf(const BuildInfo& build) {
  std::vector<ClientMetric::Label> labels = {{"cpu_isa", build.cpu_isa},
                                             {"device", build.device},
                                             {"libtorch", build.libtorch},
                                             {"mode", build.mode}};
  if (build.mps_patch_level != 0)
    labels.push_back({"mps_patch", std::to_string(build.mps_patch_level)});
  labels.push_back({"version", build.version});
  return labels;
}

}  // namespace

Metrics::CountedCollector::CountedCollector(const BuildInfo& build, Duration longest_request)
    : latency_buckets_(LatencyBuckets(longest_request)),
      build_info_{"millrace_build_info",
                  "1; its labels say what runs.",
                  MetricType::Gauge,
                  {Value(1, MetricType::Gauge, LabelsOf(build))}} {}

template <typename Metric>
AnnotatedFamily Metrics::CountedCollector::Family<Metric>::Collect(MetricType type) const {
  AnnotatedFamily annotated{{name, help, type, {}}, {}};
  for (const Member<Metric>& member : members) {
    ClientMetric collected = member.metric->Collect();
    const bool happened = collected.counter.value != 0 || collected.histogram.sample_count != 0;
    if (!happened && (member.model->kinds & member.zero_for) == 0) continue;
    collected.label = member.labels;
    annotated.family.metric.push_back(std::move(collected));
    if constexpr (std::is_same_v<Metric, ShardedHistogram>)
      annotated.exemplars.push_back(member.metric->Exemplars());
  }
  return annotated;
}

std::shared_ptr<ModelMetrics> Metrics::CountedCollector::ForModel(
    const std::string& name, std::optional<models::Task> task) {
  MutexLock lock(mu_);
  Model& model = models_[name];
  if (!model.metrics) model.metrics = MakeModel(name, model);
  // Another version of the model may have another task.
  if (task) model.kinds |= KindOf(*task);
  return model.metrics;
}

Metrics::Ended Metrics::CountedCollector::CountEnded() const {
  Ended ended;
  MutexLock lock(mu_);
  for (const auto& [name, model] : models_) {
    for (const auto& codes : model.metrics->requests) {
      for (size_t i = 0; i < kStatusCodes; ++i) {
        const double count = codes[i]->Value();
        ended.all += count;
        if (IsServersFault(static_cast<absl::StatusCode>(i))) ended.failed += count;
      }
    }
  }
  return ended;
}

std::vector<MetricFamily> Metrics::CountedCollector::Collect() const {
  std::vector<MetricFamily> families;
  for (AnnotatedFamily& annotated : CollectAnnotated())
    families.push_back(std::move(annotated.family));
  return families;
}

std::vector<AnnotatedFamily> Metrics::CountedCollector::CollectAnnotated() const {
  std::vector<AnnotatedFamily> families;
  MutexLock lock(mu_);
  for (const Family<ShardedCounter>* family :
       {&requests_, &refused_, &helped_, &audio_, &characters_, &tokens_})
    families.push_back(family->Collect(MetricType::Counter));
  families.push_back({build_info_, {}});
  for (const Family<ShardedHistogram>* family :
       {&request_seconds_, &queue_seconds_, &compute_seconds_, &permit_seconds_,
        &first_audio_seconds_, &batch_size_})
    families.push_back(family->Collect(MetricType::Histogram));
  return families;
}

std::shared_ptr<ModelMetrics> Metrics::CountedCollector::MakeModel(const std::string& name,
                                                                   const Model& owner) {
  const Labels model = {{"model", name}};
  const auto with = [&](const char* key, std::string_view value) {
    return Labels{{key, std::string(value)}, {"model", name}};
  };
  ShardedCounters& counters = counters_.emplace_back(kCountersOfAModel);
  size_t used = 0;
  const auto counter = [&](Family<ShardedCounter>& family, const Labels& labels,
                           Kinds zero_for) -> ShardedCounter& {
    ShardedCounter& made = counters[used++];
    family.members.push_back({labels, &made, &owner, zero_for});
    return made;
  };
  std::deque<ShardedHistogram>* const histograms = &histograms_;
  const auto histogram = [&](Family<ShardedHistogram>& family, const Labels& labels,
                             const std::vector<double>& bounds,
                             Kinds zero_for) -> ShardedHistogram& {
    ShardedHistogram& made = histograms->emplace_back(bounds);
    family.members.push_back({labels, &made, &owner, zero_for});
    return made;
  };
  const Kinds translation = KindOf(models::Task::kTranslation);
  const Kinds synthesis = KindOf(models::Task::kSynthesis);
  const Kinds any = KindOf(models::Task::kInfer) | translation | synthesis;
  auto metrics = std::make_shared<ModelMetrics>(ModelMetrics{
      .queue_seconds = histogram(queue_seconds_, model, latency_buckets_, any),
      .compute_seconds = histogram(compute_seconds_, model, latency_buckets_, any),
      .permit_wait_seconds = histogram(permit_seconds_, model, latency_buckets_, any),
      .first_audio_seconds = histogram(first_audio_seconds_, model, latency_buckets_, synthesis),
      .batch_size = histogram(batch_size_, model, kBatchBuckets, any),
      .helped_seconds = counter(helped_, model, any),
      .audio_seconds = counter(audio_, model, synthesis),
      .characters = counter(characters_, model, translation | synthesis),
      .source_tokens = counter(tokens_, with("direction", "source"), translation),
      .target_tokens = counter(tokens_, with("direction", "target"), translation),
      .refused = {},
      .request_seconds = {},
      .requests = {},
  });
  for (size_t i = 0; i < kRefusals; ++i) {
    const std::string reason(ToString(static_cast<Refusal>(i)));
    metrics->refused[i] = &counter(refused_, {{"model", name}, {"reason", reason}}, kEveryKind);
  }
  for (size_t m = 0; m < kMethods; ++m) {
    const Labels method = with("method", ToString(static_cast<Method>(m)));
    const Kinds own = KindOf(TaskOf(static_cast<Method>(m)));
    metrics->request_seconds[m] = &histogram(request_seconds_, method, latency_buckets_, kNoKind);
    for (size_t i = 0; i < kStatusCodes; ++i) {
      const auto code = static_cast<absl::StatusCode>(i);
      Labels labels = method;
      labels.insert(labels.begin(), {"code", std::string(StatusCodeName(code))});
      metrics->requests[m][i] = &counter(requests_, labels, IsWatched(code) ? own : kNoKind);
    }
  }
  return metrics;
}

}  // namespace millrace::server
