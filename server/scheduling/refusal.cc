#include "server/scheduling/refusal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "models/core/errors.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

constexpr char kReasonPayload[] = "millrace/refusal";
constexpr char kRetryHintPayload[] = "millrace/retry-after-ms";

absl::Status WithReason(absl::Status status, Refusal reason) {
  status.SetPayload(kReasonPayload, absl::Cord(StrCat(static_cast<int>(reason))));
  return status;
}

// Returns the number in a payload; nothing if there is none.
std::optional<int64_t> NumberIn(const absl::Status& status, const char* payload) {
  const auto text = status.GetPayload(payload);
  int64_t number = 0;
  if (!text || !absl::SimpleAtoi(std::string(*text), &number)) return std::nullopt;
  return number;
}

}  // namespace

absl::Status Refused(Refusal reason, std::string message, std::chrono::duration<double> retry_after,
                     std::chrono::milliseconds longest) {
  absl::Status status = WithReason(absl::ResourceExhaustedError(message), reason);
  const double milliseconds =
      std::clamp(retry_after.count() * 1000, 1.0, static_cast<double>(longest.count()));
  status.SetPayload(kRetryHintPayload, absl::Cord(StrCat(std::llround(milliseconds))));
  return status;
}

absl::Status NeverFitting(std::string message) {
  return WithReason(InvalidArgument(message), Refusal::kNeverFits);
}

absl::Status Starting() { return Unavailable("the server is starting; try again soon"); }

absl::Status Draining() {
  return WithReason(Unavailable("the server is shutting down; try another one"),
                    Refusal::kDraining);
}

std::optional<Refusal> RefusalOf(const absl::Status& status) {
  if (status.ok()) return std::nullopt;
  const std::optional<int64_t> reason = NumberIn(status, kReasonPayload);
  if (!reason) return std::nullopt;
  return static_cast<Refusal>(*reason);
}

std::chrono::milliseconds RetryHint(const absl::Status& status) {
  return std::chrono::milliseconds(NumberIn(status, kRetryHintPayload).value_or(0));
}

std::chrono::milliseconds HttpRetryHint(const absl::Status& status) {
  const std::chrono::milliseconds hint = RetryHint(status);
  if (hint.count() > 0 || !absl::IsUnavailable(status)) return hint;
  return std::chrono::seconds(1);
}

int RetryAfterSeconds(const absl::Status& status) {
  return static_cast<int>(std::chrono::ceil<std::chrono::seconds>(HttpRetryHint(status)).count());
}

}  // namespace millrace::server
