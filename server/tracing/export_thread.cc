#include "server/tracing/export_thread.h"

#include <algorithm>
#include <exception>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "mps_runtime/base/mutex.h"
#include "server/logging/line_limiter.h"
#include "server/logging/logging.h"

namespace millrace::tracing {
namespace {

using std::chrono::milliseconds;
using Kind = ExportResult::Kind;

// The time for an export to notice that it was cancelled.
constexpr milliseconds kCancelTime{500};

uint64_t CountSpans(const std::vector<TraceRecord>& batch) {
  uint64_t spans = 0;
  for (const TraceRecord& record : batch) spans += record.spans.size();
  return spans;
}

// Returns a wait between a half and the whole of this, so that servers do not come back together.
milliseconds WithJitter(milliseconds wait) {
  thread_local std::minstd_rand random(std::random_device{}());
  std::uniform_int_distribution<milliseconds::rep> part(wait.count() / 2, wait.count());
  return milliseconds(part(random));
}

}  // namespace

struct ExportThread::Shared {
  Shared(Options options, TraceQueue::Limits limits, std::unique_ptr<SpanExporter> exporter)
      : options(options), queue(limits, counts), exporter(std::move(exporter)) {}

  void Run() {
    for (;;) {
      const std::vector<TraceRecord> batch =
          queue.Take(std::chrono::steady_clock::now() + options.interval);
      if (!batch.empty()) {
        Deliver(batch);
      } else if (queue.closed()) {
        break;
      }
    }
    MutexLock lock(mu);
    done = true;
    changed.NotifyAll();
  }

  void Deliver(const std::vector<TraceRecord>& batch) {
    const uint64_t spans = CountSpans(batch);
    const TimePoint end = std::chrono::steady_clock::now() + options.longest_effort;
    milliseconds wait = options.first_wait;
    for (;;) {
      ExportResult result = Export(batch);
      if (result.kind == Kind::kAccepted) {
        const uint64_t rejected = std::min(result.rejected, spans);
        counts.AddExported(spans - rejected);
        if (rejected != 0) {
          counts.AddDropped(Drop::kRejected, rejected);
          Log("the collector rejected spans", result.error, rejected);
        }
        return;
      }
      const bool is_told = result.try_after > milliseconds(0);
      const TimePoint next =
          std::chrono::steady_clock::now() + (is_told ? result.try_after : WithJitter(wait));
      // While the process stops there is one attempt for each batch.
      const bool over = result.kind == Kind::kFailed || next > end || queue.closed();
      Log(over ? "spans were not exported and are dropped" : "spans could not be exported yet",
          result.error, spans);
      if (over) return counts.AddDropped(Drop::kExportFailed, spans);
      queue.Sleep(next);
      wait = std::min(2 * wait, options.longest_wait);
    }
  }

  ExportResult Export(const std::vector<TraceRecord>& batch) {
    try {
      return exporter->Export(batch);
    } catch (const std::exception& error) {
      return {.kind = Kind::kFailed, .error = error.what()};
    }
  }

  void Log(const char* what, const std::string& reason, uint64_t spans) {
    if (const auto held_back = limiter.Pass())
      logging::Warning(what, {{"spans", spans}, {"reason", reason}, {"held_back", *held_back}});
  }

  // Returns false if the thread has not ended by then.
  bool AwaitDone(TimePoint until) {
    MutexLock lock(mu);
    while (!done && changed.WaitUntil(mu, until)) {
    }
    return done;
  }

  const Options options;
  SpanCounts counts;
  TraceQueue queue;
  const std::unique_ptr<SpanExporter> exporter;
  logging::LineLimiter limiter{/*burst=*/3, std::chrono::minutes(1)};

  Mutex mu;
  CondVar changed;
  bool done MILLRACE_GUARDED_BY(mu) = false;
};

ExportThread::ExportThread(Options options, TraceQueue::Limits limits,
                           std::unique_ptr<SpanExporter> exporter)
    : shared_(std::make_shared<Shared>(options, limits, std::move(exporter))) {}

ExportThread::~ExportThread() { Stop(milliseconds(0)); }

TraceQueue& ExportThread::queue() { return shared_->queue; }
SpanCounts& ExportThread::counts() { return shared_->counts; }

void ExportThread::Start() {
  thread_ = std::thread([shared = shared_] { shared->Run(); });
}

void ExportThread::Stop(milliseconds patience) {
  shared_->queue.Close();
  if (!thread_.joinable()) return;
  bool done = shared_->AwaitDone(std::chrono::steady_clock::now() + patience);
  if (!done) {
    shared_->exporter->Cancel();
    done = shared_->AwaitDone(std::chrono::steady_clock::now() + kCancelTime);
  }
  if (done) {
    thread_.join();
  } else {
    logging::Warning("the export of traces hangs and is left behind");
    thread_.detach();
  }
}

}  // namespace millrace::tracing
