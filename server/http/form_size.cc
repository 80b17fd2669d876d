#include "server/http/form_size.h"

#include <algorithm>
#include <cstdint>

#include "models/core/errors.h"

namespace millrace {
namespace {

constexpr int64_t kMostFormMembers = 20'000;

}  // namespace

absl::Status CheckFormSize(std::string_view body) {
  if (std::ranges::count(body, '&') < kMostFormMembers) return absl::OkStatus();
  return InvalidArgument("the form has more than ", kMostFormMembers, " members");
}

}  // namespace millrace
