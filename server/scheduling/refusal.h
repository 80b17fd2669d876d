#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "server/metrics/model_metrics.h"

namespace millrace::server {

// The longest hint: the load of the server is another one by then.
inline constexpr std::chrono::minutes kLongestHint{1};
// The longest hint for a client that has used up a limit of its own.
inline constexpr std::chrono::hours kLongestLimitHint{1};

// Returns RESOURCE_EXHAUSTED with a hint when to try again, clamped to 1 ms .. `longest`.
absl::Status Refused(Refusal reason, std::string message, std::chrono::duration<double> retry_after,
                     std::chrono::milliseconds longest = kLongestHint);

// Returns INVALID_ARGUMENT for a request that takes longer than it has, whenever it comes.
absl::Status NeverFitting(std::string message);
// Returns UNAVAILABLE for a request that came while the server stops.
absl::Status Draining();
// Returns UNAVAILABLE for a request that came before the models were loaded.
absl::Status Starting();
// Returns why a request was refused; nothing if the status is no refusal.
std::optional<Refusal> RefusalOf(const absl::Status& status);

// Returns the time for which a refused client should wait before it tries again; zero if the status
// has no hint.
std::chrono::milliseconds RetryHint(const absl::Status& status);
// Returns the same over HTTP, where a server that is not available is worth another try after a
// second.
std::chrono::milliseconds HttpRetryHint(const absl::Status& status);
// Returns the same in seconds for HTTP's Retry-After; 0: none.
int RetryAfterSeconds(const absl::Status& status);

}  // namespace millrace::server
