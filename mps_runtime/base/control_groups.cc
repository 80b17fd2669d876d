#include "mps_runtime/base/control_groups.h"

#include <fstream>
#include <string_view>

namespace millrace::runtime {
namespace {

// Returns the control group of this process, such as "/system.slice/x.service"; empty where there
// is none.
std::string OwnGroup(const std::string& root) {
  std::ifstream file(root + "proc/self/cgroup");
  constexpr std::string_view kVersion2 = "0::";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kVersion2)) return line.substr(kVersion2.size());
  }
  return {};
}

}  // namespace

std::vector<std::string> ControlGroupFolders(const std::string& root) {
  std::vector<std::string> folders;
  for (std::string group = OwnGroup(root); !group.empty(); group.resize(group.find_last_of('/'))) {
    folders.push_back(root + "sys/fs/cgroup" + (group == "/" ? "" : group));
    if (group.find('/') == std::string::npos) break;
  }
  return folders;
}

}  // namespace millrace::runtime
