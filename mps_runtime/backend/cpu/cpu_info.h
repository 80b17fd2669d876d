#pragma once

#include <string>

namespace millrace::runtime {

// Cores that this process may keep busy: its affinity mask, and on Linux the tightest CPU quota of
// its control groups (version 2), rounded up. At least 1. `root` is the file system to read them
// from.
int AvailableCores(const std::string& root = "/");

// The processor's model, such as "Intel(R) Xeon(R) Processor @ 2.80GHz"; where the system does not
// tell, its architecture.
std::string CpuModelName(const std::string& root = "/");

}  // namespace millrace::runtime
