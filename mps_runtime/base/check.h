#pragma once

#include <string_view>

namespace millrace {

// Reports the failed check to the log (log_sink.h) and aborts the process.
[[noreturn]] void FailCheck(const char* file, int line, const char* condition,
                            std::string_view message);

}  // namespace millrace

// Aborts the process unless the condition holds. For broken invariants of this program's own code
// only: bad input gets a Status. The message, a std::string or what converts to a std::string_view,
// is evaluated only when the check fails. Thread-safe.
#define MILLRACE_CHECK(condition, message)                              \
  do {                                                                  \
    if (!(condition)) [[unlikely]]                                      \
      ::millrace::FailCheck(__FILE__, __LINE__, #condition, (message)); \
  } while (false)

// For code that no valid value reaches, such as the end of a switch over all values of an
// enumeration.
#define MILLRACE_UNREACHABLE() ::millrace::FailCheck(__FILE__, __LINE__, "unreachable", "")
