#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "mps_runtime/base/clock.h"
#include "xds/data/orca/v3/orca_load_report.pb.h"

namespace millrace::server {

// The load of the server at one moment.
struct LoadSample {
  TimePoint time;
  double cpu_seconds = 0;  // spent by this process so far
  double cores = 1;        // cores that it may keep busy
  double memory_bytes = 0;
  double memory_limit = 0;  // 0: not known
  int permits = 1;
  int permits_in_use = 0;
  double requests = 0;  // requests that have ended so far
  double failures = 0;  // requests that failed by the server's fault
  double queue_depth = 0;
  double queue_oldest_seconds = 0;
  double expected_wait_seconds = 0;
};

// Makes load reports of samples that are taken several times a second. What changes from one moment
// to the next, such as the permits in use and the rates, is averaged over about kMemory. Not
// thread-safe.
class LoadMeter {
 public:
  // A sample of this age counts a third (1/e) of a new one.
  static constexpr Duration kMemory = std::chrono::seconds(2);

  // target_wait > 0: the wait before a request begins at which the server counts as fully used.
  explicit LoadMeter(Duration target_wait) : target_wait_(target_wait) {}

  // Takes the next sample, and returns the report as of then.
  xds::data::orca::v3::OrcaLoadReport Update(const LoadSample& sample);

 private:
  const Duration target_wait_;
  std::optional<LoadSample> last_;
  double permits_used_ = 0;  // averages, as of last_
  double cpu_ = 0;
  double requests_a_second_ = 0;
  double failures_a_second_ = 0;
};

// Returns the report as Envoy reads it in the trailer `endpoint-load-metrics`: pairs such as
// "application_utilization:0.7,named_metrics.queue_depth:3". Metrics that are 0 are left out, but
// for the utilization of the application, so that the text is never empty.
std::string ToText(const xds::data::orca::v3::OrcaLoadReport& report);

}  // namespace millrace::server
