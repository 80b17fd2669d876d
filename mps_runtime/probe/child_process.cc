#include "mps_runtime/probe/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "mps_runtime/base/check.h"
#include "mps_runtime/base/file.h"
#include "mps_runtime/base/spawn.h"
#include "mps_runtime/base/this_program.h"

namespace millrace::runtime {
namespace {

using Time = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The time that a killed process may take to end. A process that waits within a driver ends when
// the driver releases it, which may be never.
constexpr milliseconds kGrace{10'000};

[[noreturn]] void Fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

// Both ends of a stream. They are closed in other children, and numbered above the standard
// streams, because the child's standard streams are made of them.
struct Pair {
  FileDescriptor ours;
  FileDescriptor childs;
};

Pair MakePair() {
  std::array<int, 2> ends;
#ifdef __APPLE__
  constexpr int kType = SOCK_STREAM;
#else
  constexpr int kType = SOCK_STREAM | SOCK_CLOEXEC;
#endif
  if (socketpair(AF_UNIX, kType, 0, ends.data()) != 0) Fail(errno, "socketpair");
  const FileDescriptor first(ends[0]), second(ends[1]);
  const auto moved_up = [](const FileDescriptor& low) {
    FileDescriptor high(fcntl(low.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (high.get() < 0) Fail(errno, "fcntl(F_DUPFD_CLOEXEC)");
    return high;
  };
  return {.ours = moved_up(first), .childs = moved_up(second)};
}

pid_t StartThisProgram(const std::vector<std::string>& arguments, const ChildStreams& streams) {
  pid_t child = -1;
  const int error = SpawnProgram(ThisProgram(), arguments, streams, child);
  if (error != 0) Fail(error, "cannot start this program again");
  return child;
}

// Keeps the last line with contents of a text that arrives in pieces.
class LastLine {
 public:
  void Add(const char* text, size_t size) {
    for (const char c : std::string_view(text, size)) {
      if (c == '\n') {
        End();
      } else if (current_.size() < kMaxLastLine) {
        const auto byte = static_cast<unsigned char>(c);
        current_ += byte < 0x20 || byte == 0x7f ? ' ' : c;
      }
    }
  }

  std::string Take() {
    End();
    return std::move(last_);
  }

 private:
  void End() {
    current_.erase(current_.find_last_not_of(' ') + 1);
    if (!current_.empty()) last_ = std::move(current_);
    current_.clear();
  }

  std::string current_, last_;
};

// Reads what is available without waiting, up to a bound, since a child may write as fast as this
// reads. Closes the descriptor at its end.
void Drain(FileDescriptor& from, LastLine& line) {
  constexpr int kMostPieces = 256;  // more than the kernel buffers
  for (int i = 0; i < kMostPieces && from.get() >= 0; ++i) {
    std::array<char, 4096> piece;
    const ssize_t got = recv(from.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got > 0) {
      line.Add(piece.data(), static_cast<size_t>(got));
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return;
    } else {
      from.Close();
    }
  }
}

// A started child, which the destructor kills and reaps in any case.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ < 0) return;
    KillGroup();
    Abandon();
  }

  // Returns true if it has ended. It stays a zombie, so that neither its number nor its group's is
  // reused.
  bool HasEnded() {
    siginfo_t info{};
    while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno == EINTR) continue;
      pid_ = -1;  // it was reaped elsewhere, and the number may already be reused
      Fail(errno, "waitid");
    }
    return info.si_pid == pid_;
  }

  void KillGroup() const {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
  }

  // Returns its status. Call it after HasEnded has returned true.
  int Reap() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0) {
      if (errno != EINTR) Fail(errno, "waitpid");
    }
    pid_ = -1;
    return status;
  }

  // Gives up on a killed child; it is reaped whenever it ends.
  void Abandon() noexcept {
    try {
      std::thread([pid = pid_] {
        while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
        }
      }).detach();
    } catch (const std::system_error&) {
      waitpid(pid_, nullptr, WNOHANG);
    }
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

// Waits until the child has ended or the deadline has passed; returns whether it has ended. The end
// of the tether is only a hint: a child may close it, or give it to a process that lives on.
bool AwaitEnd(Child& child, FileDescriptor& tether, FileDescriptor& errors, LastLine& line,
              Time::time_point deadline, const std::function<bool()>& stop = nullptr) {
  constexpr milliseconds kShort{1}, kLong{50};
  milliseconds slice = kLong;
  while (!child.HasEnded()) {
    const auto left =
        std::chrono::ceil<milliseconds>(std::max(deadline - Time::now(), Time::duration{}));
    if (left == milliseconds{} || (stop != nullptr && stop())) return false;
    std::array<pollfd, 2> wait = {pollfd{.fd = tether.get(), .events = POLLIN, .revents = 0},
                                  pollfd{.fd = errors.get(), .events = POLLIN, .revents = 0}};
    poll(wait.data(), wait.size(), static_cast<int>(std::min(slice, left).count()));
    slice = std::min(2 * slice, kLong);
    if (wait[0].revents != 0) {
      tether.Close();
      slice = kShort;
    }
    if (wait[1].revents != 0) Drain(errors, line);
  }
  return true;
}

std::string SignalName(int signal) {
  constexpr std::pair<int, const char*> kNames[] = {
      {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGHUP, "SIGHUP"},
      {SIGILL, "SIGILL"},   {SIGINT, "SIGINT"},   {SIGKILL, "SIGKILL"}, {SIGPIPE, "SIGPIPE"},
      {SIGSEGV, "SIGSEGV"}, {SIGSYS, "SIGSYS"},   {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"},
      {SIGXCPU, "SIGXCPU"}, {SIGQUIT, "SIGQUIT"},
  };
  for (const auto& [number, name] : kNames) {
    if (number == signal) return name;
  }
  return "signal " + std::to_string(signal);
}

}  // namespace

std::string_view ToString(ChildOutcome outcome) {
  switch (outcome) {
    case ChildOutcome::kOk:
      return "ok";
    case ChildOutcome::kWrong:
      return "wrong";
    case ChildOutcome::kError:
      return "error";
    case ChildOutcome::kCrashed:
      return "crash";
    case ChildOutcome::kHung:
      return "hang";
  }
  MILLRACE_UNREACHABLE();
}

ChildResult RunChild(const std::vector<std::string>& arguments, const ChildOptions& options) {
  const Time::time_point deadline = Time::now() + options.watchdog;
  Pair tether = MakePair();
  Pair errors;
  if (options.capture_last_line) errors = MakePair();
  Child child(StartThisProgram(
      arguments, {.input = tether.childs.get(),
                  .error = options.capture_last_line ? errors.childs.get() : kInherited}));
  tether.childs.Close();
  errors.childs.Close();

  LastLine line;
  ChildResult result;
  bool ended = AwaitEnd(child, tether.ours, errors.ours, line, deadline, options.stop);
  if (!ended) result.outcome = ChildOutcome::kHung;
  child.KillGroup();
  if (!ended) ended = AwaitEnd(child, tether.ours, errors.ours, line, Time::now() + kGrace);
  Drain(errors.ours, line);
  result.last_line = line.Take();
  if (!ended) {
    child.Abandon();
    return result;
  }
  const int status = child.Reap();
  if (result.outcome == ChildOutcome::kHung) return result;
  if (WIFSIGNALED(status)) {
    result.outcome = ChildOutcome::kCrashed;
    result.signal = WTERMSIG(status);
    return result;
  }
  result.exit_status = WEXITSTATUS(status);
  if (result.exit_status == kChildWrong) {
    result.outcome = ChildOutcome::kWrong;
  } else if (result.exit_status != 0) {
    result.outcome = ChildOutcome::kError;
  }
  return result;
}

void EndWithParent() {
  std::thread([] {
    char nothing;
    ssize_t got = 0;
    do {
      got = read(STDIN_FILENO, &nothing, 1);
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (getpgrp() == getpid()) kill(0, SIGKILL);
    _exit(kChildError);
  }).detach();
}

std::string Describe(const ChildResult& result) {
  std::string text(ToString(result.outcome));
  if (result.outcome == ChildOutcome::kCrashed) text += " (" + SignalName(result.signal) + ")";
  if (result.outcome == ChildOutcome::kError && result.exit_status != kChildError) {
    text += " (exit status " + std::to_string(result.exit_status) + ")";
  }
  if (!result.last_line.empty()) text += ": " + result.last_line;
  return text;
}

}  // namespace millrace::runtime
