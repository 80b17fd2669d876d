#pragma once

namespace millrace {

// Millrace's own version, which is that of the CMake project.
inline constexpr const char* kVersion = MILLRACE_VERSION;

}  // namespace millrace
