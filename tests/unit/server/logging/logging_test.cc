#include "server/logging/logging.h"

#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <thread>
#include <vector>

#include "mps_runtime/base/log_sink.h"
#include "nlohmann/json.hpp"
#include "spdlog/spdlog.h"

namespace millrace::logging {
namespace {

// Returns the output of a body on stderr with these options.
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

TEST(LoggingTest, JsonIsOneObjectALine) {
  const auto lines = Lines({.format = LogFormat::kJson}, [] {
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

TEST(LoggingTest, TextHasTimeLevelAndFields) {
  const auto lines = Lines({}, [] { Error("broken", {{"model", "joe"}, {"reason", "no file"}}); });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].substr(24), " error broken model=joe reason=\"no file\"");
}

TEST(LoggingTest, LinesBelowTheLevelAreDropped) {
  const auto lines = Lines({.level = LogLevel::kWarning}, [] {
    Info("not this");
    Debug("nor this");
    EXPECT_FALSE(Enabled(LogLevel::kInfo));
    EXPECT_TRUE(Enabled(LogLevel::kError));
    Warning("this");
  });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("this"), std::string::npos);
  EXPECT_TRUE(Lines({.level = LogLevel::kOff}, [] { Error("nothing"); }).empty());
}

TEST(LoggingTest, LinesOfManyThreadsStayWhole) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  const auto lines = Lines({.format = LogFormat::kJson}, [] {
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

TEST(LoggingTest, AfterShutdownLinesAreDropped) {
  const auto lines = Lines({}, [] {});
  ::testing::internal::CaptureStderr();
  Error("late");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(LoggingTest, LastWordsComeWhateverTheLevel) {
  EXPECT_EQ(Lines({.level = LogLevel::kOff}, [] { LastWords("no \"model\""); }),
            std::vector<std::string>{"millrace: no \"model\""});
  const auto lines = Lines({.level = LogLevel::kOff, .format = LogFormat::kJson},
                           [] { LastWords("no \"model\"\nat all"); });
  ASSERT_EQ(lines.size(), 1U);
  const auto line = nlohmann::json::parse(lines[0]);
  EXPECT_EQ(line["message"], "no \"model\"\nat all");
  EXPECT_EQ(line["level"], "error");
}

TEST(LoggingTest, LinesOfModelsAndRuntimeAreLinesOfTheLog) {
  const auto lines = Lines({.format = LogFormat::kJson}, [] {
    SendToLog(LogSeverity::kWarning, "words.txt:3: \"x\"");
    SendToLog(LogSeverity::kError, "stream 3 failed");
    SendToLog(LogSeverity::kInfo, "bfloat16 is used");
  });
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(nlohmann::json::parse(lines[0])["level"], "warning");
  EXPECT_EQ(nlohmann::json::parse(lines[0])["message"], "words.txt:3: \"x\"");
  EXPECT_EQ(nlohmann::json::parse(lines[1])["level"], "error");
  EXPECT_EQ(nlohmann::json::parse(lines[2])["level"], "info");
}

}  // namespace
}  // namespace millrace::logging
