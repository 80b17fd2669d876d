#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "mps_runtime/base/file.h"
#include "server/crashes/flight_recorder.h"

namespace millrace::server {

// The signal that ends a process and the stack of the thread that it met.
struct CrashedThread {
  static constexpr size_t kFrames = 48;
  struct Frame {
    uint64_t address;
    std::array<char, 160> symbol;  // empty: it is not known
  };

  int32_t signal;    // 0: no signal was handled
  uint64_t address;  // the one that could not be accessed; 0: there is none
  int64_t thread;
  uint32_t frames;
  std::array<Frame, kFrames> stack;
};

// A process leaves this behind when it crashes. It is plain data, so that it can lie in memory that
// an executor shares with the front. The front trusts nothing in it: the executor may have
// scribbled over it.
struct CrashPage {
  FlightRecord flight;
  CrashedThread crash;
};

// Loads what RecordCrash needs, since a handler of signals must not. Call it before.
void PrepareToRecordCrash();
// Writes the signal and the stack of the calling thread. Safe in a handler of signals.
void RecordCrash(int signal, const void* address, CrashedThread& crash);

// A page in a file without a name, which two processes share by its descriptor. The file is empty
// if there is no room for it.
absl::StatusOr<FileDescriptor> MakeCrashPageFile();
struct UnmapCrashPage {
  void operator()(CrashPage* page) const;
};
using MappedCrashPage = std::unique_ptr<CrashPage, UnmapCrashPage>;
// Maps it, to be written; if it is empty, the page is the process's own.
absl::StatusOr<MappedCrashPage> MapCrashPage(int file);
// Copies the page of another process. It does not map the file, which the other process may have
// truncated. Fields that cannot be read are zeros.
std::unique_ptr<CrashPage> ReadCrashPage(int file);

}  // namespace millrace::server
