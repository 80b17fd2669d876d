// The command line of millrace-server calibrate.

#include <gtest/gtest.h>

#include <vector>

#include "server/config/command_line.h"
#include "tests/unit/server/config/command_line_fixture.h"

namespace millrace {
namespace {

TEST(CalibrateTest, WritesWhereServeLooks) {
  const auto command = Parse<CalibrateCommand>({"calibrate", "--models", "/srv/models"});
  EXPECT_EQ(command.models, "/srv/models");
  EXPECT_EQ(command.output, DefaultSafetyProfile("/srv/models"));
  EXPECT_EQ(command.device, std::nullopt);
  EXPECT_EQ(command.repeats, 60);
  EXPECT_EQ(command.max_threads, 0);
  EXPECT_EQ(command.watchdog, std::chrono::minutes(2));
  EXPECT_TRUE(command.only.empty());
}

TEST(CalibrateTest, TakesItsFlags) {
  const auto command = Parse<CalibrateCommand>(
      {"calibrate", "--model", "a", "--model", "b", "--device", "cpu", "--repeats", "7",
       "--max-threads", "31", "--watchdog", "1h", "-o", "p.json"});
  EXPECT_EQ(command.only, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(command.device, runtime::DeviceType::kCpu);
  EXPECT_EQ(command.repeats, 7);
  EXPECT_EQ(command.max_threads, 31);
  EXPECT_EQ(command.watchdog, std::chrono::hours(1));
  EXPECT_EQ(command.output, "p.json");
  EXPECT_TRUE(Parse<CalibrateCommand>({"calibrate", "--operators-only"}).operators_only);
}

TEST(CalibrateTest, SharesTheVariablesOfServe) {
  const Environment environment = {{"MILLRACE_MODELS", "/srv/models"},
                                   {"MILLRACE_SAFETY_PROFILE", "/etc/p.json"}};
  const auto command = Parse<CalibrateCommand>({"calibrate"}, environment);
  EXPECT_EQ(command.models, "/srv/models");
  EXPECT_EQ(command.output, "/etc/p.json");
  EXPECT_EQ(Parse<CalibrateCommand>({"calibrate", "-o", "q.json"}, environment).output, "q.json");
}

TEST(CalibrateTest, RefusesByNameWithWhatIsAllowed) {
  const std::vector<std::vector<std::string>> kBad = {
      {"--repeats", "0", "1"},
      {"--repeats", "-1", "1"},
      {"--repeats", "10001", "10000"},
      {"--max-threads", "0", "31"},
      {"--max-threads", "32", "31"},
      {"--watchdog", "0s", "1s"},
      {"--watchdog", "61m", "1h"},
      {"--watchdog", "5", "5s"},
      {"--device", "tpu", "auto, cpu, cuda, mps"},
      {"--repeats", "many", "many"},
  };
  for (const auto& bad : kBad) {
    const EarlyExit exit = Refused({"calibrate", bad[0], bad[1]});
    EXPECT_EQ(exit.status, kExitUsage);
    EXPECT_TRUE(Has(exit.err, bad[0]) && Has(exit.err, bad[2])) << exit.err;
  }
  EXPECT_TRUE(Has(Refused({"calibrate", "--operators-only", "--model", "a"}).err,
                  "--operators-only and --model"));
}

}  // namespace
}  // namespace millrace
