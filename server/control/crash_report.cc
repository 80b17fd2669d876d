#include "server/control/crash_report.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <utility>

#include "server/control/signal_stack.h"
#include "server/control/version.h"
#include "server/crashes/crash_file.h"

namespace millrace::server {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

// The time for a report. What is broken may be what the handler needs.
constexpr unsigned kMostSeconds = 3;

// It is never destroyed: threads may crash until the very end.
CrashReportOptions* report_options = nullptr;
std::atomic_flag crashed = ATOMIC_FLAG_INIT;

void SetHandler(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigaction(number, &action, nullptr);
}

// Ends the process after a time, whatever this thread waits for.
void EndSoon() {
  SetHandler(SIGALRM, SIG_DFL);
  sigset_t alarm_alone;
  sigemptyset(&alarm_alone);
  sigaddset(&alarm_alone, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm_alone, nullptr);
  alarm(kMostSeconds);
}

void Write(std::string_view text, char* line, size_t capacity, size_t& size) {
  for (const char c : text) {
    if (size < capacity) line[size++] = c;
  }
}

// Returns what the line says of the file.
std::string_view WriteReport(std::string_view name) {
  char how[32];
  size_t size = 0;
  for (const std::string_view part : {std::string_view("signal "), name})
    Write(part, how, sizeof(how), size);
  CrashFacts facts{.id = "server",
                   .process = "server",
                   .pid = getpid(),
                   .cause = "crash",
                   .how = {how, size},
                   .version = kVersion};
  SetToNow(facts);
  return WriteCrashFile(report_options->folder, facts, *report_options->page) == 0
             ? "; a report is in --crash-directory"
             : "; no report could be written";
}

// Only functions that are safe in a handler of signals may be called here: no allocation, no lock.
void OnFatalSignal(int number, siginfo_t* info, void* /*context*/) {
  // Threads that crash meanwhile wait for the first one to end the process.
  while (crashed.test_and_set()) pause();
  EndSoon();
  const std::string_view name = NameOfSignal(number);
  if (report_options->page != nullptr) {
    const bool is_fault = info->si_code > 0 && number != SIGABRT;
    RecordCrash(number, is_fault ? info->si_addr : nullptr, report_options->page->crash);
  }
  std::string_view file;
  if (!report_options->folder.empty()) file = WriteReport(name);
  if (report_options->says_so) {
    char line[256];
    size_t size = 0;
    for (const std::string_view part :
         {std::string_view("millrace "), std::string_view(kVersion),
          std::string_view(": crashed by signal "), name,
          std::string_view("; all requests in flight are lost"), file, std::string_view("\n")})
      Write(part, line, sizeof(line), size);
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, size);
  }
  // The default takes effect once this returns. What raises no signal of its own again, because it
  // was sent, has it from here.
  SetHandler(number, SIG_DFL);
  raise(number);
}

}  // namespace

void ReportCrashes(CrashReportOptions options) {
  static const SignalStack stack;
  if (options.page != nullptr) PrepareToRecordCrash();
  delete std::exchange(report_options, new CrashReportOptions(std::move(options)));
  for (const int number : kSignals) {
    struct sigaction action = {};
    action.sa_sigaction = OnFatalSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(number, &action, nullptr);
  }
}

}  // namespace millrace::server
