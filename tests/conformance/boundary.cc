#include "tests/conformance/boundary.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "tests/conformance/harness.h"
#include "tests/conformance/operators.h"

extern char** environ;

namespace millrace::conformance {
namespace {

constexpr int kExitWrong = 3;
constexpr int kExitError = 4;
constexpr int kIterations = 30;

std::string program;

Outcome FromStatus(int status) {
  if (WIFSIGNALED(status)) return Outcome::kCrashed;
  switch (WEXITSTATUS(status)) {
    case 0:
      return Outcome::kOk;
    case kExitWrong:
      return Outcome::kWrong;
    default:
      return Outcome::kError;
  }
}

int RunOperator(const Operator& op, int threads) {
  runtime::RuntimeOptions options = Options(threads);
  options.max_in_flight = threads;
  options.accept_unsafe_concurrency = true;
  const auto runtime = runtime::Runtime::Bootstrap(options);
  const at::Device device = TensorDevice(*runtime);
  at::Tensor expected;
  {
    const auto context = runtime->EnterMainThread();
    const runtime::ForwardScope scope(*runtime, *context);
    expected = RunToHost(op, device, 0, *context);
  }
  std::atomic<bool> wrong{false};
  RunWorkers(*runtime, threads, [&](int, auto& context) {
    for (int i = 0; i < kIterations; ++i) {
      const runtime::ForwardScope scope(*runtime, context);
      if (!SameNumbers(expected, RunToHost(op, device, 0, context), runtime->device())) {
        wrong = true;
      }
    }
  });
  return wrong ? kExitWrong : 0;
}

}  // namespace

std::string ToString(Outcome outcome) {
  constexpr std::array<const char*, 5> kNames = {"ok", "wrong", "error", "crash", "hang"};
  return kNames[static_cast<size_t>(outcome)];
}

void SetProgram(const char* path) { program = path; }

Outcome RunInChild(const std::string& op, int threads, std::chrono::milliseconds watchdog) {
  // The child holds the writing end and never writes: reading ends when it is gone.
  std::array<int, 2> alive;
  if (pipe(alive.data()) != 0) throw std::runtime_error("no pipe");
  fcntl(alive[0], F_SETFD, FD_CLOEXEC);
  std::string count = std::to_string(threads);
  std::string flag = kBoundaryChildFlag;
  std::string name = op;
  std::array<char*, 5> arguments = {program.data(), flag.data(), name.data(), count.data(),
                                    nullptr};
  pid_t child = -1;
  const int error =
      posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ);
  close(alive[1]);
  if (error != 0) {
    close(alive[0]);
    throw std::runtime_error("cannot start " + program);
  }
  pollfd end{.fd = alive[0], .events = POLLIN, .revents = 0};
  const bool hung = poll(&end, 1, static_cast<int>(watchdog.count())) == 0;
  close(alive[0]);
  if (hung) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  return hung ? Outcome::kHung : FromStatus(status);
}

int BoundaryChildMain(const std::string& op, int threads) {
  if (op == "fault-crash") {
    signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn it into an exit status
    raise(SIGSEGV);
  }
  if (op == "fault-hang") {
    for (;;) pause();
  }
  if (op == "fault-wrong") return kExitWrong;
  try {
    const auto found =
        std::find_if(Operators().begin(), Operators().end(),
                     [&](const Operator& candidate) { return candidate.name == op; });
    if (found == Operators().end()) throw std::invalid_argument("no operator " + op);
    return RunOperator(*found, threads);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s on %d threads: %s\n", op.c_str(), threads, failure.what());
    return kExitError;
  }
}

}  // namespace millrace::conformance
