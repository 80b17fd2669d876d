#include "server/metrics/snapshot_families.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include "models/core/strings.h"
#include "server/metrics/single_metric.h"

namespace millrace::server {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

void AppendWorkerCaches(const Snapshot& s, std::vector<MetricFamily>& families) {
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
         "Look-ups in the graph cache of each worker that found their shape.", MetricType::Counter,
         [](const Cache& cache) { return cache.hits; });
  append("millrace_worker_graph_cache_misses_total",
         "Look-ups in the graph cache of each worker that did not.", MetricType::Counter,
         [](const Cache& cache) { return cache.misses; });
  append("millrace_worker_compiled_shapes",
         "Shapes that each worker has compiled and keeps until it ends.", MetricType::Gauge,
         [](const Cache& cache) { return cache.compiled_shapes; });
}

void AppendTraces(const Snapshot::Traces& traces, std::vector<MetricFamily>& families) {
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
        std::pair("export_failed", traces.export_failed), std::pair("rejected", traces.rejected)}) {
    dropped.metric.push_back(
        Value(static_cast<double>(count), MetricType::Counter, {{"reason", reason}}));
  }
  families.push_back(std::move(dropped));
}

void AppendLoads(const Snapshot& s, std::vector<MetricFamily>& families) {
  families.push_back(Single("millrace_model_load_failures_total",
                            "Models that could not be loaded, counted at each attempt.",
                            MetricType::Counter, static_cast<double>(s.model_load_failures_total)));
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

void AppendIdleModels(const Snapshot::IdleModels& counts, std::vector<MetricFamily>& families) {
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
                            "Requests that wait for an idle model to be loaded.", MetricType::Gauge,
                            static_cast<double>(counts.waiting)));
}

void AppendKeys(const Snapshot& s, std::vector<MetricFamily>& families) {
  if (s.keys.empty()) return;
  const auto append = [&](const char* name, const char* help, MetricType type,
                          const auto& value_of) {
    MetricFamily family{name, help, type, {}};
    for (const Snapshot::Key& key : s.keys) {
      family.metric.push_back(Value(static_cast<double>(value_of(key)), type, {{"key", key.name}}));
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

}  // namespace

void AppendSnapshot(const Snapshot& s, std::vector<MetricFamily>& families) {
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

  gauge("millrace_grpc_polling_delay_seconds",
        "Time for which a thread that serves gRPC has not come round to new events; 0 or about 1 "
        "while all is well.",
        s.polling_delay_seconds);
  gauge("millrace_connections", "gRPC connections that are open.",
        static_cast<double>(s.connections.open));
  MetricFamily closed{
      "millrace_connections_closed_total",
      "gRPC connections that the server closed: refused because too many were open, to make room "
      "for others as they had begun no call, or because of what their clients sent.",
      MetricType::Counter,
      {}};
  const auto add_closed = [&](std::string_view reason, uint64_t count) {
    closed.metric.push_back(
        Value(static_cast<double>(count), MetricType::Counter, {{"reason", std::string(reason)}}));
  };
  add_closed("refused", s.connections.refused);
  add_closed("made_room", s.connections.made_room);
  for (const auto& [kind, count] : s.connections.abuse) add_closed(kind, count);
  families.push_back(std::move(closed));
  counter("millrace_incomplete_calls_refused_total",
          "gRPC calls that were refused because too many waited for requests that did not arrive.",
          static_cast<double>(s.incomplete_calls_refused_total));
  MetricFamily grpc_refused{"millrace_grpc_refused_total",
                            "gRPC calls that were refused for want of a key or a right, or before "
                            "they reached a service, by code: unknown methods, messages that are "
                            "not taken.",
                            MetricType::Counter,
                            {}};
  for (const auto& [code, count] : s.grpc_refused_total) {
    grpc_refused.metric.push_back(
        Value(static_cast<double>(count), MetricType::Counter, {{"code", std::string(code)}}));
  }
  if (!grpc_refused.metric.empty()) families.push_back(std::move(grpc_refused));
  MetricFamily http_refused{"millrace_http_refused_total",
                            "HTTP requests that were refused for want of a key or a right, or "
                            "before they reached a handler, by status: malformed, unknown paths, "
                            "bodies and headers that are not taken, too late, too many at once.",
                            MetricType::Counter,
                            {}};
  for (const auto& [status, count] : s.http_refused_total) {
    http_refused.metric.push_back(
        Value(static_cast<double>(count), MetricType::Counter, {{"status", StrCat(status)}}));
  }
  if (!http_refused.metric.empty()) families.push_back(std::move(http_refused));
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
    depth.metric.push_back(
        Value(static_cast<double>(model.queue_depth), MetricType::Gauge, {{"model", model.name}}));
    oldest.metric.push_back(
        Value(model.queue_oldest_seconds, MetricType::Gauge, {{"model", model.name}}));
    expected.metric.push_back(
        Value(model.expected_wait_seconds, MetricType::Gauge, {{"model", model.name}}));
    ready.metric.push_back(
        Value(1, MetricType::Gauge,
              {{"model", model.name}, {"version", StrCat(model.version)}, {"task", model.task}}));
    idle.metric.push_back(Value(model.idle ? 1 : 0, MetricType::Gauge, {{"model", model.name}}));
    memory.metric.push_back(
        Value(static_cast<double>(model.memory_bytes), MetricType::Gauge, {{"model", model.name}}));
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

}  // namespace millrace::server
