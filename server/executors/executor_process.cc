#include "server/executors/executor_process.h"

#ifdef __APPLE__
#include <libproc.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>

#include "models/core/strings.h"
#include "mps_runtime/base/spawn.h"
#include "server/crashes/crash_file.h"

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

class ChildExecutor final : public ExecutorProcess {
 public:
  explicit ChildExecutor(pid_t pid) : pid_(pid), out_of_memory_before_(CountOutOfMemory()) {}
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
    const auto patience = std::chrono::steady_clock::now() + kGrace;
    int status = 0;
    pid_t got = 0;
    while ((got = waitpid(pid_, &status, WNOHANG)) == 0 || (got < 0 && errno == EINTR)) {
      if (std::chrono::steady_clock::now() >= patience) Kill();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
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
  const int64_t out_of_memory_before_;
  bool reaped_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ExecutorProcess>> ProgramLauncher::Launch(FileDescriptor control) {
  pid_t pid = -1;
  const int error = SpawnProgram(
      program_, {argument_},
      ChildStreams{.input = control.get(), .output = kDevNull, .error = kInherited}, pid);
  if (error != 0) {
    return absl::UnavailableError(
        StrCat("an executor could not be started: ", program_, ": ", std::strerror(error)));
  }
  return std::make_unique<ChildExecutor>(pid);
}

std::string_view ToString(DeathCause cause) {
  switch (cause) {
    case DeathCause::kCrash:
      return "crash";
    case DeathCause::kKilled:
      return "killed";
    case DeathCause::kOutOfMemory:
      return "out_of_memory";
    case DeathCause::kExit:
      return "exit";
    case DeathCause::kSilent:
      return "silent";
    case DeathCause::kHang:
      return "hang";
    case DeathCause::kProtocol:
      return "protocol";
  }
  return "";
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
