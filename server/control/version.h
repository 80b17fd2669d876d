#pragma once

namespace millrace {

// Of Millrace itself; CMake's project version.
inline constexpr const char* kVersion = MILLRACE_VERSION;

}  // namespace millrace
