#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/metrics/metric_writer.h"
#include "server/tracing/export_thread.h"
#include "server/tracing/settings.h"
#include "server/tracing/tracer.h"

namespace millrace::tracing {

// All of a process's tracing: the tracer, the queue, and the thread that sends spans to a collector
// of OTLP, by gRPC or by HTTP. Made and stopped by one thread; tracer and counts are thread-safe.
// It must outlive all requests.
class TraceExport {
 public:
  // Starts the thread, which connects when it first has something to send. version: the server's.
  // An error names a file that cannot be read.
  static absl::StatusOr<std::unique_ptr<TraceExport>> Start(Settings settings,
                                                            std::string_view version);

  const Tracer& tracer() const { return tracer_; }
  // Null: requests are not traced.
  static void Collect(TraceExport* traces, server::MetricWriter& writer);
  // See ExportThread.
  void Stop(std::chrono::milliseconds patience) { thread_.Stop(patience); }

 private:
  TraceExport(const Settings& settings, std::unique_ptr<SpanExporter> exporter);

  ExportThread thread_;
  const Tracer tracer_;
};

}  // namespace millrace::tracing
