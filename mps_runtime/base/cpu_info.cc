#include "mps_runtime/base/cpu_info.h"

#include <sys/utsname.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#elif defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <memory>
#include <thread>

#include "mps_runtime/base/control_groups.h"

namespace millrace::runtime {
namespace {

// Returns the cores of the affinity mask. Newer C libraries no longer use it: their
// hardware_concurrency counts all cores that are online.
int CoresOfTheMask() {
#ifdef __linux__
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(
        CPU_ALLOC(capacity), [](cpu_set_t* set) { CPU_FREE(set); });
    const size_t size = CPU_ALLOC_SIZE(capacity);
    if (mask != nullptr && sched_getaffinity(0, size, mask.get()) == 0)
      return CPU_COUNT_S(size, mask.get());
    if (errno != EINVAL) break;  // EINVAL: the kernel's mask is larger
  }
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

// Reads "<quota> <period>" in microseconds, or "max <period>"; 0 stands for no limit.
int QuotaCores(const std::string& path) {
  std::ifstream file(path);
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::ceil(quota / period));
}

}  // namespace

int AvailableCores(const std::string& root) {
  int cores = std::max(1, CoresOfTheMask());
  for (const std::string& folder : ControlGroupFolders(root)) {
    const int quota = QuotaCores(folder + "/cpu.max");
    if (quota > 0) cores = std::min(cores, quota);
  }
  return cores;
}

std::string CpuModelName(const std::string& root) {
#ifdef __APPLE__
  char name[256];
  size_t size = sizeof(name);
  if (sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0) return name;
#endif
  std::ifstream file(root + "proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname system{};
  return uname(&system) == 0 ? system.machine : "unknown";
}

}  // namespace millrace::runtime
