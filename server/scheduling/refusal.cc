#include "server/scheduling/refusal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

constexpr char kRetryHintPayload[] = "millrace/retry-after-ms";

}  // namespace

absl::Status Refused(std::string message, std::chrono::duration<double> retry_after,
                     std::chrono::milliseconds longest) {
  absl::Status status = absl::ResourceExhaustedError(message);
  const double milliseconds =
      std::clamp(retry_after.count() * 1000, 1.0, static_cast<double>(longest.count()));
  status.SetPayload(kRetryHintPayload, absl::Cord(StrCat(std::llround(milliseconds))));
  return status;
}

std::chrono::milliseconds RetryHint(const absl::Status& status) {
  int64_t hint = 0;
  if (const auto payload = status.GetPayload(kRetryHintPayload)) {
    if (!absl::SimpleAtoi(std::string(*payload), &hint)) hint = 0;
  }
  return std::chrono::milliseconds(hint);
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
