#pragma once

#include <string>
#include <vector>

namespace millrace::runtime {

// Returns the folders of the control groups (version 2) of this process, its own first and then
// those of its parents, whose limits hold as well; none where there are no such groups. `root` is
// the file system to read them from.
std::vector<std::string> ControlGroupFolders(const std::string& root = "/");

}  // namespace millrace::runtime
