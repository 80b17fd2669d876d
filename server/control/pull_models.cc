#include "server/control/pull_models.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "mps_runtime/base/file.h"
#include "mps_runtime/base/spawn.h"
#include "nlohmann/json.hpp"
#include "server/config/models_program.h"
#include "server/logging/logging.h"

namespace millrace::server {
namespace {

using Json = nlohmann::json;

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

// Runs the program millrace-models, passes each line of its output to `take`, and returns its exit
// status. Waits for the end, but only briefly once `stop` returns true, which is called several
// times a second: the result is then CANCELLED.
absl::StatusOr<int> RunModelsProgram(const std::vector<std::string>& arguments,
                                     const std::function<void(const std::string&)>& take,
                                     const std::function<bool()>& stop) {
  const absl::StatusOr<std::string> program = FindModelsProgram();
  if (!program.ok()) return FailedPrecondition(program.status().message());
  ModelsProcess process;
  MILLRACE_RETURN_IF_ERROR(process.Start(*program, arguments));
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

constexpr std::chrono::seconds kProgressInterval{5};
// The entry of a published model has some hundred bytes.
constexpr size_t kMostPublished = 10'000;

std::string Text(const Json& event, const char* member) {
  const auto found = event.find(member);
  if (found == event.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>()
                            : found->dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Returns a count, which is 0 where it is not known.
int64_t Count(const Json& event, const char* member) {
  const auto found = event.find(member);
  return found != event.end() && found->is_number_integer()
             ? std::max<int64_t>(found->get<int64_t>(), 0)
             : 0;
}

// Returns the code for an exit status of the program, which docs/models.md lists.
absl::StatusCode CodeOf(int status) {
  switch (status) {
    case 3:
      return absl::StatusCode::kUnavailable;
    case 4:
      return absl::StatusCode::kNotFound;
    case 5:
      return absl::StatusCode::kPermissionDenied;
    case 8:
      return absl::StatusCode::kAborted;
    default:
      return absl::StatusCode::kFailedPrecondition;
  }
}

}  // namespace

void PullLog::Take(const std::string& line) {
  const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object()) return;
  const std::string kind = Text(event, "event");
  if (kind == "error") {
    const auto status = event.find("status");
    failure_ = absl::Status(
        CodeOf(status != event.end() && status->is_number_integer() ? status->get<int>() : 1),
        Text(event, "message"));
  } else if (kind == "progress") {
    if (listener_) {
      listener_({.file = Text(event, "file"),
                 .bytes = Count(event, "model_bytes"),
                 .size = Count(event, "model_size")});
    }
    const auto now = std::chrono::steady_clock::now();
    if (now < next_progress_) return;
    next_progress_ = now + kProgressInterval;
    logging::Info("fetching", {{"file", Text(event, "file")},
                               {"bytes", Text(event, "bytes")},
                               {"of", Text(event, "size")}});
  } else if (kind == "converting") {
    if (listener_) listener_({.converting = true});
  } else if (kind == "pull") {
    if (listener_) listener_({.size = Count(event, "size")});
    logging::Info("pulling model", {{"model", Text(event, "name")},
                                    {"bytes", Text(event, "size")},
                                    {"license", Text(event, "license")},
                                    {"revision", Text(event, "revision")}});
  } else if (kind == "present" || kind == "installed") {
    logging::Info(kind == "present" ? "model is there" : "model was pulled",
                  {{"model", Text(event, "name")}});
  } else if (kind == "unverified" || kind == "weak" || kind == "retry" || kind == "unmeasured") {
    logging::Warning("pulling", {{"notice", Text(event, "message")}});
  }
}

absl::Status PullModels(const PullRequest& request, const std::function<bool()>& stop,
                        const PullListener& listener) {
  std::vector<std::string> arguments = {
      "pull", "--json", StrCat("--models=", request.folder.string()), StartedByThisProgram()};
  if (!request.as.empty()) arguments.push_back(StrCat("--as=", request.as));
  if (request.license_ok) arguments.emplace_back("--license-ok");
  if (request.only_missing) arguments.emplace_back("--only-missing");
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), request.names.begin(), request.names.end());
  PullLog log(listener);
  const auto status = RunModelsProgram(
      arguments, [&log](const std::string& line) { log.Take(line); }, stop);
  if (absl::IsCancelled(status.status()))
    return absl::CancelledError("the transfer was interrupted");
  if (!status.ok()) return status.status();
  if (*status == 0) return absl::OkStatus();
  if (!log.failure().ok()) return log.failure();
  return FailedPrecondition(kModelsProgram, " ended with status ", *status);
}

absl::StatusOr<PublishedModels> ListPublished(const std::filesystem::path& folder,
                                              const std::function<bool()>& stop) {
  PublishedModels published;
  const auto take = [&published](const std::string& line) {
    const Json entry = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!entry.is_object()) return;
    if (entry.contains("event")) {
      if (!published.notice.empty()) published.notice += "; ";
      published.notice += Text(entry, "message");
    } else if (published.models.size() < kMostPublished) {
      published.models.push_back(entry.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
  };
  const auto status =
      RunModelsProgram({"available", "--json", StrCat("--models=", folder.string())}, take, stop);
  if (absl::IsCancelled(status.status())) return Unavailable("the hubs did not answer in time");
  if (!status.ok()) return status.status();
  if (*status != 0 && published.models.empty() && published.notice.empty()) {
    return FailedPrecondition(kModelsProgram, " ended with status ", *status);
  }
  return published;
}

}  // namespace millrace::server
