#include "server/control/runtime_metrics.h"

#include "models/core/strings.h"

namespace millrace::server {

void Collect(const std::vector<runtime::ThreadGraphCache>& caches, MetricWriter& writer) {
  for (const runtime::ThreadGraphCache& cache : caches) {
    const MetricWriter::Labels worker = {{"worker", StrCat(cache.slot)}};
    writer
        .Gauges("millrace_worker_graph_cache_entries",
                "Shapes in the graph cache of each worker; worker 0 is the main thread, which "
                "loads models.")
        .Add(cache.stats.entries, worker);
    writer
        .Counters("millrace_worker_graph_cache_hits_total",
                  "Look-ups in the graph cache of each worker that found their shape.")
        .Add(cache.stats.hits, worker);
    writer
        .Counters("millrace_worker_graph_cache_misses_total",
                  "Look-ups in the graph cache of each worker that did not.")
        .Add(cache.stats.misses, worker);
    writer
        .Gauges("millrace_worker_compiled_shapes",
                "Shapes that each worker has compiled and keeps until it ends.")
        .Add(cache.compiled_shapes, worker);
  }
}

void Collect(runtime::Runtime& runtime, MetricWriter& writer) {
  writer.Gauge("millrace_permits", "Forwards that may run at once.", runtime.limiter().permits());
  writer.Gauge("millrace_permits_in_use", "Forwards that run now.", runtime.limiter().in_use());
  writer.Gauge("millrace_device_memory_bytes",
               "Memory that the device's driver holds for this process; 0 on the CPU.",
               runtime.device_bytes());
  const auto streams = runtime.stream_pool().stats();
  writer.Gauge("millrace_streams_leased", "Streams leased to workers.", streams.leased);
  writer.Counter("millrace_stream_leases_total", "Stream leases granted.", streams.leases_total);
  writer.Counter("millrace_stream_lease_refusals_total",
                 "Stream leases refused because all were taken.", streams.refusals_total);
  const runtime::GraphCacheStats graphs = runtime.graph_cache_stats();
  writer.Gauge("millrace_graph_cache_entries", "Compiled shapes in the workers' graph caches.",
               graphs.entries);
  writer.Gauge("millrace_graph_cache_bytes", "Memory of the workers' graph caches.", graphs.bytes);
  writer.Counter("millrace_graph_cache_hits_total", "Graph cache look-ups that found their shape.",
                 graphs.hits);
  writer.Counter("millrace_graph_cache_misses_total", "Graph cache look-ups that did not.",
                 graphs.misses);
  writer.Counter("millrace_graph_cache_evictions_total",
                 "Shapes dropped to stay within the limits.", graphs.evictions);
  const runtime::ShapeStats shapes = runtime.shape_stats();
  writer.Gauge("millrace_compiled_shapes",
               "Shapes that the device has compiled and keeps; 0 where it keeps none.",
               shapes.compiled);
  MetricWriter::Family new_shapes = writer.Counters(
      "millrace_graph_cache_new_shapes_total",
      "Forwards of a shape that the graph cache did not take: run without a graph or refused "
      "because it is frozen, or refused because of the limit of compiled shapes.");
  new_shapes.Add(shapes.eager, {{"outcome", "eager"}});
  new_shapes.Add(shapes.refused_frozen, {{"outcome", "refused_frozen"}});
  new_shapes.Add(shapes.refused_limit, {{"outcome", "refused_limit"}});
  Collect(runtime.thread_graph_caches(), writer);
}

void CollectTranslationCache(const models::LruStats& stats, MetricWriter& writer) {
  writer.Gauge("millrace_translation_cache_entries", "Sentences whose translations are kept.",
               stats.entries);
  writer.Gauge("millrace_translation_cache_bytes", "Memory of the translations that are kept.",
               stats.bytes);
  writer.Counter("millrace_translation_cache_hits_total", "Sentences whose translations were kept.",
                 stats.hits);
  writer.Counter("millrace_translation_cache_misses_total",
                 "Sentences that were translated, while the cache is on.", stats.misses);
  writer.Counter("millrace_translation_cache_evictions_total",
                 "Translations dropped to stay within the limits.", stats.evictions);
}

void CollectSpeechCache(const models::LruStats& stats, MetricWriter& writer) {
  writer.Gauge("millrace_speech_cache_entries", "Sentences whose audio is kept.", stats.entries);
  writer.Gauge("millrace_speech_cache_bytes", "Memory of the audio that is kept.", stats.bytes);
  writer.Counter("millrace_speech_cache_hits_total", "Sentences whose audio was kept.", stats.hits);
  writer.Counter("millrace_speech_cache_misses_total",
                 "Sentences that were looked up and not kept, while the cache is on.",
                 stats.misses);
  writer.Counter("millrace_speech_cache_evictions_total",
                 "Sentences whose audio was dropped to stay within the limit.", stats.evictions);
}

}  // namespace millrace::server
