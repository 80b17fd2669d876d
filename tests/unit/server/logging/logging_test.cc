#include "server/logging/logging.h"

#include <regex>
#include <sstream>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"

namespace millrace::logging {
namespace {

// What a body writes to stderr with these options.
template <class Body>
std::vector<std::string> Lines(const Options& options, Body body) {
  ::testing::internal::CaptureStderr();
  Init(options);
  body();
  Shutdown();
  std::istringstream text(::testing::internal::GetCapturedStderr());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

class LoggingTest : public ::testing::TestWithParam<bool> {};

TEST_P(LoggingTest, JsonIsOneObjectALine) {
  const auto lines = Lines({.format = LogFormat::kJson, .async = GetParam()}, [] {
    Info("request done", {{"request_id", "abc"}, {"code", "OK"}, {"seconds", 0.5}});
    spdlog::warn("plain \"text\"\nof a library");
  });
  ASSERT_EQ(lines.size(), 2U);
  const auto first = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(first["level"], "info");
  EXPECT_EQ(first["message"], "request done");
  EXPECT_EQ(first["request_id"], "abc");
  EXPECT_EQ(first["seconds"], 0.5);
  EXPECT_TRUE(std::regex_match(std::string(first["time"]),
                               std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")));
  const auto second = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(second["level"], "warning");
  EXPECT_EQ(second["message"], "plain \"text\"\nof a library");
}

TEST_P(LoggingTest, TextHasTimeLevelAndFields) {
  const auto lines = Lines({.async = GetParam()}, [] {
    Error("broken", {{"model", "joe"}, {"reason", "no file"}});
  });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].substr(24), " error broken model=joe reason=\"no file\"");
}

TEST_P(LoggingTest, LinesBelowTheLevelAreDropped) {
  const auto lines = Lines({.level = LogLevel::kWarning, .async = GetParam()}, [] {
    Info("not this");
    Debug("nor this");
    EXPECT_FALSE(Enabled(LogLevel::kInfo));
    EXPECT_TRUE(Enabled(LogLevel::kError));
    Warning("this");
  });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("this"), std::string::npos);
  EXPECT_TRUE(
      Lines({.level = LogLevel::kOff, .async = GetParam()}, [] { Error("nothing"); }).empty());
}

TEST_P(LoggingTest, LinesOfManyThreadsStayWhole) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  const auto lines = Lines({.format = LogFormat::kJson, .async = GetParam()}, [] {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([t] {
        for (int i = 0; i < kLines; ++i) Info("line", {{"thread", t}, {"index", i}});
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(lines.size(), size_t{kThreads} * kLines);
  for (const std::string& line : lines) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
}

TEST_P(LoggingTest, AfterShutdownLinesAreDropped) {
  const auto lines = Lines({.async = GetParam()}, [] {});
  ::testing::internal::CaptureStderr();
  Error("late");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

INSTANTIATE_TEST_SUITE_P(SyncAndAsync, LoggingTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "async" : "sync"; });

}  // namespace
}  // namespace millrace::logging
