#include "server/executors/executor_start.h"

#include <chrono>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/crashes/crash_page.h"
#include "server/executors/descriptor_passing.h"
#include "server/executors/model_executor.h"
#include "server/executors/payload_messages.h"
#include "server/executors/wait_limit.h"

namespace millrace::server {
namespace {

// The time for a new process to say what it is, and to make ready for models.
constexpr std::chrono::seconds kHelloTime{60};

// Receives the next message of the kind.
absl::StatusOr<executor::v1::FromExecutor> Await(ExecutorLink& link,
                                                 executor::v1::FromExecutor::KindCase kind,
                                                 absl::FunctionRef<bool()> keep_waiting) {
  auto message = link.Receive(keep_waiting);
  if (absl::IsDeadlineExceeded(message.status())) {
    return absl::DeadlineExceededError(
        StrCat("an executor did not say within ", kHelloTime.count(), " s that it is ready"));
  }
  if (message.ok() && message->kind_case() != kind) {
    link.Kill(DeathCause::kProtocol, "it said something else than it was asked");
    return InvalidArgument("an executor said something else than it was asked");
  }
  return message;
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
  MILLRACE_ASSIGN_OR_RETURN(const auto hello,
                            Await(*link, executor::v1::FromExecutor::kHello, is_in_time));
  const executor::v1::Hello& said = hello.hello();
  if (said.protocol() != kProtocolVersion || said.version() != start.version) {
    link->Kill(DeathCause::kProtocol, "it is of another version");
    return FailedPrecondition("an executor is of version ", said.version(), " and speaks protocol ",
                              said.protocol(), "; this server is of version ", start.version,
                              " and speaks ", kProtocolVersion);
  }
  executor::v1::ToExecutor settings;
  *settings.mutable_configure() = start.settings;
  link->Tell(settings);
  MILLRACE_ASSIGN_OR_RETURN(const auto configured,
                            Await(*link, executor::v1::FromExecutor::kConfigured, is_in_time));
  return ReadStatus(configured.configured().status());
}

}  // namespace millrace::server
