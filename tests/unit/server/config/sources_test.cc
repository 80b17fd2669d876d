#include "server/config/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/ascii.h"
#include "models/core/strings.h"

namespace millrace {
namespace {

class TomlFileTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return path_;
  }
  std::string Error(const std::string& text) {
    const auto values = ReadTomlFile(Write(text));
    return values.ok() ? "" : std::string(values.status().message()).substr(path_.size());
  }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ = ::testing::TempDir() + "millrace_" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                            ".toml";
};

TEST_F(TomlFileTest, GivesValuesWithTheirLines) {
  const auto values =
      ReadTomlFile(Write("# comment\nqueue_size = 64\ninsecure = true\nlog_level = \"debug\"\n"));
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(values->at("queue-size").value, "64");
  EXPECT_EQ(values->at("queue-size").origin, "file " + path_ + ":2");
  EXPECT_EQ(values->at("insecure").value, "true");
  EXPECT_EQ(values->at("log-level").value, "debug");
}

TEST_F(TomlFileTest, UnknownKeyIsRefusedByNameWithTheNearest) {
  EXPECT_EQ(Error("models = 'x'\nqueue_sise = 4\n"),
            ":2: unknown key queue_sise, did you mean queue_size?");
  EXPECT_EQ(Error("QUEUE_SIZE = 4\n"), ":1: unknown key QUEUE_SIZE, did you mean queue_size?");
  EXPECT_EQ(Error("frobnicate = 4\n"), ":1: unknown key frobnicate");
  EXPECT_EQ(Error("[server]\nqueue_size = 4\n"),
            ":1: unknown table server; all keys stand outside of tables");
}

TEST_F(TomlFileTest, SyntaxErrorHasLineAndColumn) {
  EXPECT_EQ(Error("queue_size = 4\nworkers = = 2\n").substr(0, 3), ":2:");
  EXPECT_EQ(Error("workers = \xd2\x8c\n").substr(0, 3), ":1:") << "a Cyrillic letter";
}

TEST_F(TomlFileTest, SyntaxErrorShowsItsLineAndWhatTheKeyAllows) {
  for (const char* line : {"queue_size = 99999999999999999999", "queue_size =", "queue_size = x"}) {
    const std::string error = Error(StrCat("insecure = true\r\n", line, "\r\n"));
    EXPECT_EQ(error.substr(0, 3), ":2:") << error;
    EXPECT_TRUE(error.ends_with(StrCat(", in '", line, "', allowed: 1..65536"))) << error;
  }
  const std::string twice = Error("queue_size = 3\nqueue_size = 4");
  EXPECT_NE(twice.find(":2:"), std::string::npos) << twice;
  EXPECT_NE(twice.find("in 'queue_size = 4'"), std::string::npos) << twice;
  EXPECT_TRUE(Error("nothing = \"\xe9\"").ends_with("in 'nothing = \"?\"'"));
}

TEST_F(TomlFileTest, MayBeginWithAByteOrderMarkAndEndLinesAsWindowsDoes) {
  const auto values = ReadTomlFile(Write("\xef\xbb\xbfqueue_size = 64\r\nworkers = 2\r\n"));
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(values->at("queue-size").value, "64");
}

TEST_F(TomlFileTest, ValueOfAnotherKindIsRefused) {
  EXPECT_NE(Error("pull = [\"a,b\"]\n").find(":1: pull: not a string"), std::string::npos);
  EXPECT_NE(Error("queue_size = [1, 2]\n").find(":1: queue_size: not a string"), std::string::npos);
  for (const char* line : {"queue_size = 1.5", "queue_size = {a = 1}", "queue_size = 2026-01-01"}) {
    EXPECT_EQ(Error(line), StrCat(":1: queue_size: not a string, whole number, boolean or list of "
                                  "strings, in '",
                                  line, "', allowed: 1..65536"));
  }
}

TEST(ConfigFileTest, MissingIsAnErrorThatNamesIt) {
  const auto values = ReadTomlFile("no/such/file.toml");
  EXPECT_EQ(values.status().message(),
            "--config: no/such/file.toml cannot be read: No such file or directory");
}

TEST(VariablesTest, UnknownIsRefusedByNameWithTheNearest) {
  EXPECT_EQ(ReadEnvironment({{"MILLRACE_QUEUE_SIZ", "4"}}).status().message(),
            "unknown environment variable MILLRACE_QUEUE_SIZ, did you mean MILLRACE_QUEUE_SIZE?");
}

TEST(VariablesTest, OfOthersAndEmptyOnesAreIgnored) {
  const auto values = ReadEnvironment({{"HOME", "/"},
                                       {"MILLRACE_WORKERS", ""},
                                       {"MILLRACE_TYPO", ""},
                                       {"MILLRACE_API_KEY", "secret"},
                                       {"MILLRACE_CONFIG", "x"}});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_TRUE(values->empty());
}

// A pod beside a service named "millrace" gets these unasked; refusing them would keep the server
// from starting.
TEST(VariablesTest, ThatKubernetesAddsForAServiceAreIgnored) {
  const auto values = ReadEnvironment({{"MILLRACE_SERVICE_HOST", "10.0.0.1"},
                                       {"MILLRACE_SERVICE_PORT", "8001"},
                                       {"MILLRACE_SERVICE_PORT_GRPC", "8001"},
                                       {"MILLRACE_PORT", "tcp://10.0.0.1:8001"},
                                       {"MILLRACE_PORT_8001_TCP", "tcp://10.0.0.1:8001"},
                                       {"MILLRACE_PORT_8001_TCP_ADDR", "10.0.0.1"},
                                       {"MILLRACE_HTTP_PORT_8000_TCP_PROTO", "tcp"}});
  EXPECT_TRUE(values.ok()) << values.status();
  EXPECT_FALSE(ReadEnvironment({{"MILLRACE_PORT", "8001"}}).ok());
}

TEST(ApplyTest, BadValueNamesPlaceValueAndAllowed) {
  ServerConfig config;
  Origins origins;
  const absl::Status status = Apply(
      {{"queue-size", {"0", "conf.toml:3: queue_size", "file conf.toml:3"}}}, config, origins);
  EXPECT_EQ(status.message(), "conf.toml:3: queue_size: '0' is not allowed, allowed: 1..65536");
}

TEST(ApplyTest, WhatATerminalMayNotShowIsRefusedWithoutIt) {
  ServerConfig config;
  Origins origins;
  for (const char* text : {R"(log_level = "a\u001b[31m")", R"(models = "/x\u0000/y")"}) {
    const auto values = ParseToml(text, "conf.toml");
    ASSERT_TRUE(values.ok()) << values.status();
    const absl::Status status = Apply(*values, config, origins);
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("' is not allowed, allowed: "));
    EXPECT_TRUE(std::ranges::all_of(status.message(), absl::ascii_isprint)) << status;
  }
}

}  // namespace
}  // namespace millrace
