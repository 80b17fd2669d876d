#include "models/text/espeak_pool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tests/fakes/at_once.h"

namespace millrace::models {
namespace {

constexpr std::chrono::milliseconds kShort{1000};
constexpr std::chrono::milliseconds kLong{20000};

EspeakPool::Options Fake(std::chrono::milliseconds timeout, size_t processes = 2) {
  EspeakPool::Options options;
  options.process = {MILLRACE_FAKE_ESPEAK, "en-us"};
  options.max_processes = processes;
  options.timeout = timeout;
  return options;
}

std::vector<std::string> Lines(std::initializer_list<const char*> lines) {
  return {lines.begin(), lines.end()};
}

TEST(EspeakProcessTest, AnswersEachLineInOrder) {
  auto process = EspeakProcess::Start({MILLRACE_FAKE_ESPEAK, "en-us"});
  ASSERT_TRUE(process.ok()) << process.status();
  for (int round = 0; round < 3; ++round) {
    const auto answers = (*process)->Translate(Lines({"one", "", "three"}), kLong);
    ASSERT_TRUE(answers.ok()) << answers.status();
    EXPECT_EQ(*answers, Lines({"<one>\n", "<>\n", "<three>\n"}));
  }
}

TEST(EspeakProcessTest, MoreInputThanThePipesHoldDoesNotBlock) {
  auto process = EspeakProcess::Start({MILLRACE_FAKE_ESPEAK, "en-us"});
  ASSERT_TRUE(process.ok());
  const std::vector<std::string> lines(700, std::string(900, 'a'));
  const auto answers = (*process)->Translate(lines, kLong);
  ASSERT_TRUE(answers.ok()) << answers.status();
  EXPECT_EQ(answers->size(), lines.size());
}

TEST(EspeakProcessTest, AProgramThatCannotStartIsAnError) {
  const auto process = EspeakProcess::Start({"/nowhere/espeak-ng", "en-us"});
  ASSERT_FALSE(process.ok());
  EXPECT_NE(process.status().message().find("/nowhere/espeak-ng"), std::string::npos)
      << process.status();
}

TEST(EspeakProcessTest, LeavesNoProcessBehind) {
  auto process = EspeakProcess::Start({MILLRACE_FAKE_ESPEAK, "en-us"});
  ASSERT_TRUE(process.ok());
  const pid_t pid = (*process)->pid();
  process->reset();
  EXPECT_EQ(kill(pid, 0), -1);  // killed and waited for
}

TEST(EspeakPoolTest, AVoiceMayHaveAProcessForEveryOtherCoreAndAtLeastFour) {
  EXPECT_EQ(EspeakProcesses(1), 4U);
  EXPECT_EQ(EspeakProcesses(9), 4U);
  EXPECT_EQ(EspeakProcesses(16), 8U);
  EXPECT_EQ(EspeakProcesses(33), 16U);
}

TEST(EspeakPoolTest, AHungProcessFailsItsCallInTimeAndIsReplaced) {
  // The only process hangs, so an answer is another's. On a busy machine to start one may take
  // longer than it was given to answer: then all of it is done again with more time.
  absl::StatusOr<std::vector<std::string>> next = absl::UnknownError("not asked");
  for (auto timeout = kShort; !next.ok() && timeout < kLong; timeout *= 2) {
    EspeakPool pool(Fake(timeout, 1));
    const auto hung = pool.Translate(Lines({"hang"}));
    EXPECT_EQ(hung.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_NE(hung.status().message().find("did not answer in time"), std::string::npos)
        << hung.status();
    next = pool.Translate(Lines({"hello"}));
  }
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(next->front(), "<hello>\n");
}

TEST(EspeakPoolTest, ADeadProcessIsReplaced) {
  EspeakPool pool(Fake(kLong, 1));
  EXPECT_FALSE(pool.Translate(Lines({"die"})).ok());
  const auto next = pool.Translate(Lines({"hello"}));
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(next->front(), "<hello>\n");
}

// Somebody kills a process, and the request does not notice.
TEST(EspeakPoolTest, ACallWhoseProcessDiesAsksAnotherOne) {
  const std::string mark = ::testing::TempDir() + "espeak-died-" + std::to_string(getpid());
  EspeakPool pool(Fake(kLong, 1));
  const std::vector<std::string> lines = {"one", "die-once " + mark, "three"};
  const auto answers = pool.Translate(lines);
  ASSERT_TRUE(answers.ok()) << answers.status();
  EXPECT_EQ(answers->front(), "<one>\n");
  EXPECT_EQ(answers->back(), "<three>\n");
  EXPECT_TRUE(std::filesystem::remove(mark));
}

TEST(EspeakPoolTest, ADeadProcessFailsItsCallWithoutASignal) {
  EspeakPool pool(Fake(kLong));
  const auto dead = pool.Translate(Lines({"die", "more", "and more"}));
  EXPECT_EQ(dead.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(dead.status().message().find("ended unexpectedly"), std::string::npos) << dead.status();
}

TEST(EspeakPoolTest, EndlessOutputIsCutOff) {
  EspeakPool pool(Fake(kLong));
  const auto flood = pool.Translate(Lines({"flood"}));
  EXPECT_EQ(flood.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(flood.status().message().find("far too much"), std::string::npos) << flood.status();
}

TEST(EspeakPoolTest, OtherCallsDoNotNoticeAHungOne) {
  const std::string gate = ::testing::TempDir() + "espeak-gate-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(gate.c_str(), 0600), 0);
  EspeakPool pool(Fake(kLong, 2));
  std::thread hung([&] {
    const std::vector<std::string> lines = {"wait " + gate};
    const auto answers = pool.Translate(lines);
    EXPECT_TRUE(answers.ok()) << answers.status();
    // Had the process never come to the gate, the other side would wait for it.
    close(open(gate.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  });
  const int held = open(gate.c_str(), O_WRONLY | O_CLOEXEC);  // returns once the process hangs
  for (int i = 0; i < 20; ++i) {
    const auto answers = pool.Translate(Lines({"hello"}));
    EXPECT_TRUE(answers.ok()) << answers.status();
    EXPECT_EQ(answers.value_or(Lines({"nothing"})).front(), "<hello>\n");
  }
  close(held);
  hung.join();
  std::filesystem::remove(gate);
}

TEST(EspeakProcessTest, AProcessThatSomebodyElseWaitedForHasEnded) {
  auto process = EspeakProcess::Start({MILLRACE_FAKE_ESPEAK, "en-us"});
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_TRUE((*process)->Running());
  const pid_t pid = (*process)->pid();
  ASSERT_EQ(kill(pid, SIGKILL), 0);
  ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
  EXPECT_FALSE((*process)->Running());
}

TEST(EspeakPoolTest, ManyThreadsShareFewProcesses) {
  EspeakPool pool(Fake(kLong, 2));
  constexpr int kThreads = 8;
  testing::AtOnce(kThreads, [&](int i) {
    for (int round = 0; round < 20; ++round) {
      const std::string word = "word" + std::to_string(i) + "x" + std::to_string(round);
      const std::vector<std::string> lines = {word};
      const auto answers = pool.Translate(lines);
      ASSERT_TRUE(answers.ok()) << answers.status();
      EXPECT_EQ(answers->front(), "<" + word + ">\n");
    }
  });
}

TEST(FindEspeakTest, AMissingProgramNamesThePackageToInstall) {
  const auto found = FindEspeak("no-such-espeak-ng");
  EXPECT_EQ(found.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(found.status().message().find("install the package espeak-ng"), std::string::npos)
      << found.status();
}

TEST(FindEspeakTest, AFileThatMayNotBeRunIsNotAProgram) {
  EXPECT_FALSE(FindEspeak(MILLRACE_SOURCE_DIR "/CMakeLists.txt").ok());
}

}  // namespace
}  // namespace millrace::models
