#pragma once

#include <cstdint>
#include <string>

namespace millrace::runtime {

// Returns the bytes of memory that this process may use: those of the machine, or on Linux the
// tightest limit of its control groups (version 2). `root` is the file system to read them from.
int64_t AvailableMemory(const std::string& root = "/");

}  // namespace millrace::runtime
