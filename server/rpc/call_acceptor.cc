#include "server/rpc/call_acceptor.h"

#include <chrono>

#include "models/core/strings.h"
#include "server/logging/line_limiter.h"
#include "server/logging/logging.h"
#include "server/rpc/rpc.h"

namespace millrace::server {
namespace {

constexpr Duration kLogInterval = std::chrono::seconds(10);

}  // namespace

void CallAcceptor::AwaitCall() { new Rpc(*this); }

void CallAcceptor::AddIncomplete(Rpc& rpc) {
  rpc.older_ = newest_;
  rpc.newer_ = nullptr;
  (newest_ != nullptr ? newest_->newer_ : oldest_) = &rpc;
  newest_ = &rpc;
  ++incomplete_;
  if (refusing_all_) {
    rpc.Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server is shutting down"));
    RemoveIncomplete(rpc);
  } else if (incomplete_ > max_incomplete_) {
    RefuseOldest();
  }
}

void CallAcceptor::RemoveIncomplete(Rpc& rpc) {
  const bool is_listed = rpc.older_ != nullptr || oldest_ == &rpc;
  if (!is_listed) return;
  (rpc.older_ != nullptr ? rpc.older_->newer_ : oldest_) = rpc.newer_;
  (rpc.newer_ != nullptr ? rpc.newer_->older_ : newest_) = rpc.older_;
  rpc.older_ = nullptr;
  rpc.newer_ = nullptr;
  --incomplete_;
}

void CallAcceptor::RefuseOldest() {
  static logging::LineLimiter lines(1, kLogInterval);
  Rpc& rpc = *oldest_;
  on_refused_();
  if (lines.Pass()) {
    logging::Warning("call refused: its request has not arrived, and too many wait for theirs",
                     {{"client", rpc.peer()}, {"limit", static_cast<uint64_t>(max_incomplete_)}});
  }
  rpc.Finish(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                          StrCat("the call's request has not arrived while ", max_incomplete_,
                                 " newer calls waited for theirs; no more may wait")));
  RemoveIncomplete(rpc);
}

Duration CallAcceptor::DelayOfRefusal(std::chrono::system_clock::time_point deadline) {
  if (refusing_all_) return Duration::zero();
  const Duration left = deadline == std::chrono::system_clock::time_point::max()
                            ? Duration::max()
                            : Duration(deadline - std::chrono::system_clock::now());
  return refusal_pacer_.Delay(std::chrono::steady_clock::now(), left);
}

void CallAcceptor::RefuseAll::Deliver() {
  acceptor_.refusing_all_ = true;
  while (acceptor_.oldest_ != nullptr) {
    Rpc& rpc = *acceptor_.oldest_;
    rpc.Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the server is shutting down"));
    acceptor_.RemoveIncomplete(rpc);
  }
}

}  // namespace millrace::server
