#include "mps_runtime/base/this_program.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>

#include <array>
#include <cerrno>
#include <climits>
#include <system_error>
#endif

namespace millrace {

std::string ThisProgram() {
#ifdef __APPLE__
  std::array<char, PATH_MAX> path;
  uint32_t size = path.size();
  if (_NSGetExecutablePath(path.data(), &size) != 0)
    throw std::system_error(ENAMETOOLONG, std::generic_category(), "_NSGetExecutablePath");
  return path.data();
#else
  return "/proc/self/exe";
#endif
}

}  // namespace millrace
