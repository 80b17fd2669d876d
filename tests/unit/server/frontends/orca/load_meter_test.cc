#include "server/frontends/orca/load_meter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using xds::data::orca::v3::OrcaLoadReport;

class LoadMeterTest : public ::testing::Test {
 protected:
  // Takes ten samples a second for so long; `step` changes the sample before each.
  OrcaLoadReport Run(
      Duration time, const std::function<void()>& step = [] {}) {
    OrcaLoadReport report;
    for (Duration passed{}; passed < time; passed += milliseconds(100)) {
      sample_.time += milliseconds(100);
      step();
      report = meter_.Update(sample_);
    }
    return report;
  }

  LoadSample sample_{.time = TimePoint(std::chrono::hours(1))};
  LoadMeter meter_{milliseconds(500)};
};

TEST_F(LoadMeterTest, RatesAreThoseOfTheLastSeconds) {
  const auto busy = [this] {
    sample_.requests += 4;
    sample_.failures += 1;
  };
  EXPECT_EQ(meter_.Update(sample_).rps_fractional(), 0);
  EXPECT_NEAR(Run(seconds(20), busy).rps_fractional(), 40, 0.1);
  EXPECT_NEAR(Run(seconds(1), busy).eps(), 10, 0.1);
  const OrcaLoadReport later = Run(LoadMeter::kMemory);
  EXPECT_NEAR(later.rps_fractional(), 40 / 2.718, 1);
  EXPECT_NEAR(Run(seconds(20)).rps_fractional(), 0, 0.1);
}

TEST_F(LoadMeterTest, TheApplicationIsUsedAsItsPermitsAre) {
  sample_.permits = 2;
  bool on = false;
  // Half of the time one of two forwards runs.
  const OrcaLoadReport report =
      Run(seconds(20), [&] { sample_.permits_in_use = (on = !on) ? 1 : 0; });
  EXPECT_NEAR(report.application_utilization(), 0.25, 0.02);
}

TEST_F(LoadMeterTest, OrAsFarAsRequestsWait) {
  sample_.permits_in_use = 1;
  sample_.expected_wait_seconds = 0.25;
  EXPECT_EQ(meter_.Update(sample_).application_utilization(), 1) << "the permits count for more";
  sample_.expected_wait_seconds = 1.5;
  EXPECT_EQ(Run(milliseconds(100)).application_utilization(), 3);
}

TEST_F(LoadMeterTest, CpuAndMemoryAreSharesOfWhatThereIs) {
  sample_.cores = 4;
  sample_.memory_limit = 1000;
  sample_.memory_bytes = 250;
  meter_.Update(sample_);
  const OrcaLoadReport report = Run(seconds(20), [this] { sample_.cpu_seconds += 0.2; });
  EXPECT_NEAR(report.cpu_utilization(), 0.5, 0.01);
  EXPECT_EQ(report.mem_utilization(), 0.25);
  sample_.memory_bytes = 2000;
  EXPECT_EQ(Run(milliseconds(100)).mem_utilization(), 1);
}

TEST_F(LoadMeterTest, NamesTheQueue) {
  sample_.queue_depth = 7;
  sample_.queue_oldest_seconds = 0.5;
  sample_.expected_wait_seconds = 0.25;
  const OrcaLoadReport report = meter_.Update(sample_);
  EXPECT_EQ(report.named_metrics().at("queue_depth"), 7);
  EXPECT_EQ(report.named_metrics().at("queue_oldest_seconds"), 0.5);
  EXPECT_EQ(report.named_metrics().at("expected_wait_seconds"), 0.25);
}

TEST_F(LoadMeterTest, SamplesOfOneMomentDivideByNothing) {
  meter_.Update(sample_);
  sample_.requests = 5;
  EXPECT_EQ(meter_.Update(sample_).rps_fractional(), 0);
}

}  // namespace
}  // namespace millrace::server
