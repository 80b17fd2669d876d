#include "server/scheduling/admission.h"

#include "models/core/strings.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

// The pace of the models is not known here, so the hint is a constant.
constexpr std::chrono::seconds kRetryAfter{1};

}  // namespace

Ticket::~Ticket() {
  if (admission_ != nullptr) admission_->Leave();
}

absl::StatusOr<Ticket> Admission::TryEnter() {
  // Count first, then read closed_. Both are sequentially consistent, so either this call sees that
  // admission is closed, or WaitUntilEmpty sees this request.
  const int64_t before = in_flight_.fetch_add(1);
  Ticket ticket(this);
  if (closed_.load()) return Draining();
  if (before >= max_requests_) {
    return Refused(
        Refusal::kTooMany,
        StrCat("the server already has ", max_requests_, " requests in flight, which is its limit"),
        kRetryAfter);
  }
  return ticket;
}

void Admission::Close() { closed_.store(true); }

void Admission::Leave() {
  if (in_flight_.fetch_sub(1) == 1 && closed_.load()) {
    MutexLock lock(mu_);
    empty_.NotifyAll();
  }
}

bool Admission::WaitUntilEmpty(std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(mu_);
  while (in_flight_.load() != 0) {
    if (!empty_.WaitUntil(mu_, deadline)) return in_flight_.load() == 0;
  }
  return true;
}

}  // namespace millrace::server
