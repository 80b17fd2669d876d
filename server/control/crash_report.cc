#include "server/control/crash_report.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string_view>

#include "server/control/signal_stack.h"
#include "server/control/version.h"

namespace millrace::server {
namespace {

struct FatalSignal {
  int number;
  const char* name;
};

constexpr std::array kSignals = {FatalSignal{SIGSEGV, "SIGSEGV"}, FatalSignal{SIGBUS, "SIGBUS"},
                                 FatalSignal{SIGFPE, "SIGFPE"}, FatalSignal{SIGILL, "SIGILL"},
                                 FatalSignal{SIGABRT, "SIGABRT"}};

// Only functions that are safe in a handler of signals may be called here: no allocation, no lock.
void OnFatalSignal(int number) {
  const char* name = "unknown";
  for (const FatalSignal& fatal : kSignals) {
    if (fatal.number == number) name = fatal.name;
  }
  char line[128];
  size_t size = 0;
  for (const std::string_view part :
       {std::string_view("millrace "), std::string_view(kVersion),
        std::string_view(": crashed by signal "), std::string_view(name),
        std::string_view("; all requests in flight are lost\n")}) {
    for (const char c : part) {
      if (size < sizeof(line)) line[size++] = c;
    }
  }
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, size);
  // The handler is reset to the default, which takes effect once this returns. What raises no
  // signal of its own again, because it was sent, has it from here.
  raise(number);
}

}  // namespace

void ReportCrashes() {
  static const SignalStack stack;
  for (const FatalSignal& fatal : kSignals) {
    struct sigaction action = {};
    action.sa_handler = OnFatalSignal;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK;
    sigaction(fatal.number, &action, nullptr);
  }
}

}  // namespace millrace::server
