#include <gtest/gtest.h>

#include "server/frontends/orca/load_meter.h"

namespace millrace::server {
namespace {

using xds::data::orca::v3::OrcaLoadReport;

TEST(ReportTextTest, HasTheNamesThatEnvoyReads) {
  OrcaLoadReport report;
  report.set_application_utilization(0.75);
  report.set_cpu_utilization(0.5);
  report.set_mem_utilization(0.25);
  report.set_rps_fractional(12.5);
  report.set_eps(2);
  (*report.mutable_named_metrics())["queue_depth"] = 3;
  (*report.mutable_named_metrics())["expected_wait_seconds"] = 0.1;
  EXPECT_EQ(ToText(report),
            "application_utilization:0.75,cpu_utilization:0.5,mem_utilization:0.25,"
            "rps_fractional:12.5,eps:2,named_metrics.expected_wait_seconds:0.1,"
            "named_metrics.queue_depth:3");
}

TEST(ReportTextTest, LeavesOutWhatIsZeroButIsNeverEmpty) {
  EXPECT_EQ(ToText(OrcaLoadReport()), "application_utilization:0");
}

}  // namespace
}  // namespace millrace::server
