#pragma once

#include <cstdint>
#include <string>

namespace millrace::runtime {

// Describes the machine and its operating system for a report.
struct SystemInfo {
  std::string os;             // such as "Debian GNU/Linux 12 (bookworm)" or "macOS 14.6"
  std::string kernel;         // name and release, such as "Linux 6.1.0-18-amd64"
  std::string machine;        // the processor's architecture, on macOS also the computer's model
  int cores = 0;              // cores that this process may keep busy
  uint64_t memory_bytes = 0;  // memory of the machine; 0: unknown
};

SystemInfo ReadSystemInfo();

}  // namespace millrace::runtime
