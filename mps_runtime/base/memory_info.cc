#include "mps_runtime/base/memory_info.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "mps_runtime/base/control_groups.h"

namespace millrace::runtime {

int64_t AvailableMemory(const std::string& root) {
  int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  for (const std::string& folder : ControlGroupFolders(root)) {
    std::ifstream file(folder + "/memory.max");
    int64_t limit = 0;  // stays so for "max", which is no limit
    if (file >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

}  // namespace millrace::runtime
