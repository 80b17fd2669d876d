#include "server/control/runtime_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace millrace::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RuntimeMetricsTest, WorkersThatCompileOnTheirOwnHaveTheirNumbers) {
  MetricWriter writer;
  Collect({{.slot = 0, .stats = {.entries = 31, .hits = 32, .misses = 33}, .compiled_shapes = 34},
           {.slot = 2, .stats = {.entries = 41, .hits = 42, .misses = 43}, .compiled_shapes = 44}},
          writer);
  const std::string page = std::move(writer).PrometheusText();
  for (const char* line : {"millrace_worker_graph_cache_entries{worker=\"0\"} 31\n",
                           "millrace_worker_graph_cache_hits_total{worker=\"0\"} 32\n",
                           "millrace_worker_graph_cache_misses_total{worker=\"0\"} 33\n",
                           "millrace_worker_compiled_shapes{worker=\"0\"} 34\n",
                           "millrace_worker_graph_cache_entries{worker=\"2\"} 41\n",
                           "millrace_worker_graph_cache_hits_total{worker=\"2\"} 42\n",
                           "millrace_worker_graph_cache_misses_total{worker=\"2\"} 43\n",
                           "millrace_worker_compiled_shapes{worker=\"2\"} 44\n"})
    EXPECT_THAT(page, HasSubstr(line));
}

TEST(RuntimeMetricsTest, ARuntimeTellsOfPermitsStreamsAndGraphs) {
  runtime::RuntimeOptions options;
  options.device = runtime::DeviceType::kCpu;
  const auto runtime = runtime::Runtime::Bootstrap(options);
  MetricWriter writer;
  Collect(*runtime, writer);
  const std::string page = std::move(writer).PrometheusText();
  for (const char* line : {"millrace_permits_in_use 0\n", "millrace_device_memory_bytes 0\n",
                           "millrace_streams_leased 0\n", "millrace_stream_leases_total 0\n",
                           "millrace_graph_cache_entries 0\n", "millrace_compiled_shapes 0\n",
                           "millrace_graph_cache_new_shapes_total{outcome=\"refused_frozen\"} 0\n"})
    EXPECT_THAT(page, HasSubstr(line));
  EXPECT_THAT(page, Not(HasSubstr("millrace_worker_")));
}

TEST(RuntimeMetricsTest, CachesTellOfWhatTheyKeep) {
  MetricWriter writer;
  CollectTranslationCache({.entries = 1, .bytes = 2, .hits = 3, .misses = 4, .evictions = 5},
                          writer);
  CollectSpeechCache({.entries = 6, .bytes = 7, .hits = 8, .misses = 9, .evictions = 10}, writer);
  const std::string page = std::move(writer).PrometheusText();
  for (const char* line :
       {"millrace_translation_cache_entries 1\n", "millrace_translation_cache_bytes 2\n",
        "millrace_translation_cache_hits_total 3\n", "millrace_translation_cache_misses_total 4\n",
        "millrace_translation_cache_evictions_total 5\n", "millrace_speech_cache_entries 6\n",
        "millrace_speech_cache_bytes 7\n", "millrace_speech_cache_hits_total 8\n",
        "millrace_speech_cache_misses_total 9\n", "millrace_speech_cache_evictions_total 10\n"})
    EXPECT_THAT(page, HasSubstr(line));
}

}  // namespace
}  // namespace millrace::server
