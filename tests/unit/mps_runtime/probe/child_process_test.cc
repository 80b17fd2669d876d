#include "mps_runtime/probe/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "mps_runtime/base/joining_thread.h"
#include "tests/fakes/at_once.h"

namespace millrace::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kFlag[] = "--child";

[[noreturn]] void HangForEver() {
  for (;;) pause();
}

[[noreturn]] void DieOf(int signal) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  std::signal(signal, SIG_DFL);  // a sanitizer would turn it into an exit status
  raise(signal);
  HangForEver();
}

void Report(int fd, pid_t pid) {
  if (write(fd, &pid, sizeof(pid)) != sizeof(pid)) std::abort();
}

// The main of these tests' children. The number is a signal, a status, a size or the descriptor
// of a pipe of the test.
int ChildMain(const std::string& what, int number) {
  if (what == "close all and hang") {
    for (int fd = 0; fd < 64; ++fd) close(fd);
    HangForEver();
  }
  EndWithParent();
  if (what == "exit") return number;
  if (what == "die") DieOf(number);
  if (what == "hang") HangForEver();
  if (what == "say") {
    std::fprintf(stderr, "first line\nit was\tlost \r\n\n");
    return kChildError;
  }
  if (what == "shout") {
    const std::string line(static_cast<size_t>(number), 'x');
    std::fprintf(stderr, "%s", line.c_str());
    return 0;
  }
  if (what == "check streams") {
    struct stat output {
    }, null{};
    fstat(STDOUT_FILENO, &output);
    stat("/dev/null", &null);
    return output.st_rdev == null.st_rdev ? 0 : kChildWrong;
  }
  if (what == "tell and hang") {
    Report(number, getpid());
    HangForEver();
  }
  if (what == "fork and hang" || what == "fork and die") {
    const pid_t grandchild = fork();
    if (grandchild == 0) HangForEver();
    Report(number, grandchild);
    if (what == "fork and hang") HangForEver();
    DieOf(SIGABRT);
  }
  if (what == "start another that hangs") {
    Report(number, getpid());
    RunChild({kFlag, "tell and hang", std::to_string(number)}, {});
  }
  return kChildError;
}

ChildResult InChild(const std::string& what, int number = 0, milliseconds watchdog = seconds(60)) {
  return RunChild({kFlag, what, std::to_string(number)},
                  {.watchdog = watchdog, .capture_last_line = true});
}

// A pipe whose writing end children inherit: they tell process numbers through it, and its end is
// reached when all of them are gone.
class Witness {
 public:
  Witness() {
    if (pipe(ends_.data()) != 0) std::abort();
    fcntl(ends_[0], F_SETFD, FD_CLOEXEC);
  }
  ~Witness() {
    close(ends_[0]);
    CloseOurs();
  }

  int number() const { return ends_[1]; }
  // The next number told; nullopt when nobody is left to tell one.
  std::optional<pid_t> Next() {
    pollfd readable{.fd = ends_[0], .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, 30'000) != 1) {
      ADD_FAILURE() << "a process lives on and says nothing";
      return std::nullopt;
    }
    pid_t pid = 0;
    if (read(ends_[0], &pid, sizeof(pid)) != sizeof(pid)) return std::nullopt;
    return pid;
  }
  void CloseOurs() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_;
};

TEST(RunChildTest, TellsOutcomesApart) {
  EXPECT_EQ(InChild("exit", 0).outcome, ChildOutcome::kOk);
  EXPECT_EQ(InChild("exit", kChildWrong).outcome, ChildOutcome::kWrong);
  EXPECT_EQ(InChild("exit", kChildError).outcome, ChildOutcome::kError);
  EXPECT_EQ(Describe(InChild("exit", 7)), "error (exit status 7)");
  EXPECT_EQ(Describe(InChild("die", SIGSEGV)), "crash (SIGSEGV)");
  EXPECT_EQ(Describe(InChild("die", SIGABRT)), "crash (SIGABRT)");
  EXPECT_EQ(Describe(InChild("hang", 0, milliseconds(300))), "hang");
}

TEST(RunChildTest, ClosedDescriptorsAreNotTakenForTheEnd) {
  EXPECT_EQ(Describe(InChild("close all and hang", 0, milliseconds(300))), "hang");
}

TEST(RunChildTest, KeepsTheLastLine) {
  EXPECT_EQ(Describe(InChild("say")), "error: it was lost");
  EXPECT_EQ(RunChild({kFlag, "say", "0"}, {}).last_line, "");
}

TEST(RunChildTest, ReadsMoreThanItKeeps) {
  EXPECT_EQ(Describe(InChild("shout", 4'000'000)), "ok: " + std::string(kMaxLastLine, 'x'));
}

TEST(RunChildTest, ChildCannotWriteToOurOutput) {
  EXPECT_EQ(InChild("check streams").outcome, ChildOutcome::kOk);
}

TEST(RunChildTest, KillsWhatAHungChildStarted) {
  Witness witness;
  EXPECT_EQ(InChild("fork and hang", witness.number(), seconds(2)).outcome, ChildOutcome::kHung);
  EXPECT_TRUE(witness.Next().has_value());
  witness.CloseOurs();
  EXPECT_EQ(witness.Next(), std::nullopt);
}

TEST(RunChildTest, StopKillsTheChildLongBeforeItsWatchdog) {
  Witness witness;
  const ChildResult result = RunChild(
      {kFlag, "tell and hang", std::to_string(witness.number())},
      {.watchdog = std::chrono::hours(1), .stop = [&] { return witness.Next().has_value(); }});
  EXPECT_EQ(result.outcome, ChildOutcome::kHung);
  witness.CloseOurs();
  EXPECT_EQ(witness.Next(), std::nullopt);
}

TEST(RunChildTest, KillsWhatACrashedChildLeft) {
  Witness witness;
  EXPECT_EQ(InChild("fork and die", witness.number()).signal, SIGABRT);
  EXPECT_TRUE(witness.Next().has_value());
  witness.CloseOurs();
  EXPECT_EQ(witness.Next(), std::nullopt);
}

TEST(RunChildTest, SurvivesThatSomebodyKillsTheChild) {
  Witness witness;
  JoiningThread somebody([&] { kill(witness.Next().value_or(getpid()), SIGKILL); });
  EXPECT_EQ(Describe(InChild("tell and hang", witness.number())), "crash (SIGKILL)");
}

TEST(RunChildTest, ChildEndsWithItsParent) {
  Witness witness;
  JoiningThread somebody([&] {
    const auto parent = witness.Next();
    const auto child = witness.Next();
    ASSERT_TRUE(parent && child);
    kill(*parent, SIGKILL);
  });
  EXPECT_EQ(InChild("start another that hangs", witness.number()).signal, SIGKILL);
  somebody.join();
  witness.CloseOurs();
  EXPECT_EQ(witness.Next(), std::nullopt);
}

TEST(RunChildTest, ChildHasSignalsAsAtAProgramsStart) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  EXPECT_EQ(Describe(InChild("die", SIGTERM)), "crash (SIGTERM)");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(RunChildTest, IsRefusedWhereTheOutcomeCannotBeKnown) {
  std::signal(SIGCHLD, SIG_IGN);
  EXPECT_THROW(InChild("exit", 0), std::system_error);
  std::signal(SIGCHLD, SIG_DFL);
}

int OpenDescriptors() {
  const std::filesystem::directory_iterator all("/dev/fd");
  return static_cast<int>(std::distance(begin(all), end(all)));
}

TEST(RunChildTest, LeavesNoZombieAndNoDescriptor) {
  const int before = OpenDescriptors();
  for (int i = 0; i < 5; ++i) {
    InChild("exit", 0);
    InChild("die", SIGABRT);
    InChild("hang", 0, milliseconds(50));
  }
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(RunChildTest, ManyAtOnceDoNotHoldEachOtherUp) {
  constexpr int kThreads = 8;
  std::atomic<int> as_told{0};
  testing::AtOnce(kThreads, [&](int i) {
    // One hangs for as long as the others come and go.
    if (i == 0) {
      as_told += Describe(InChild("hang", 0, seconds(1))) == "hang";
      return;
    }
    for (int round = 0; round < 5; ++round) {
      as_told += InChild("exit", 10 * i + round).exit_status == 10 * i + round;
    }
  });
  EXPECT_EQ(as_told, 1 + 5 * (kThreads - 1));
}

}  // namespace
}  // namespace millrace::runtime

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], millrace::runtime::kFlag) == 0) {
    return millrace::runtime::ChildMain(argv[2], std::atoi(argv[3]));
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
