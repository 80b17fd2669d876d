#include "models/text/espeak_pool.h"

#include <utility>

#include "models/core/errors.h"
#include "mps_runtime/base/find_program.h"

namespace millrace::models {

absl::StatusOr<std::filesystem::path> FindEspeak(const std::string& program) {
  const bool is_path = program.find('/') != std::string::npos;
  const std::filesystem::path found =
      is_path ? std::filesystem::path(program) : FindProgram(program);
  if (IsProgram(found)) return std::filesystem::absolute(found);
  return FailedPrecondition(
      "the program ", program,
      " was not found; install the package espeak-ng (apt-get install espeak-ng, or "
      "brew install espeak-ng)");
}

absl::StatusOr<std::unique_ptr<EspeakPool>> EspeakPool::Create(const EspeakOptions& options,
                                                               std::string voice, std::string tie) {
  MILLRACE_ASSIGN_OR_RETURN(auto program, FindEspeak(options.program));
  return std::make_unique<EspeakPool>(
      Options{.process = {std::move(program), std::move(voice), std::move(tie)},
              .max_processes = options.max_processes,
              .timeout = options.timeout});
}

absl::StatusOr<std::vector<std::string>> EspeakPool::Translate(std::span<const std::string> lines) {
  const auto deadline = std::chrono::steady_clock::now() + options_.timeout;
  MILLRACE_ASSIGN_OR_RETURN(auto idle, Acquire(deadline));
  Lease lease(*this);
  lease.process = std::move(idle);
  auto answers = Ask(lease.process, lines, deadline);
  // The process may have been killed from outside: retry with another one.
  if (absl::IsAborted(answers.status())) answers = Ask(lease.process, lines, deadline);
  if (absl::IsAborted(answers.status()))
    return Unavailable(answers.status().message());  // the text is at fault
  return answers;
}

absl::StatusOr<std::vector<std::string>> EspeakPool::Ask(
    std::unique_ptr<EspeakProcess>& process, std::span<const std::string> lines,
    std::chrono::steady_clock::time_point deadline) const {
  // The process leaves the lease during the call, because one that failed in the middle of an
  // answer cannot be reused.
  std::unique_ptr<EspeakProcess> asked = std::move(process);
  if (asked == nullptr || !asked->Running()) {
    MILLRACE_ASSIGN_OR_RETURN(asked, EspeakProcess::Start(options_.process));
  }
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  auto answers = asked->Translate(lines, left);
  if (answers.ok()) process = std::move(asked);
  return answers;
}

absl::StatusOr<std::unique_ptr<EspeakProcess>> EspeakPool::Acquire(
    std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(mu_);
  while (idle_.empty() && busy_ >= options_.max_processes) {
    if (!released_.WaitUntil(mu_, deadline)) {
      return Unavailable("all espeak-ng processes are busy");
    }
  }
  std::unique_ptr<EspeakProcess> process;
  if (!idle_.empty()) {
    process = std::move(idle_.back());
    idle_.pop_back();
  }
  ++busy_;
  return process;
}

void EspeakPool::Release(std::unique_ptr<EspeakProcess> process) {
  MutexLock lock(mu_);
  --busy_;
  if (process != nullptr) idle_.push_back(std::move(process));
  released_.NotifyOne();
}

}  // namespace millrace::models
