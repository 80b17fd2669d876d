#include "server/control/run_models_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>

#include "models/core/strings.h"
#include "mps_runtime/base/file.h"
#include "mps_runtime/base/spawn.h"
#include "server/config/models_program.h"

namespace millrace::server {
namespace {

constexpr std::chrono::milliseconds kLookInterval{100};
constexpr std::chrono::seconds kStopGrace{3};
constexpr size_t kLongestLine = size_t{1} << 20;

// The program in a process group of its own. It ends with this object.
class ModelsProcess {
 public:
  ~ModelsProcess() {
    if (child_ <= 0) return;
    kill(-child_, SIGKILL);
    Wait();
  }

  absl::Status Start(const std::string& program, const std::vector<std::string>& arguments) {
    std::array<int, 2> ends = {-1, -1};
#ifdef __linux__
    // No child that another thread starts meanwhile may keep the pipe open.
    const int made = pipe2(ends.data(), O_CLOEXEC);
#else
    const int made = pipe(ends.data());
#endif
    if (made != 0)
      return absl::ErrnoToStatus(errno, StrCat(kModelsProgram, ": cannot make a pipe"));
    output_ = FileDescriptor(ends[0]);
    const FileDescriptor childs(fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    close(ends[1]);
    fcntl(output_.get(), F_SETFD, FD_CLOEXEC);
    const int error = SpawnProgram(program, arguments, {.output = childs.get()}, child_);
    return error == 0 ? absl::OkStatus()
                      : absl::ErrnoToStatus(error, StrCat("cannot start ", program));
  }

  // As Ctrl-C does: the program leaves nothing half installed.
  void Interrupt() const { kill(-child_, SIGINT); }

  // Waits a moment for output and passes each whole line on. Returns false at its end.
  template <typename Take>
  bool ReadLines(const Take& take) {
    pollfd poller = {output_.get(), POLLIN, 0};
    if (poll(&poller, 1, static_cast<int>(kLookInterval.count())) <= 0) return true;
    std::array<char, 16384> piece;
    const ssize_t got = read(output_.get(), piece.data(), piece.size());
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    if (got == 0) return false;
    text_.append(piece.data(), static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end = text_.find('\n'); end != text_.npos; end = text_.find('\n', begin)) {
      take(text_.substr(begin, end - begin));
      begin = end + 1;
    }
    text_.erase(0, begin);
    // The rest of a line that is too long is left out, so that the program can end.
    if (text_.size() > kLongestLine) text_.clear();
    return true;
  }

  // Returns its exit status, or 128 plus the signal that has ended it.
  int Wait() {
    int status = 0;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t child_ = -1;
  FileDescriptor output_;
  std::string text_;
};

}  // namespace

absl::StatusOr<int> RunModelsProgram(const std::vector<std::string>& arguments,
                                     const std::function<void(const std::string&)>& take,
                                     const std::function<bool()>& stop) {
  const absl::StatusOr<std::string> program = FindModelsProgram();
  if (!program.ok()) return absl::FailedPreconditionError(program.status().message());
  ModelsProcess process;
  if (absl::Status status = process.Start(*program, arguments); !status.ok()) return status;
  std::optional<std::chrono::steady_clock::time_point> give_up;
  while (process.ReadLines(take)) {
    const auto now = std::chrono::steady_clock::now();
    if (give_up && now >= *give_up) return absl::CancelledError("interrupted");
    if (give_up || !stop()) continue;
    process.Interrupt();
    give_up = now + kStopGrace;
  }
  const int status = process.Wait();
  if (status != 0 && (give_up || stop())) return absl::CancelledError("interrupted");
  return status;
}

}  // namespace millrace::server
