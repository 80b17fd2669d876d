#include "server/metrics/metrics.h"

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "models/core/strings.h"
#include "mps_runtime/base/mutex.h"
#include "prometheus/exposer.h"
#include "prometheus/text_serializer.h"
#include "server/metrics/process_stats.h"
#include "server/security/address_policy.h"

namespace millrace::server {
namespace {

using prometheus::ClientMetric;
using prometheus::Histogram;
using prometheus::MetricFamily;
using prometheus::MetricType;

// From a null model's tens of microseconds to a minute of speech, about three a decade.
const Histogram::BucketBoundaries kLatencyBuckets = {
    0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
    0.1,     0.25,   0.5,     1,      2.5,   5,      10,    25,   60};
const Histogram::BucketBoundaries kBatchBuckets = {1, 2, 4, 8, 16, 32, 64, 128, 256};

ClientMetric Value(double value, MetricType type, std::vector<ClientMetric::Label> labels = {}) {
  ClientMetric metric;
  metric.label = std::move(labels);
  (type == MetricType::Gauge ? metric.gauge.value : metric.counter.value) = value;
  return metric;
}

MetricFamily Single(std::string name, std::string help, MetricType type, double value) {
  return {std::move(name), std::move(help), type, {Value(value, type)}};
}

}  // namespace

// Reads the gauges when a scrape asks for them, so that requests pay nothing for them.
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

    MetricFamily depth{
        "millrace_queue_depth", "Requests that wait in the model's queue.", MetricType::Gauge, {}};
    MetricFamily ready{"millrace_models_ready", "1 for each loaded model.", MetricType::Gauge, {}};
    for (const Snapshot::Model& model : s.models) {
      depth.metric.push_back(Value(static_cast<double>(model.queue_depth), MetricType::Gauge,
                                   {{"model", model.name}}));
      ready.metric.push_back(
          Value(1, MetricType::Gauge,
                {{"model", model.name}, {"version", StrCat(model.version)}, {"task", model.task}}));
    }
    families.push_back(std::move(depth));
    families.push_back(std::move(ready));
  }

  mutable Mutex mu_;
  std::function<Snapshot()> source_ MILLRACE_GUARDED_BY(mu_);
};

struct Metrics::Families {
  explicit Families(prometheus::Registry& registry)
      : requests(prometheus::BuildCounter()
                     .Name("millrace_requests_total")
                     .Help("Finished requests by gRPC status code.")
                     .Register(registry)),
        refused(prometheus::BuildCounter()
                    .Name("millrace_requests_refused_total")
                    .Help("Requests refused before they were queued.")
                    .Register(registry)),
        audio(prometheus::BuildCounter()
                  .Name("millrace_audio_seconds_total")
                  .Help("Seconds of speech produced.")
                  .Register(registry)),
        characters(prometheus::BuildCounter()
                       .Name("millrace_characters_total")
                       .Help("Characters of text processed.")
                       .Register(registry)),
        tokens(prometheus::BuildCounter()
                   .Name("millrace_tokens_total")
                   .Help("Tokens read and produced.")
                   .Register(registry)),
        request_seconds(MakeHistogram(registry, "millrace_request_duration_seconds",
                                      "From arrival to the last reply.")),
        queue_seconds(
            MakeHistogram(registry, "millrace_queue_duration_seconds",
                          "Waiting in the queue, before all of a request's steps together.")),
        compute_seconds(MakeHistogram(registry, "millrace_compute_duration_seconds",
                                      "The forward of one batch.")),
        permit_seconds(MakeHistogram(registry, "millrace_permit_wait_seconds",
                                     "Waiting for a permit before a forward.")),
        first_audio_seconds(MakeHistogram(registry, "millrace_time_to_first_audio_seconds",
                                          "From arrival to the first audio.")),
        batch_size(MakeHistogram(registry, "millrace_batch_size", "Requests in one step.")) {}

  static prometheus::Family<Histogram>& MakeHistogram(prometheus::Registry& registry,
                                                      const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }

  prometheus::Family<prometheus::Counter>& requests;
  prometheus::Family<prometheus::Counter>& refused;
  prometheus::Family<prometheus::Counter>& audio;
  prometheus::Family<prometheus::Counter>& characters;
  prometheus::Family<prometheus::Counter>& tokens;
  prometheus::Family<Histogram>& request_seconds;
  prometheus::Family<Histogram>& queue_seconds;
  prometheus::Family<Histogram>& compute_seconds;
  prometheus::Family<Histogram>& permit_seconds;
  prometheus::Family<Histogram>& first_audio_seconds;
  prometheus::Family<Histogram>& batch_size;
};

Metrics::Metrics(const BuildInfo& build)
    : registry_(std::make_shared<prometheus::Registry>()),
      snapshot_(std::make_shared<SnapshotCollector>()),
      families_(std::make_unique<Families>(*registry_)) {
  prometheus::BuildGauge()
      .Name("millrace_build_info")
      .Help("1; its labels say what runs.")
      .Register(*registry_)
      .Add({{"version", build.version},
            {"libtorch", build.libtorch},
            {"device", build.device},
            {"mode", build.mode}})
      .Set(1);
}

Metrics::~Metrics() = default;

std::shared_ptr<ModelMetrics> Metrics::ForModel(const std::string& name) {
  // Family::Add returns the metric that it already has for these labels.
  const prometheus::Labels model = {{"model", name}};
  const auto with = [&](const char* key, std::string_view value) {
    prometheus::Labels labels = model;
    labels.emplace(key, value);
    return labels;
  };
  Families& f = *families_;
  auto metrics = std::make_shared<ModelMetrics>(ModelMetrics{
      .queue_seconds = f.queue_seconds.Add(model, kLatencyBuckets),
      .compute_seconds = f.compute_seconds.Add(model, kLatencyBuckets),
      .permit_wait_seconds = f.permit_seconds.Add(model, kLatencyBuckets),
      .first_audio_seconds = f.first_audio_seconds.Add(model, kLatencyBuckets),
      .batch_size = f.batch_size.Add(model, kBatchBuckets),
      .audio_seconds = f.audio.Add(model),
      .characters = f.characters.Add(model),
      .source_tokens = f.tokens.Add(with("direction", "source")),
      .target_tokens = f.tokens.Add(with("direction", "target")),
      .refused = {},
      .request_seconds = {},
      .requests = {},
  });
  for (size_t i = 0; i < kRefusals; ++i)
    metrics->refused[i] = &f.refused.Add(with("reason", ToString(static_cast<Refusal>(i))));
  for (size_t m = 0; m < kMethods; ++m) {
    prometheus::Labels labels = with("method", ToString(static_cast<Method>(m)));
    metrics->request_seconds[m] = &f.request_seconds.Add(labels, kLatencyBuckets);
    for (size_t code = 0; code < kStatusCodes; ++code) {
      labels["code"] = StatusCodeName(static_cast<absl::StatusCode>(code));
      metrics->requests[m][code] = &f.requests.Add(labels);
    }
  }
  return metrics;
}

void Metrics::SetSnapshot(std::function<Snapshot()> snapshot) {
  snapshot_->Set(std::move(snapshot));
}

absl::StatusOr<int> Metrics::Expose(const std::string& address) {
  // civetweb itself reads "*:8002" and ":8002" differently or not at all.
  const absl::StatusOr<HostPort> parsed = ParseHostPort(address);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        StrCat("--metrics-address ", address, ": ", std::string(parsed.status().message())));
  }
  try {
    // Several threads and a short timeout: a connection that sends nothing occupies one of them.
    exposer_ = std::make_unique<prometheus::Exposer>(std::vector<std::string>{
        "listening_ports", ToString(*parsed), "num_threads", "4", "request_timeout_ms", "2000"});
  } catch (const std::exception& error) {
    return absl::UnavailableError(StrCat("--metrics-address ", address, ": cannot listen there (",
                                         error.what(), "); is the port in use?"));
  }
  exposer_->RegisterCollectable(registry_);
  exposer_->RegisterCollectable(snapshot_);
  return exposer_->GetListeningPorts().front();
}

std::string Metrics::Text() const {
  std::vector<MetricFamily> families = registry_->Collect();
  for (MetricFamily& family : snapshot_->Collect()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace millrace::server
