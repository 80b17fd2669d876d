#include "server/executors/executor_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <string>

#include "server/executors/frame.h"

namespace millrace::server {
namespace {

using ::testing::HasSubstr;

// Returns how an executor ended that is a shell with this script.
ProcessEnd EndOf(const std::string& script) {
  const std::string file = ::testing::TempDir() + "executor.sh";
  std::ofstream(file) << script << "\n";
  ProgramLauncher launcher("/bin/sh", file);
  auto pair = MakeSocketPair();
  EXPECT_TRUE(pair.ok());
  auto process = launcher.Launch(std::move(pair->theirs));
  EXPECT_TRUE(process.ok()) << process.status();
  return process.ok() ? (*process)->Await() : ProcessEnd();
}

TEST(ProgramLauncherTest, TellsHowAProcessEnded) {
  EXPECT_EQ(EndOf("exit 3").exit_status, 3);
  EXPECT_EQ(EndOf("exit 3").signal, 0);
  EXPECT_EQ(EndOf("kill -SEGV $$").signal, SIGSEGV);
  EXPECT_EQ(EndOf("kill -KILL $$").signal, SIGKILL);
}

TEST(ProgramLauncherTest, DropsWhatAProcessPrints) {
  EXPECT_EQ(EndOf("yes | head -c 1000000; exit 4").exit_status, 4);
}

// A wait for its end that is not limited shows as a hang.
TEST(ProgramLauncherTest, KillsAProcessThatDoesNotEndByItself) {
  EXPECT_EQ(EndOf("sleep 1000").signal, SIGKILL);
}

TEST(ProgramLauncherTest, SaysThatAProgramIsMissing) {
  ProgramLauncher launcher("/nowhere/millrace-server", "--as-executor");
  auto pair = MakeSocketPair();
  ASSERT_TRUE(pair.ok());
  const auto process = launcher.Launch(std::move(pair->theirs));
  EXPECT_EQ(process.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(process.status().message()),
              HasSubstr("/nowhere/millrace-server: No such file or directory"));
}

}  // namespace
}  // namespace millrace::server
