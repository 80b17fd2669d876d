// Measures the cost of counting one request.
//
// usage: metrics_bench [--benchmark_filter=...]

#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>

#include "server/metrics/metrics.h"

namespace millrace::server {
namespace {

// Counts everything that a call of the cheapest kind counts when it is alone in its batch, which is
// the most for one request. All threads count for the same model, as its workers do.
void CountOneRequest(benchmark::State& state) {
  static Metrics* const metrics = new Metrics(BuildInfo{});
  static const std::shared_ptr<ModelMetrics> model_metrics = metrics->ForModel("null");
  ModelMetrics& model = *model_metrics;
  for (auto _ : state) {
    model.batch_size.Observe(1);
    model.compute_seconds.Observe(5e-6);
    model.permit_wait_seconds.Observe(0);
    model.queue_seconds.Observe(20e-6);
    model.CountRequest(Method::kModelInfer, absl::StatusCode::kOk, std::chrono::microseconds(100));
  }
}

BENCHMARK(CountOneRequest)->Threads(1)->Threads(2);

}  // namespace
}  // namespace millrace::server

BENCHMARK_MAIN();
