#pragma once

namespace millrace::server {

// Has a fatal signal of the process (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) leave one line with
// its name and the version on stderr before it ends the process as it would have, also when the
// stack of a thread with a SignalStack has overflown; this thread gets one. Call once, on the main
// thread, while no other thread sets handlers.
void ReportCrashes();

}  // namespace millrace::server
