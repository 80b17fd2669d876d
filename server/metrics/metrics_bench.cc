// What counting one request takes.
//
// usage: metrics_bench [--benchmark_filter=...]

#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>

#include "server/metrics/metrics.h"

namespace millrace::server {
namespace {

// All that a call of the cheapest kind counts when its batch holds nobody else: the most there is
// to count a request. On several threads they count the same model, as its workers do.
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
