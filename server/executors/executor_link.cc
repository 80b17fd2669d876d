#include "server/executors/executor_link.h"

#include <algorithm>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "mps_runtime/base/check.h"
#include "server/executors/failpoint.h"

namespace millrace::server {

ExecutorLink::ExecutorLink(FileDescriptor control, std::vector<FileDescriptor> lanes,
                           FileDescriptor crash_page, std::unique_ptr<ExecutorProcess> process,
                           std::chrono::milliseconds patience)
    : process_(std::move(process)),
      crash_page_(std::move(crash_page)),
      control_(std::move(control)),
      lane_taken_(lanes.size()) {
  control_.SetPatience(patience);
  for (FileDescriptor& lane : lanes) lanes_.emplace_back(std::move(lane)).SetPatience(patience);
}

absl::StatusOr<std::vector<StepResult>> ExecutorLink::RunStep(
    size_t lane, const FieldWriter& step, size_t requests, std::string_view why,
    MessageSocket::KeepWaiting keep_waiting) {
  Failpoint("front.step", lanes_[lane].descriptor());
  const absl::Status sent = lanes_[lane].Send(step.header(), step.behind(), keep_waiting);
  if (absl::IsResourceExhausted(sent)) return sent;
  absl::StatusOr<std::vector<StepResult>> results =
      sent.ok() ? ReceiveResults(lane, requests, keep_waiting) : sent;
  if (results.ok()) {
    Failpoint("front.results");
    worked_.store(true, std::memory_order_relaxed);
    return results;
  }
  if (absl::IsDeadlineExceeded(results.status())) {
    Kill(DeathCause::kHang, why);
  } else if (absl::IsInvalidArgument(results.status())) {
    Kill(DeathCause::kProtocol, Message(results.status()));
  } else {
    Disconnect();
  }
  return results;
}

absl::StatusOr<std::vector<StepResult>> ExecutorLink::ReceiveResults(
    size_t lane, size_t requests, MessageSocket::KeepWaiting keep_waiting) {
  MILLRACE_ASSIGN_OR_RETURN(const MessageFrame frame, lanes_[lane].Receive(keep_waiting));
  return ReadResults(frame, requests);
}

size_t ExecutorLink::TakeLane() {
  const MutexLock lock(mu_);
  const auto lane = std::ranges::find(lane_taken_, false);
  MILLRACE_CHECK(lane != lane_taken_.end(),
                 "an executor has fewer connections than there are workers");
  *lane = true;
  steps_.fetch_add(1, std::memory_order_relaxed);
  return static_cast<size_t>(lane - lane_taken_.begin());
}

void ExecutorLink::LeaveLane(size_t number) {
  const MutexLock lock(mu_);
  lane_taken_[number] = false;
  steps_.fetch_sub(1, std::memory_order_relaxed);
}

void ExecutorLink::Tell(const ToExecutor& message) {
  absl::Status status;
  {
    const MutexLock lock(control_mu_);
    status = control_.Send(WriteControl(message), {}, [] { return false; });
  }
  if (status.ok()) return;
  if (absl::IsUnavailable(status)) {
    Disconnect();
  } else {
    Kill(DeathCause::kSilent, "it did not read what it was told");
  }
}

absl::StatusOr<FromExecutor> ExecutorLink::Receive(MessageSocket::KeepWaiting keep_waiting) {
  const auto frame = control_.Receive(keep_waiting);
  auto message = frame.ok() ? ReadFromExecutor(frame->header) : frame.status();
  if (absl::IsInvalidArgument(message.status()))
    Kill(DeathCause::kProtocol, Message(message.status()));
  return message;
}

std::string ExecutorLink::name() const { return StrCat("executor-", process_->pid()); }

void ExecutorLink::AddModel(uint64_t model) {
  const MutexLock lock(mu_);
  models_.insert(model);
}

bool ExecutorLink::Has(uint64_t model) const {
  const MutexLock lock(mu_);
  return models_.contains(model);
}

void ExecutorLink::Kill(DeathCause cause, std::string_view how) {
  const MutexLock lock(mu_);
  if (killed_ || !alive()) return;
  killed_ = ExecutorDeath{cause, std::string(how), ""};
  process_->Kill();
  Disconnect();
}

void ExecutorLink::Disconnect() {
  if (!alive_.exchange(false, std::memory_order_acq_rel)) return;
  control_.Shutdown();
  for (MessageSocket& lane : lanes_) lane.Shutdown();
}

ExecutorDeath ExecutorLink::Reap() {
  Disconnect();
  // A thread that kills it has done so before its number may be that of another process.
  MutexLock lock(mu_);
  lock.Unlock();
  const ProcessEnd end = process_->Await();
  lock.Lock();
  ExecutorDeath death = killed_ ? *killed_ : Classify(end);
  death.id = name();
  return death;
}

void ExecutorLink::Announce(const ExecutorDeath& death) {
  const MutexLock lock(mu_);
  death_ = death;
  reaped_.NotifyAll();
}

ExecutorDeath ExecutorLink::AwaitDeath() {
  const MutexLock lock(mu_);
  while (!death_) reaped_.Wait(mu_);
  return *death_;
}

}  // namespace millrace::server
