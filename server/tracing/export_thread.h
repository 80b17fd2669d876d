#pragma once

#include <chrono>
#include <memory>
#include <thread>

#include "mps_runtime/base/clock.h"
#include "server/tracing/span_exporter.h"
#include "server/tracing/trace_queue.h"

namespace millrace::tracing {

// The thread that sends what is in a queue to a collector: when a batch is full, and every so often
// what there is. A batch that could not be sent is tried again for a while, after ever longer
// waits; meanwhile the queue fills and drops. Failures are logged, at a limited rate.
//
// Start and Stop belong to one thread.
class ExportThread {
 public:
  struct Options {
    std::chrono::milliseconds interval{5000};          // between two exports of what there is
    std::chrono::milliseconds first_wait{1000};        // before a batch is tried again
    std::chrono::milliseconds longest_wait{30'000};    // between two attempts
    std::chrono::milliseconds longest_effort{60'000};  // for one batch
  };

  ExportThread(Options options, TraceQueue::Limits limits, std::unique_ptr<SpanExporter> exporter);
  ~ExportThread();  // stops without waiting for the collector
  ExportThread(const ExportThread&) = delete;
  ExportThread& operator=(const ExportThread&) = delete;

  TraceQueue& queue();
  SpanCounts& counts();

  void Start();
  // Sends what is left, for at most `patience`, then cancels the export. A thread that hangs even
  // so, as in a look-up of the collector's name, is left behind. Idempotent.
  void Stop(std::chrono::milliseconds patience);

 private:
  struct Shared;  // with the thread, which may outlive this

  const std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace millrace::tracing
