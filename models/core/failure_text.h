#pragma once

#include <string>
#include <string_view>

namespace millrace {

// Returns libtorch's text about a failure without the C++ stack trace at its end.
std::string_view BeforeStackTrace(std::string_view text);

// Returns the line of libtorch's text about a failure that says what failed: behind the traceback
// of a TorchScript module, else the first, before pages of stack trace.
std::string FailureCause(std::string_view text);

}  // namespace millrace
