#include "server/executors/executor_process.h"

#ifdef __APPLE__
#include <libproc.h>
#endif
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "mps_runtime/base/spawn.h"
#include "server/crashes/crash_file.h"
#include "server/executors/frame.h"

namespace millrace::server {
namespace {

// The time for a process to end after its connection has.
constexpr std::chrono::seconds kGrace{1};

// Returns how many processes Linux has ended for want of memory since the machine started.
int64_t CountOutOfMemory() {
  std::ifstream file("/proc/vmstat");
  std::string name;
  int64_t count = 0;
  while (file >> name >> count) {
    if (name == "oom_kill") return count;
  }
  return 0;
}

// Returns the memory of a process that is not of files or shared with others; 0 if it is not known.
uint64_t OwnMemory(pid_t pid) {
#ifdef __APPLE__
  rusage_info_v0 usage = {};
  if (proc_pid_rusage(pid, RUSAGE_INFO_V0, reinterpret_cast<rusage_info_t*>(&usage)) != 0) return 0;
  return usage.ri_phys_footprint;
#else
  std::ifstream file(StrCat("/proc/", pid, "/statm"));
  uint64_t pages = 0;
  uint64_t resident = 0;
  uint64_t shared = 0;
  if (!(file >> pages >> resident >> shared) || resident < shared) return 0;
  return (resident - shared) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
#endif
}

// Returns true once nobody holds the other end of a socket, and false if that takes longer. What
// comes over it is dropped.
bool AwaitClosed(int socket, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd poller = {socket, POLLIN, 0};
    const int ready = poll(&poller, 1, static_cast<int>(std::max(left.count(), {})));
    if (ready == 0) return false;
    std::array<char, 1024> dropped;
    if (ready > 0 && recv(socket, dropped.data(), dropped.size(), MSG_DONTWAIT) <= 0) return true;
  }
}

class ChildExecutor final : public ExecutorProcess {
 public:
  // life: the other end is the process's alone.
  ChildExecutor(pid_t pid, FileDescriptor life)
      : pid_(pid), life_(std::move(life)), out_of_memory_before_(CountOutOfMemory()) {}
  ~ChildExecutor() override {
    if (reaped_) return;
    Kill();
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }

  int64_t pid() const override { return pid_; }
  uint64_t MemoryBytes() const override { return OwnMemory(pid_); }

  // The process leads a group, in which are its own children.
  void Kill() override { kill(-pid_, SIGKILL); }

  ProcessEnd Await() override {
    if (!AwaitClosed(life_.get(), kGrace)) Kill();
    int status = 0;
    pid_t got = 0;
    while ((got = waitpid(pid_, &status, 0)) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    ProcessEnd end;
    if (got == pid_ && WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    if (got == pid_ && WIFEXITED(status)) end.exit_status = WEXITSTATUS(status);
    end.out_of_memory = end.signal == SIGKILL && CountOutOfMemory() > out_of_memory_before_;
    return end;
  }

 private:
  const pid_t pid_;
  const FileDescriptor life_;
  const int64_t out_of_memory_before_;
  bool reaped_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ExecutorProcess>> ProgramLauncher::Launch(FileDescriptor control) {
  MILLRACE_ASSIGN_OR_RETURN(auto life, MakeSocketPair());
  pid_t pid = -1;
  const int error = SpawnProgram(
      program_, {argument_},
      ChildStreams{.input = control.get(), .output = life.theirs.get(), .error = kInherited}, pid);
  if (error != 0) {
    return Unavailable("an executor could not be started: ", program_, ": ", std::strerror(error));
  }
  return std::make_unique<ChildExecutor>(pid, std::move(life.ours));
}

std::string_view ToString(DeathCause cause) {
  static constexpr std::array<std::string_view, kDeathCauses> kNames = {
      "crash", "killed", "out_of_memory", "exit", "hang", "silent", "protocol"};
  return kNames[static_cast<size_t>(cause)];
}

ExecutorDeath Classify(const ProcessEnd& end) {
  if (end.signal == 0) return {DeathCause::kExit, StrCat("exit status ", end.exit_status), ""};
  if (end.signal != SIGKILL) {
    const std::string_view name = NameOfSignal(end.signal);
    return {DeathCause::kCrash,
            name.empty() ? StrCat("signal ", end.signal) : StrCat("signal ", name), ""};
  }
  if (end.out_of_memory) return {DeathCause::kOutOfMemory, "the system was out of memory", ""};
  return {DeathCause::kKilled, "signal SIGKILL", ""};
}

}  // namespace millrace::server
