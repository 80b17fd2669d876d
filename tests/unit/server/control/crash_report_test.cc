#include "server/control/crash_report.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <utility>

namespace millrace::server {
namespace {

TEST(CrashReportDeathTest, AFatalSignalIsNamedWithTheVersionAndEndsTheProcessAsBefore) {
  for (const auto& [number, name] :
       {std::pair(SIGSEGV, "SIGSEGV"), std::pair(SIGBUS, "SIGBUS"), std::pair(SIGFPE, "SIGFPE"),
        std::pair(SIGILL, "SIGILL"), std::pair(SIGABRT, "SIGABRT")}) {
    const std::string line =
        std::string("millrace .*: crashed by signal ") + name + "; all requests in flight";
    EXPECT_EXIT(
        {
          ReportCrashes();
          raise(number);
        },
        ::testing::KilledBySignal(number), line);
  }
}

}  // namespace
}  // namespace millrace::server
