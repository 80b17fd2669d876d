#include "server/rpc/call_acceptor.h"

#include <chrono>
#include <exception>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/logging/line_limiter.h"
#include "server/logging/logging.h"
#include "server/rpc/grpc_call.h"

namespace millrace::server {
namespace {

constexpr Duration kLogInterval = std::chrono::seconds(10);
// Calls are taken for a flood for so long after a refusal beyond the rate.
constexpr Duration kFlood = std::chrono::milliseconds(100);

absl::Status StopStatus() { return Unavailable("the server is shutting down"); }

}  // namespace

void CallAcceptor::AwaitCall() { GrpcCall::Make(*this); }

void CallAcceptor::AwaitOwedCalls() noexcept {
  static logging::LineLimiter lines(1, kLogInterval);
  try {
    for (; owed_ > 0; --owed_) AwaitCall();
  } catch (const std::exception& error) {
    if (lines.Pass()) logging::Error("the next call has to wait", {{"reason", error.what()}});
  }
}

template <typename MakeStatus>
void CallAcceptor::Refuse(GrpcCall& call, MakeStatus make) noexcept {
  RemoveIncomplete(call);
  try {
    call.Finish(make());
  } catch (const std::exception&) {
    call.Fail();
  }
}

void CallAcceptor::CallList::Add(GrpcCall& call) {
  call.older_ = newest_;
  call.newer_ = nullptr;
  (newest_ != nullptr ? newest_->newer_ : oldest_) = &call;
  newest_ = &call;
  ++size_;
}

void CallAcceptor::CallList::Remove(GrpcCall& call) {
  const bool is_listed = call.older_ != nullptr || oldest_ == &call;
  if (!is_listed) return;
  (call.older_ != nullptr ? call.older_->newer_ : oldest_) = call.newer_;
  (call.newer_ != nullptr ? call.newer_->older_ : newest_) = call.older_;
  call.older_ = nullptr;
  call.newer_ = nullptr;
  --size_;
}

void CallAcceptor::AddIncomplete(GrpcCall& call) {
  incomplete_.Add(call);
  if (refusing_all_) {
    Refuse(call, StopStatus);
  } else if (incomplete_.size() > options_.max_incomplete_calls) {
    RefuseOldest();
  }
}

void CallAcceptor::RefuseOldest() {
  static logging::LineLimiter lines(1, kLogInterval);
  GrpcCall& call = *incomplete_.oldest();
  Refuse(call, [&] {
    options_.on_incomplete_call_refused();
    if (lines.Pass()) {
      logging::Warning("call refused: its request has not arrived, and too many wait for theirs",
                       {{"client", call.peer()},
                        {"limit", static_cast<uint64_t>(options_.max_incomplete_calls)}});
    }
    return absl::ResourceExhaustedError(StrCat("the call's request has not arrived while ",
                                               options_.max_incomplete_calls,
                                               " newer calls waited for theirs; no more may wait"));
  });
}

Duration CallAcceptor::DelayOfRefusal(std::chrono::system_clock::time_point deadline,
                                      size_t caller) {
  if (refusing_all_) return Duration::zero();
  const Duration left = deadline == std::chrono::system_clock::time_point::max()
                            ? Duration::max()
                            : Duration(deadline - std::chrono::system_clock::now());
  const TimePoint now = std::chrono::steady_clock::now();
  const Duration delay = refusal_pacer_.Delay(now, left, caller, held_.size());
  if (delay > Duration::zero()) thread_.ModerateUntil(now + kFlood);
  return delay;
}

void CallAcceptor::RefuseAll::Deliver() {
  acceptor_.refusing_all_ = true;
  while (GrpcCall* const call = acceptor_.incomplete_.oldest()) acceptor_.Refuse(*call, StopStatus);
  // They leave the list when their alarms come.
  for (GrpcCall* call = acceptor_.held_.oldest(); call != nullptr; call = call->newer_)
    call->held_back_->Cancel();
  acceptor_.awaits_answers_ = true;
  acceptor_.TellAnswersWritten();
}

}  // namespace millrace::server
