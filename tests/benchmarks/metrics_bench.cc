// Measures the cost of counting one request.
//
// usage: metrics_bench [--benchmark_filter=...]

#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>

#include "prometheus/counter.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"
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

// Counts the same with the metrics of prometheus-cpp's registry; docs/decisions.md says why they
// are not used.
void CountOneRequestInRegistry(benchmark::State& state) {
  static prometheus::Registry* const registry = new prometheus::Registry;
  static const prometheus::Histogram::BucketBoundaries times = {
      0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
      0.25,    0.5,    1,       2.5,    5,     10,     25,    60,   120,   300};
  const auto histogram = [](const char* name,
                            const prometheus::Histogram::BucketBoundaries& bounds) {
    return &prometheus::BuildHistogram().Name(name).Register(*registry).Add({{"model", "null"}},
                                                                            bounds);
  };
  static prometheus::Histogram* const batch_size =
      histogram("batch_size", {1, 2, 4, 8, 16, 32, 64});
  static prometheus::Histogram* const compute = histogram("compute_seconds", times);
  static prometheus::Histogram* const permit = histogram("permit_seconds", times);
  static prometheus::Histogram* const queue = histogram("queue_seconds", times);
  static prometheus::Histogram* const took = histogram("request_seconds", times);
  static prometheus::Counter* const ended =
      &prometheus::BuildCounter()
           .Name("requests_total")
           .Register(*registry)
           .Add({{"code", "OK"}, {"method", "ModelInfer"}, {"model", "null"}});
  for (auto _ : state) {
    batch_size->Observe(1);
    compute->Observe(5e-6);
    permit->Observe(0);
    queue->Observe(20e-6);
    ended->Increment();
    took->Observe(100e-6);
  }
}

BENCHMARK(CountOneRequest)->Threads(1)->Threads(2);
BENCHMARK(CountOneRequestInRegistry)->Threads(1)->Threads(2);

}  // namespace
}  // namespace millrace::server

BENCHMARK_MAIN();
