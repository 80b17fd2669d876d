#include "mps_runtime/selftest/program.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <string_view>

#include "mps_runtime/selftest/report.h"

namespace millrace::runtime {
namespace {

void Print(std::FILE* to, const std::string& text) {
  std::fputs(text.c_str(), to);
  std::fflush(to);
}

// Read by the signal handler; written before a test begins.
std::array<char, 200> crash_line;

#ifdef MILLRACE_SANITIZED
void InstallCrashHandlers() {}  // a sanitizer has handlers of its own, which report more
#else
void OnCrash(int signal) {
  const ssize_t unused =
      write(STDERR_FILENO, crash_line.data(), std::string_view(crash_line.data()).size());
  (void)unused;
  raise(signal);
}

// A driver that crashes takes this process with it; the report then at least names the test.
void InstallCrashHandlers() {
  struct sigaction action {};
  action.sa_handler = OnCrash;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP}) {
    sigaction(signal, &action, nullptr);
  }
}
#endif

std::string ProgressLine(std::string_view name, double seconds, std::string_view step) {
  std::string line =
      "... " + std::string(name) + ", " + std::to_string(static_cast<int64_t>(seconds)) + " s";
  if (!step.empty()) line += ": " + std::string(step);
  return line + '\n';
}

}  // namespace

int RunSelftestProgram(const SelftestProgram& program) {
  const std::vector<SelftestTest> tests = Matching(program.tests, program.filter);
  if (tests.empty()) {
    std::string names;
    for (const SelftestTest& test : program.tests)
      names += (names.empty() ? "" : ", ") + std::string(test.name);
    Print(program.err, "--filter " + program.filter + ": no test has that in its name; there are " +
                           names + '\n');
    return 2;
  }
  if (program.list) {
    for (const SelftestTest& test : tests) {
      std::fprintf(program.out, "%-28s %s\n", std::string(test.name).c_str(),
                   std::string(test.shows).c_str());
    }
    return 0;
  }
  SelftestCallbacks callbacks;
  callbacks.on_begin = [](std::string_view name) {
    std::snprintf(crash_line.data(), crash_line.size(), "millrace selftest: crashed in %.*s\n",
                  static_cast<int>(name.size()), name.data());
  };
  InstallCrashHandlers();
  callbacks.on_progress = [&](std::string_view name, double seconds, std::string_view step) {
    Print(program.err, ProgressLine(name, seconds, step));
  };
  if (program.json) {
    callbacks.on_hang = [&](const SelftestReport& report) { Print(program.out, ToJson(report)); };
  } else {
    callbacks.on_start = [&](const SelftestReport& report) {
      Print(program.out, StartLines(report));
    };
    callbacks.on_result = [&](const TestResult& result) {
      Print(program.out, ResultLines(result));
    };
    callbacks.on_hang = [&](const SelftestReport& report) {
      Print(program.out,
            ResultLines(report.results.back()) + SupportLines(report) + SummaryLines(report));
    };
  }
  const SelftestReport report = RunSelftest(tests, program.options, callbacks);
  Print(program.out, program.json ? ToJson(report) : SupportLines(report) + SummaryLines(report));
  return report.passed() ? 0 : 1;
}

}  // namespace millrace::runtime
