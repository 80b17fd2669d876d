#include "server/config/front_ends.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace millrace {

std::span<const FrontEndName> AllFrontEnds() {
  static constexpr FrontEndName kNames[] = {
#define MILLRACE_FRONTEND(name, is_built) {#name, is_built},
#include "server/metrics/front_ends.inc"
#undef MILLRACE_FRONTEND
  };
  return kNames;
}

bool HasFrontEnd(std::string_view name) {
  return std::ranges::any_of(AllFrontEnds(), [name](const FrontEndName& front_end) {
    return front_end.is_built && front_end.name == name;
  });
}

std::string BuiltFrontEnds() {
  std::string names;
  for (const FrontEndName& front_end : AllFrontEnds()) {
    if (front_end.is_built)
      absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(front_end.name));
  }
  return names;
}

}  // namespace millrace
