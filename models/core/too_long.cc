#include "models/core/too_long.h"

#include "absl/strings/cord.h"
#include "models/core/errors.h"

namespace millrace {
namespace {

constexpr char kTooLongPayload[] = "millrace/too-long";

}  // namespace

absl::Status TooLongError(const std::string& message) {
  absl::Status status = InvalidArgument(message);
  status.SetPayload(kTooLongPayload, absl::Cord("1"));
  return status;
}

bool IsTooLong(const absl::Status& status) {
  return !status.ok() && status.GetPayload(kTooLongPayload).has_value();
}

}  // namespace millrace
