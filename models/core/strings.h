#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace millrace {

// Some distributions build Abseil with a string_view type of its own. These functions convert
// between the two; where they are one type they cost nothing.

inline absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// Returns the status's message, which the status owns.
inline std::string_view Message(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

namespace internal {

template <typename T>
decltype(auto) StrCatArgument(const T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return View(value);
  } else {
    return (value);
  }
}

}  // namespace internal

// absl::StrCat that also takes std::string_view.
template <typename... Parts>
std::string StrCat(const Parts&... parts) {
  return absl::StrCat(internal::StrCatArgument(parts)...);
}

}  // namespace millrace
