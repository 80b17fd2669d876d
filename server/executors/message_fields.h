#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/errors.h"
#include "models/core/strings.h"

// The messages between the front and its executors share these fields.
namespace millrace::server {

inline absl::Status Malformed(std::string_view what) {
  return InvalidArgument("a message of an executor is malformed: ", what);
}

// Checks that the number is one of an enumerator, of which this is the last one.
template <typename Enum>
absl::Status CheckEnum(uint32_t number, Enum last, std::string_view what) {
  if (number > static_cast<uint32_t>(last)) return Malformed(StrCat("unknown ", what, " ", number));
  return absl::OkStatus();
}

// Returns true if the spans follow each other within a text of this size.
template <typename Spans>
bool FollowEachOther(const Spans& spans, size_t size) {
  size_t last = 0;
  for (const auto& span : spans) {
    if (span.begin() < last || span.end() < span.begin() || span.end() > size) return false;
    last = span.end();
  }
  return true;
}

}  // namespace millrace::server

// These copy a struct to its message, or back if it is the message that is constant, in functions
// that are templates of both. Each field is called the same in both.

#define MILLRACE_WRITES(native) std::is_const_v<std::remove_reference_t<decltype((native))>>

// Copies values, optional values and lists of values, at most twenty fields. Enumerators are not
// checked.
#define MILLRACE_COPY(native, message, ...) \
  MILLRACE_RESCAN(MILLRACE_COPY_FIRST(native, message, __VA_ARGS__))

// Copies a list of structs, each by the function `copy`.
#define MILLRACE_COPY_EACH(native, message, field, copy)                                  \
  if constexpr (MILLRACE_WRITES(native)) {                                                \
    for (const auto& each : (native).field) copy(each, *(message).add_##field());         \
  } else {                                                                                \
    for (const auto& each : (message).field()) copy((native).field.emplace_back(), each); \
  }

#define MILLRACE_COPY_ONE(native, message, field)                                       \
  if constexpr (MILLRACE_WRITES(native)) {                                              \
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype((native).field)>>) {      \
      (message).set_##field(static_cast<uint32_t>((native).field));                     \
    } else if constexpr (requires { (message).set_##field((native).field); }) {         \
      (message).set_##field((native).field);                                            \
    } else if constexpr (requires { (message).set_##field(*(native).field); }) {        \
      if ((native).field) (message).set_##field(*(native).field);                       \
    } else {                                                                            \
      (message).mutable_##field()->Add((native).field.begin(), (native).field.end());   \
    }                                                                                   \
  } else if constexpr (requires { (message).has_##field(); }) {                         \
    if ((message).has_##field()) (native).field = (message).field();                    \
  } else if constexpr (std::is_enum_v<std::remove_cvref_t<decltype((native).field)>>) { \
    (native).field =                                                                    \
        static_cast<std::remove_cvref_t<decltype((native).field)>>((message).field());  \
  } else if constexpr (requires { (native).field = (message).field(); }) {              \
    (native).field = (message).field();                                                 \
  } else {                                                                              \
    (native).field.assign((message).field().begin(), (message).field().end());          \
  }

// A macro is not expanded within itself. So this one only names the macro of the fields behind the
// first, and each time that the text is scanned again, one more is expanded.
#define MILLRACE_COPY_FIRST(native, message, field, ...) \
  MILLRACE_COPY_ONE(native, message, field)              \
  __VA_OPT__(MILLRACE_COPY_REST MILLRACE_PARENTHESES(native, message, __VA_ARGS__))
#define MILLRACE_COPY_REST() MILLRACE_COPY_FIRST
#define MILLRACE_PARENTHESES ()
#define MILLRACE_RESCAN(...) \
  MILLRACE_SCAN_4(MILLRACE_SCAN_4(MILLRACE_SCAN_4(MILLRACE_SCAN_4(__VA_ARGS__))))
#define MILLRACE_SCAN_4(...) MILLRACE_SCAN(MILLRACE_SCAN(MILLRACE_SCAN(MILLRACE_SCAN(__VA_ARGS__))))
#define MILLRACE_SCAN(...) __VA_ARGS__
