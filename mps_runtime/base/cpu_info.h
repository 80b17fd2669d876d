#pragma once

#include <string>

namespace millrace::runtime {

// Returns the number of cores that this process may keep busy, at least 1, from its affinity mask
// and on Linux the tightest CPU quota of its control groups (version 2), rounded up. `root` is the
// file system to read them from.
int AvailableCores(const std::string& root = "/");

// Returns the model of the processor, such as "Intel(R) Xeon(R) Processor @ 2.80GHz", or its
// architecture where the system does not name the model.
std::string CpuModelName(const std::string& root = "/");

}  // namespace millrace::runtime
