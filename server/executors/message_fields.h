#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/errors.h"
#include "models/core/strings.h"

// The messages between the front and its executors share these fields.
namespace millrace::server {

inline absl::Status Malformed(std::string_view what) {
  return InvalidArgument("a message of an executor is malformed: ", what);
}

// Returns the enumerator of this number, if it is at most the last one.
template <typename Enum>
absl::StatusOr<Enum> ReadEnum(uint32_t number, Enum last, std::string_view what) {
  if (number > static_cast<uint32_t>(last)) return Malformed(StrCat("unknown ", what, " ", number));
  return static_cast<Enum>(number);
}

template <typename Strings>
std::vector<std::string> ToVector(const Strings& strings) {
  return {strings.begin(), strings.end()};
}

template <typename T, typename Field>
void AddAll(const std::vector<T>& from, Field* to) {
  to->Add(from.begin(), from.end());
}

}  // namespace millrace::server
