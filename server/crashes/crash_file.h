#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/crashes/crash_page.h"

namespace millrace::server {

// A report says this beside the page. It borrows its strings.
struct CrashFacts {
  std::string_view id;       // names the process in the log and in the errors of requests
  std::string_view process;  // "executor" or "server"
  int64_t pid = 0;
  std::string_view cause;  // a DeathCause's name
  std::string_view how;    // such as "signal SIGSEGV"
  std::string_view version;
  int64_t unix_ms = 0;    // when it was noticed
  int64_t record_ns = 0;  // the same on the clock of the flight record
};

// The names of reports: crash-<milliseconds since 1970>-<pid>.json, so that they sort by time.
inline constexpr std::string_view kCrashFilePrefix = "crash-";
inline constexpr std::string_view kCrashFileSuffix = ".json";
// The greatest size of a report.
inline constexpr size_t kMostCrashFileBytes = size_t{64} << 10;

// Writes a report into the folder. A file of its name is complete, or is not there. Returns 0 or an
// errno value. Safe in a handler of signals: no allocation, no lock.
int WriteCrashFile(std::string_view folder, const CrashFacts& facts, const CrashPage& page);
// Sets both times of the facts to now. Safe there too.
void SetToNow(CrashFacts& facts);
// "SIGSEGV"; empty for signals that end no process of ours. Safe there too.
std::string_view NameOfSignal(int signal);

}  // namespace millrace::server
