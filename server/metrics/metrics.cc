#include "server/metrics/metrics.h"

#include <deque>
#include <map>
#include <type_traits>
#include <utility>

#include "models/core/strings.h"
#include "mps_runtime/base/mutex.h"
#include "prometheus/collectable.h"
#include "prometheus/text_serializer.h"
#include "server/metrics/open_metrics.h"
#include "server/metrics/process_stats.h"

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

ClientMetric Value(double value, MetricType type, std::vector<ClientMetric::Label> labels = {}) {
  ClientMetric metric;
  metric.label = std::move(labels);
  (type == MetricType::Gauge ? metric.gauge.value : metric.counter.value) = value;
  return metric;
}

MetricFamily Single(std::string name, std::string help, MetricType type, double value) {
  return {std::move(name), std::move(help), type, {Value(value, type)}};
}

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
    if (source_) Append(source_(), families);
    return families;
  }

 private:
  static std::vector<MetricFamily> CollectProcess() {
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

  static void Append(const Snapshot& s, std::vector<MetricFamily>& families) {
    const auto gauge = [&](const char* name, const char* help, double value) {
      families.push_back(Single(name, help, MetricType::Gauge, value));
    };
    const auto counter = [&](const char* name, const char* help, double value) {
      families.push_back(Single(name, help, MetricType::Counter, value));
    };
    gauge("millrace_server_ready", "1 while requests are accepted.", s.ready ? 1 : 0);
    gauge("millrace_requests_in_flight", "Requests admitted and not yet answered.",
          static_cast<double>(s.requests_in_flight));
    gauge("millrace_permits", "Forwards that may run at once.", s.permits);
    gauge("millrace_permits_in_use", "Forwards that run now.", s.permits_in_use);
    gauge("millrace_device_memory_bytes",
          "Memory that the device's driver holds for this process; 0 on the CPU.",
          static_cast<double>(s.device_memory_bytes));
    gauge("millrace_streams_leased", "Streams leased to workers.", s.streams_leased);
    counter("millrace_stream_leases_total", "Stream leases granted.",
            static_cast<double>(s.stream_leases_total));
    counter("millrace_stream_lease_refusals_total", "Stream leases refused because all were taken.",
            static_cast<double>(s.stream_lease_refusals_total));
    gauge("millrace_graph_cache_entries", "Compiled shapes in the workers' graph caches.",
          static_cast<double>(s.graph_cache_entries));
    gauge("millrace_graph_cache_bytes", "Memory of the workers' graph caches.",
          static_cast<double>(s.graph_cache_bytes));
    counter("millrace_graph_cache_hits_total", "Graph cache look-ups that found their shape.",
            static_cast<double>(s.graph_cache_hits_total));
    counter("millrace_graph_cache_misses_total", "Graph cache look-ups that did not.",
            static_cast<double>(s.graph_cache_misses_total));
    counter("millrace_graph_cache_evictions_total", "Shapes dropped to stay within the limits.",
            static_cast<double>(s.graph_cache_evictions_total));
    gauge("millrace_translation_cache_entries", "Sentences whose translations are kept.",
          static_cast<double>(s.translations.entries));
    gauge("millrace_translation_cache_bytes", "Memory of the translations that are kept.",
          static_cast<double>(s.translations.bytes));
    counter("millrace_translation_cache_hits_total", "Sentences whose translations were kept.",
            static_cast<double>(s.translations.hits));
    counter("millrace_translation_cache_misses_total",
            "Sentences that were translated, while the cache is on.",
            static_cast<double>(s.translations.misses));
    counter("millrace_translation_cache_evictions_total",
            "Translations dropped to stay within the limits.",
            static_cast<double>(s.translations.evictions));
    gauge("millrace_speech_cache_entries", "Sentences whose audio is kept.",
          static_cast<double>(s.speech.entries));
    gauge("millrace_speech_cache_bytes", "Memory of the audio that is kept.",
          static_cast<double>(s.speech.bytes));
    counter("millrace_speech_cache_hits_total", "Sentences whose audio was kept.",
            static_cast<double>(s.speech.hits));
    counter("millrace_speech_cache_misses_total",
            "Sentences that were looked up and not kept, while the cache is on.",
            static_cast<double>(s.speech.misses));
    counter("millrace_speech_cache_evictions_total",
            "Sentences whose audio was dropped to stay within the limit.",
            static_cast<double>(s.speech.evictions));
    gauge("millrace_compiled_shapes",
          "Shapes that the device has compiled and keeps; 0 where it keeps none.",
          static_cast<double>(s.shapes.compiled));
    MetricFamily new_shapes{
        "millrace_graph_cache_new_shapes_total",
        "Forwards of a shape that the graph cache did not take: run without a graph or refused "
        "because it is frozen, or refused because of the limit of compiled shapes.",
        MetricType::Counter,
        {}};
    for (const auto& [outcome, count] :
         {std::pair("eager", s.shapes.eager), std::pair("refused_frozen", s.shapes.refused_frozen),
          std::pair("refused_limit", s.shapes.refused_limit)}) {
      new_shapes.metric.push_back(
          Value(static_cast<double>(count), MetricType::Counter, {{"outcome", outcome}}));
    }
    families.push_back(std::move(new_shapes));
    AppendWorkerCaches(s, families);

    gauge("millrace_connections", "gRPC connections that are open.",
          static_cast<double>(s.connections.open));
    MetricFamily closed{
        "millrace_connections_closed_total",
        "gRPC connections that the server closed: refused because too many were open, to make room "
        "for others as they had begun no call, or because of what their clients sent.",
        MetricType::Counter,
        {}};
    for (const auto& [reason, count] :
         {std::pair("refused", s.connections.refused),
          std::pair("made_room", s.connections.made_room),
          std::pair("headers", s.connections.headers), std::pair("resets", s.connections.resets),
          std::pair("control_frames", s.connections.control_frames)}) {
      closed.metric.push_back(
          Value(static_cast<double>(count), MetricType::Counter, {{"reason", reason}}));
    }
    families.push_back(std::move(closed));
    counter(
        "millrace_incomplete_calls_refused_total",
        "gRPC calls that were refused because too many waited for requests that did not arrive.",
        static_cast<double>(s.incomplete_calls_refused_total));
    gauge("millrace_websockets", "WebSockets that are open.",
          static_cast<double>(s.web_sockets.open));
    counter("millrace_websockets_opened_total", "WebSockets that were opened.",
            static_cast<double>(s.web_sockets.opened_total));
    AppendTraces(s.traces, families);

    MetricFamily depth{
        "millrace_queue_depth", "Requests that wait in the model's queue.", MetricType::Gauge, {}};
    MetricFamily oldest{"millrace_queue_oldest_seconds",
                        "Time that the oldest request in the model's queue has waited.",
                        MetricType::Gauge,
                        {}};
    MetricFamily expected{"millrace_expected_wait_seconds",
                          "Forecast of the time that a request that came now would wait, by which "
                          "requests are admitted.",
                          MetricType::Gauge,
                          {}};
    MetricFamily ready{
        "millrace_models_ready", "1 for each model that takes requests.", MetricType::Gauge, {}};
    MetricFamily idle{"millrace_model_idle",
                      "1 for each model that is not in memory until its next request; 0 for the "
                      "others that take requests.",
                      MetricType::Gauge,
                      {}};
    MetricFamily memory{"millrace_model_memory_bytes",
                        "Estimated memory of the model: the size of its package's files; 0 while "
                        "it is idle.",
                        MetricType::Gauge,
                        {}};
    for (const Snapshot::Model& model : s.models) {
      depth.metric.push_back(Value(static_cast<double>(model.queue_depth), MetricType::Gauge,
                                   {{"model", model.name}}));
      oldest.metric.push_back(
          Value(model.queue_oldest_seconds, MetricType::Gauge, {{"model", model.name}}));
      expected.metric.push_back(
          Value(model.expected_wait_seconds, MetricType::Gauge, {{"model", model.name}}));
      ready.metric.push_back(
          Value(1, MetricType::Gauge,
                {{"model", model.name}, {"version", StrCat(model.version)}, {"task", model.task}}));
      idle.metric.push_back(Value(model.idle ? 1 : 0, MetricType::Gauge, {{"model", model.name}}));
      memory.metric.push_back(Value(static_cast<double>(model.memory_bytes), MetricType::Gauge,
                                    {{"model", model.name}}));
    }
    families.push_back(std::move(depth));
    families.push_back(std::move(oldest));
    families.push_back(std::move(expected));
    families.push_back(std::move(ready));
    families.push_back(std::move(idle));
    families.push_back(std::move(memory));
    AppendLoads(s, families);
    AppendIdleModels(s.idle_models, families);
    AppendKeys(s, families);
  }

  static void AppendIdleModels(const Snapshot::IdleModels& counts,
                               std::vector<MetricFamily>& families) {
    const auto append = [&](const char* name, const char* help, const char* label,
                            std::initializer_list<std::pair<const char*, uint64_t>> values) {
      MetricFamily family{name, help, MetricType::Counter, {}};
      for (const auto& [value, count] : values) {
        family.metric.push_back(
            Value(static_cast<double>(count), MetricType::Counter, {{label, value}}));
      }
      families.push_back(std::move(family));
    };
    append("millrace_model_unloads_total",
           "Models that were unloaded because they were idle, or to keep the memory budget.",
           "reason", {{"idle", counts.unloaded_idle}, {"memory", counts.unloaded_for_memory}});
    append("millrace_model_loads_on_demand_total", "Loads of idle models for a request.", "outcome",
           {{"ok", counts.loads}, {"failed", counts.failed_loads}});
    families.push_back(Single("millrace_model_load_on_demand_seconds_total",
                              "Time that loading idle models for a request took.",
                              MetricType::Counter, counts.load_seconds));
    families.push_back(Single("millrace_requests_waiting_for_load",
                              "Requests that wait for an idle model to be loaded.",
                              MetricType::Gauge, static_cast<double>(counts.waiting)));
  }

  static void AppendKeys(const Snapshot& s, std::vector<MetricFamily>& families) {
    if (s.keys.empty()) return;
    const auto append = [&](const char* name, const char* help, MetricType type,
                            const auto& value_of) {
      MetricFamily family{name, help, type, {}};
      for (const Snapshot::Key& key : s.keys) {
        family.metric.push_back(
            Value(static_cast<double>(value_of(key)), type, {{"key", key.name}}));
      }
      families.push_back(std::move(family));
    };
    using Key = Snapshot::Key;
    append("millrace_key_requests_total", "Requests that were begun for each API key.",
           MetricType::Counter, [](const Key& key) { return key.requests_total; });
    append("millrace_key_characters_total", "Characters that requests of each API key had.",
           MetricType::Counter, [](const Key& key) { return key.characters_total; });
    append("millrace_key_audio_seconds_total", "Seconds of speech made for each API key.",
           MetricType::Counter, [](const Key& key) { return key.audio_seconds_total; });
    append("millrace_key_worker_seconds_total", "Time of the workers that each API key has had.",
           MetricType::Counter, [](const Key& key) { return key.worker_seconds_total; });
    append("millrace_key_requests_in_flight", "Requests of each API key that are not yet answered.",
           MetricType::Gauge, [](const Key& key) { return key.requests_in_flight; });
    MetricFamily refused{"millrace_key_refused_total",
                         "Requests that were refused because of a limit of their API key.",
                         MetricType::Counter,
                         {}};
    for (const Key& key : s.keys) {
      for (const auto& [limit, count] : key.refused_total) {
        refused.metric.push_back(Value(static_cast<double>(count), MetricType::Counter,
                                       {{"key", key.name}, {"limit", std::string(limit)}}));
      }
    }
    families.push_back(std::move(refused));
  }

  static void AppendTraces(const Snapshot::Traces& traces, std::vector<MetricFamily>& families) {
    families.push_back(Single("millrace_trace_spans_queued",
                              "Spans of traces that wait to be sent to the collector.",
                              MetricType::Gauge, static_cast<double>(traces.queued)));
    families.push_back(Single("millrace_trace_spans_exported_total",
                              "Spans that the collector has taken.", MetricType::Counter,
                              static_cast<double>(traces.exported_total)));
    MetricFamily dropped{
        "millrace_trace_spans_dropped_total",
        "Spans that did not reach the collector: the queue was full, a request had too many, the "
        "export failed, or the collector rejected them.",
        MetricType::Counter,
        {}};
    for (const auto& [reason, count] :
         {std::pair("queue_full", traces.queue_full), std::pair("too_many", traces.too_many),
          std::pair("export_failed", traces.export_failed),
          std::pair("rejected", traces.rejected)}) {
      dropped.metric.push_back(
          Value(static_cast<double>(count), MetricType::Counter, {{"reason", reason}}));
    }
    families.push_back(std::move(dropped));
  }

  static void AppendWorkerCaches(const Snapshot& s, std::vector<MetricFamily>& families) {
    if (s.worker_caches.empty()) return;
    const auto append = [&](const char* name, const char* help, MetricType type,
                            const auto& value_of) {
      MetricFamily family{name, help, type, {}};
      for (const Snapshot::WorkerCache& cache : s.worker_caches) {
        family.metric.push_back(
            Value(static_cast<double>(value_of(cache)), type, {{"worker", StrCat(cache.worker)}}));
      }
      families.push_back(std::move(family));
    };
    using Cache = Snapshot::WorkerCache;
    append("millrace_worker_graph_cache_entries",
           "Shapes in the graph cache of each worker; worker 0 is the main thread, which loads "
           "models.",
           MetricType::Gauge, [](const Cache& cache) { return cache.entries; });
    append("millrace_worker_graph_cache_hits_total",
           "Look-ups in the graph cache of each worker that found their shape.",
           MetricType::Counter, [](const Cache& cache) { return cache.hits; });
    append("millrace_worker_graph_cache_misses_total",
           "Look-ups in the graph cache of each worker that did not.", MetricType::Counter,
           [](const Cache& cache) { return cache.misses; });
    append("millrace_worker_compiled_shapes",
           "Shapes that each worker has compiled and keeps until it ends.", MetricType::Gauge,
           [](const Cache& cache) { return cache.compiled_shapes; });
  }

  static void AppendLoads(const Snapshot& s, std::vector<MetricFamily>& families) {
    families.push_back(Single("millrace_model_load_failures_total",
                              "Models that could not be loaded, counted at each attempt.",
                              MetricType::Counter,
                              static_cast<double>(s.model_load_failures_total)));
    std::map<std::string, double> failed;
    for (const Snapshot::Model& model : s.models) failed[model.name] = 0;
    for (const std::string& name : s.failed_models) failed[name] = 1;
    MetricFamily family{
        "millrace_model_load_failed",
        "1 for each model whose last load failed, be it that an older version serves; 0 for the "
        "others that are loaded.",
        MetricType::Gauge,
        {}};
    for (const auto& [name, value] : failed)
      family.metric.push_back(Value(value, MetricType::Gauge, {{"model", name}}));
    families.push_back(std::move(family));
  }

  mutable Mutex mu_;
  std::function<Snapshot()> source_ MILLRACE_GUARDED_BY(mu_);
};

// The counters and histograms of all models, and the constant families. Thread-safe.
class Metrics::CountedCollector final : public prometheus::Collectable {
 public:
  CountedCollector(const BuildInfo& build, Duration longest_request)
      : latency_buckets_(LatencyBuckets(longest_request)),
        build_info_{"millrace_build_info",
                    "1; its labels say what runs.",
                    MetricType::Gauge,
                    {Value(1, MetricType::Gauge, LabelsOf(build))}} {}

  std::shared_ptr<ModelMetrics> ForModel(const std::string& name, std::optional<models::Task> task)
      MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    Model& model = models_[name];
    if (!model.metrics) model.metrics = MakeModel(name, model);
    // Another version of the model may have another task.
    if (task) model.kinds |= KindOf(*task);
    return model.metrics;
  }

  Ended CountEnded() const MILLRACE_EXCLUDES(mu_) {
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

  std::vector<MetricFamily> Collect() const override MILLRACE_EXCLUDES(mu_) {
    std::vector<MetricFamily> families;
    for (AnnotatedFamily& annotated : CollectAnnotated())
      families.push_back(std::move(annotated.family));
    return families;
  }

  std::vector<AnnotatedFamily> CollectAnnotated() const MILLRACE_EXCLUDES(mu_) {
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

 private:
  using Labels = std::vector<ClientMetric::Label>;

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
    AnnotatedFamily Collect(MetricType type) const {
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

    const char* name;
    const char* help;
    std::vector<Member<Metric>> members;
  };

  std::shared_ptr<ModelMetrics> MakeModel(const std::string& name, const Model& owner)
      MILLRACE_REQUIRES(mu_) {
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

  static constexpr size_t kCountersOfAModel = 5 + kRefusals + kMethods * kStatusCodes;

  const std::vector<double> latency_buckets_;
  const MetricFamily build_info_;
  mutable Mutex mu_;
  // Its values do not move.
  std::map<std::string, Model> models_ MILLRACE_GUARDED_BY(mu_);
  // Deques, because their elements must not move.
  std::deque<ShardedCounters> counters_ MILLRACE_GUARDED_BY(mu_);
  std::deque<ShardedHistogram> histograms_ MILLRACE_GUARDED_BY(mu_);
  Family<ShardedCounter> requests_ MILLRACE_GUARDED_BY(mu_){
      "millrace_requests_total", "Finished requests by gRPC status code.", {}};
  Family<ShardedCounter> refused_ MILLRACE_GUARDED_BY(mu_){
      "millrace_requests_refused_total", "Requests refused before they were queued.", {}};
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
