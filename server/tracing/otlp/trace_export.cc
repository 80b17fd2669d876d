#include "server/tracing/otlp/trace_export.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/core/errors.h"
#include "server/tracing/ids.h"
#include "server/tracing/otlp/grpc_exporter.h"
#include "server/tracing/otlp/http_exporter.h"

namespace millrace::tracing {
namespace {

absl::StatusOr<std::unique_ptr<SpanExporter>> MakeExporter(const Settings& settings) {
  if (settings.protocol == Protocol::kGrpc) return MakeGrpcExporter(settings);
  return MakeHttpExporter(settings);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceExport>> TraceExport::Start(Settings settings,
                                                                std::string_view version) {
  const auto add = [&settings](const char* key, std::string value) {
    const bool is_set = std::ranges::any_of(settings.resource,
                                            [key](const auto& pair) { return pair.first == key; });
    if (!is_set) settings.resource.emplace_back(key, std::move(value));
  };
  add("service.version", std::string(version));
  add("service.instance.id", ToHex(NewTraceId()));
  MILLRACE_ASSIGN_OR_RETURN(auto exporter, MakeExporter(settings));
  std::unique_ptr<TraceExport> traces(new TraceExport(settings, std::move(exporter)));
  traces->thread_.Start();
  return traces;
}

TraceExport::TraceExport(const Settings& settings, std::unique_ptr<SpanExporter> exporter)
    : thread_({.interval = settings.interval}, settings.queue, std::move(exporter)),
      tracer_(Sampler(settings.sample_ratio, settings.follows_parent), thread_.queue(),
              thread_.counts()) {}

void TraceExport::Collect(TraceExport* traces, server::MetricWriter& writer) {
  static const SpanCounts none;
  const SpanCounts& counts = traces != nullptr ? traces->thread_.counts() : none;
  writer.Gauge("millrace_trace_spans_queued",
               "Spans of traces that wait to be sent to the collector.",
               traces != nullptr ? traces->thread_.queue().spans() : 0);
  writer.Counter("millrace_trace_spans_exported_total", "Spans that the collector has taken.",
                 counts.exported());
  server::MetricWriter::Family dropped = writer.Counters(
      "millrace_trace_spans_dropped_total",
      "Spans that did not reach the collector: the queue was full, a request had too many, the "
      "export failed, or the collector rejected them.");
  for (const auto& [reason, why] :
       {std::pair("queue_full", Drop::kQueueFull), std::pair("too_many", Drop::kTooMany),
        std::pair("export_failed", Drop::kExportFailed), std::pair("rejected", Drop::kRejected)}) {
    dropped.Add(counts.dropped(why), {{"reason", reason}});
  }
}

}  // namespace millrace::tracing
