#include "mps_runtime/selftest/system_info.h"

#include <sys/utsname.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/sysctl.h>

#include <array>
#else
#include <fstream>
#endif

#include "mps_runtime/base/cpu_info.h"

namespace millrace::runtime {
namespace {

#ifdef __APPLE__
std::string Sysctl(const char* name) {
  std::array<char, 256> text{};
  size_t size = text.size() - 1;
  return sysctlbyname(name, text.data(), &size, nullptr, 0) == 0 ? text.data() : "unknown";
}

std::string OsName() { return "macOS " + Sysctl("kern.osproductversion"); }
std::string Model() { return " " + Sysctl("hw.model"); }
#else
// Returns the value of PRETTY_NAME="..." in os-release(5).
std::string OsName() {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kKey = "PRETTY_NAME=";
    if (!line.starts_with(kKey)) continue;
    line.erase(0, kKey.size());
    std::erase(line, '"');
    return line;
  }
  return "unknown";
}
std::string Model() { return {}; }
#endif

}  // namespace

SystemInfo ReadSystemInfo() {
  SystemInfo info;
  info.os = OsName();
  utsname names{};
  if (uname(&names) == 0) {
    info.kernel = std::string(names.sysname) + ' ' + names.release;
    info.machine = names.machine + Model();
  }
  info.cores = AvailableCores();
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) {
    info.memory_bytes = static_cast<uint64_t>(pages) * static_cast<uint64_t>(page);
  }
  return info;
}

}  // namespace millrace::runtime
