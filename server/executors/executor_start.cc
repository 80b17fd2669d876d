#include "server/executors/executor_start.h"

#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/crashes/crash_page.h"
#include "server/executors/control_messages.h"
#include "server/executors/descriptor_passing.h"
#include "server/executors/wait_limit.h"

namespace millrace::server {
namespace {

// The time for a new process to say what it is, and to make ready for models.
constexpr std::chrono::seconds kHelloTime{60};

// Receives the next message, which must be of this kind.
template <typename Kind>
absl::StatusOr<Kind> Await(ExecutorLink& link, absl::FunctionRef<bool()> keep_waiting) {
  const auto message = link.Receive(keep_waiting);
  if (absl::IsDeadlineExceeded(message.status())) {
    return absl::DeadlineExceededError(
        StrCat("an executor did not say within ", kHelloTime.count(), " s that it is ready"));
  }
  MILLRACE_RETURN_IF_ERROR(message.status());
  if (const auto* const of_kind = std::get_if<Kind>(&*message)) return *of_kind;
  link.Kill(DeathCause::kProtocol, "it said something else than it was asked");
  return InvalidArgument("an executor said something else than it was asked");
}

}  // namespace

absl::Status StartExecutor(const ExecutorStart& start, ExecutorLauncher& launcher, Clock& clock,
                           absl::FunctionRef<bool()> keep_waiting,
                           std::shared_ptr<ExecutorLink>& link) {
  MILLRACE_ASSIGN_OR_RETURN(auto control, MakeSocketPair());
  std::vector<FileDescriptor> lanes;
  std::vector<FileDescriptor> their_lanes;
  std::vector<int> their_numbers;
  for (size_t i = 0; i < start.lanes; ++i) {
    MILLRACE_ASSIGN_OR_RETURN(auto lane, MakeSocketPair());
    lanes.push_back(std::move(lane.ours));
    their_numbers.push_back(lane.theirs.get());
    their_lanes.push_back(std::move(lane.theirs));
  }
  MILLRACE_ASSIGN_OR_RETURN(auto crash_page, MakeCrashPageFile());
  their_numbers.push_back(crash_page.get());
  MILLRACE_ASSIGN_OR_RETURN(auto process, launcher.Launch(std::move(control.theirs)));
  absl::Status passed = SendDescriptors(control.ours.get(), their_numbers);
  their_lanes.clear();
  link = std::make_shared<ExecutorLink>(std::move(control.ours), std::move(lanes),
                                        std::move(crash_page), std::move(process), start.patience);
  if (!passed.ok()) return passed;

  WaitLimit wait(clock, kHelloTime);
  const auto is_in_time = [&] { return keep_waiting() && !wait.IsOver(); };
  MILLRACE_ASSIGN_OR_RETURN(const auto said, Await<ExecutorHello>(*link, is_in_time));
  if (said.protocol != kProtocolVersion || said.version != start.version) {
    link->Kill(DeathCause::kProtocol, "it is of another version");
    return FailedPrecondition("an executor is of version ", said.version, " and speaks protocol ",
                              said.protocol, "; this server is of version ", start.version,
                              " and speaks ", kProtocolVersion);
  }
  link->Tell(start.settings);
  MILLRACE_ASSIGN_OR_RETURN(const auto ready, Await<ExecutorReady>(*link, is_in_time));
  return ready.status;
}

}  // namespace millrace::server
