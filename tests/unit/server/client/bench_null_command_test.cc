#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/server/client/client_fixture.h"

namespace millrace {
namespace {

using BenchNullCommandTest = ClientTest;

TEST_F(BenchNullCommandTest, BenchNullPrintsRateAndLatencies) {
  BenchNullCommand command;
  command.client = client_;
  command.concurrency = 4;
  command.duration = std::chrono::milliseconds(500);
  command.warmup = std::chrono::milliseconds(0);
  EXPECT_EQ(Captured([&] { return RunBenchNull(command); }), kExitOk) << err_;
  double rate = 0;
  double p50 = 0;
  double p99 = 0;
  ASSERT_EQ(std::sscanf(out_.c_str(), "%lf requests/s, p50 %lf ms, p99 %lf ms", &rate, &p50, &p99),
            3)
      << out_;
  EXPECT_GT(rate, 0);
  EXPECT_GT(p50, 0);
  EXPECT_GE(p99, p50);
}

TEST_F(BenchNullCommandTest, BenchNullStopsAtAnError) {
  BenchNullCommand command;
  command.client = client_;
  command.model = "full";
  command.duration = std::chrono::minutes(10);
  EXPECT_EQ(Captured([&] { return RunBenchNull(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: queue of model 'full' is full\n");
}

}  // namespace
}  // namespace millrace
