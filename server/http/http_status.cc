#include "server/http/http_status.h"

#include "models/core/lookup.h"
#include "models/core/too_long.h"

namespace millrace {

int HttpStatusOf(const absl::Status& status) {
  if (IsTooLong(status)) return 413;
  using Code = absl::StatusCode;
  static constexpr std::pair<Code, int> kStatuses[] = {
      {Code::kOk, 200},          {Code::kInvalidArgument, 400},   {Code::kFailedPrecondition, 400},
      {Code::kOutOfRange, 400},  {Code::kUnauthenticated, 401},   {Code::kPermissionDenied, 403},
      {Code::kNotFound, 404},    {Code::kResourceExhausted, 429}, {Code::kCancelled, 499},
      {Code::kUnavailable, 503}, {Code::kDeadlineExceeded, 504}};
  return ValueOf(kStatuses, status.code(), 500);
}

}  // namespace millrace
