#pragma once

#include <string>

#include "server/crashes/crash_page.h"

namespace millrace::server {

struct CrashReportOptions {
  CrashPage* page = nullptr;  // gets signal and stack; must outlive the process's threads
  std::string folder;         // gets a report; empty: no file is written
  bool says_so = true;        // writes a line on stderr
};

// Has a fatal signal of the process (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS)
// leave one line with its name and the version on stderr, and what the options say, before it ends
// the process as it would have, also when the stack of a thread with a SignalStack has overflown;
// this thread gets one. Call once, on the main thread, while no other thread sets handlers.
void ReportCrashes(CrashReportOptions options = {});

}  // namespace millrace::server
