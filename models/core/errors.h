#pragma once

#include <utility>

#include "absl/status/status.h"
#include "models/core/strings.h"

namespace millrace {

// Each makes an error whose message is its parts one behind the other, as StrCat joins them.

template <typename... Parts>
absl::Status InvalidArgument(const Parts&... parts) {
  return absl::InvalidArgumentError(StrCat(parts...));
}

template <typename... Parts>
absl::Status NotFound(const Parts&... parts) {
  return absl::NotFoundError(StrCat(parts...));
}

template <typename... Parts>
absl::Status FailedPrecondition(const Parts&... parts) {
  return absl::FailedPreconditionError(StrCat(parts...));
}

template <typename... Parts>
absl::Status Unavailable(const Parts&... parts) {
  return absl::UnavailableError(StrCat(parts...));
}

template <typename... Parts>
absl::Status DataLoss(const Parts&... parts) {
  return absl::DataLossError(StrCat(parts...));
}

template <typename... Parts>
absl::Status Internal(const Parts&... parts) {
  return absl::InternalError(StrCat(parts...));
}

}  // namespace millrace

// Evaluates an expression of type absl::Status and returns it from the function if it is an error.
#define MILLRACE_RETURN_IF_ERROR(...)                                          \
  do {                                                                         \
    if (absl::Status millrace_status = (__VA_ARGS__); !millrace_status.ok()) { \
      return millrace_status;                                                  \
    }                                                                          \
  } while (false)

// Evaluates an expression of type absl::StatusOr, returns its error from the function if it is one,
// and else moves its value into `destination`, which may declare a variable:
//   MILLRACE_ASSIGN_OR_RETURN(const std::string text, ReadFile(name));
#define MILLRACE_ASSIGN_OR_RETURN(destination, ...)                                       \
  MILLRACE_ASSIGN_OR_RETURN_BY(MILLRACE_NAME_AT(millrace_result_, __LINE__), destination, \
                               __VA_ARGS__)

#define MILLRACE_ASSIGN_OR_RETURN_BY(result, destination, ...) \
  auto result = (__VA_ARGS__);                                 \
  if (!result.ok()) return std::move(result).status();         \
  destination = *std::move(result) /* NOLINT(bugprone-macro-parentheses): may be a declaration */

#define MILLRACE_NAME_AT(name, line) MILLRACE_JOIN_NAMES(name, line)
#define MILLRACE_JOIN_NAMES(first, second) first##second
