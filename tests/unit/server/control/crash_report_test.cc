#include "server/control/crash_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace millrace::server {
namespace {

TEST(CrashReportDeathTest, AFatalSignalIsNamedWithTheVersionAndEndsTheProcessAsBefore) {
  for (const auto& [number, name] :
       {std::pair(SIGSEGV, "SIGSEGV"), std::pair(SIGBUS, "SIGBUS"), std::pair(SIGFPE, "SIGFPE"),
        std::pair(SIGILL, "SIGILL"), std::pair(SIGABRT, "SIGABRT"), std::pair(SIGTRAP, "SIGTRAP"),
        std::pair(SIGSYS, "SIGSYS")}) {
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

TEST(CrashReportDeathTest, AnUncaughtExceptionAndAnAbortAreNamedTheSame) {
  EXPECT_EXIT(
      {
        ReportCrashes();
        std::thread([] { throw std::runtime_error("nobody catches it"); }).join();
      },
      ::testing::KilledBySignal(SIGABRT), "nobody catches it(.|\n)*crashed by signal SIGABRT");
  EXPECT_EXIT(
      {
        ReportCrashes();
        std::abort();
      },
      ::testing::KilledBySignal(SIGABRT), "crashed by signal SIGABRT");
}

TEST(CrashReportDeathTest, AReportTellsTheSignalTheStackAndTheSteps) {
  std::string folder = ::testing::TempDir() + "reports.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  static CrashPage page;
  FlightRecorder(page.flight).Begin(0, "voice", std::chrono::steady_clock::now());
  EXPECT_EXIT(
      {
        ReportCrashes({.page = &page, .folder = folder});
        raise(SIGSEGV);
      },
      ::testing::KilledBySignal(SIGSEGV),
      "crashed by signal SIGSEGV; all requests in flight are lost; a report is in");
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  for (const char* part : {"\"signal\": \"SIGSEGV\"", "\"symbol\": \"raise", "\"model\": \"voice\"",
                           "\"process\": \"server\"", "\"running\": true"})
    EXPECT_THAT(text, ::testing::HasSubstr(part));
  std::filesystem::remove_all(folder);
  EXPECT_EXIT(
      {
        ReportCrashes({.page = &page, .folder = folder});
        raise(SIGSEGV);
      },
      ::testing::KilledBySignal(SIGSEGV), "are lost; no report could be written");
}

#ifdef MILLRACE_THREAD_HOOK

// Calls itself without end; the sum keeps the compiler from making a loop of it.
[[gnu::noinline]] int Overflow(int depth) {
  volatile char frame[4096] = {};
  frame[depth % sizeof(frame)] = 1;
  return depth < 0 ? 0 : Overflow(depth + 1) + frame[0];
}

TEST(CrashReportDeathTest, AStackThatOverflowsIsNamedOnEveryThread) {
  EXPECT_EXIT(
      {
        ReportCrashes();
        Overflow(0);
      },
      ::testing::KilledBySignal(SIGSEGV), "crashed by signal SIGSEGV");
  EXPECT_EXIT(
      {
        ReportCrashes();
        std::thread([] { Overflow(0); }).join();
      },
      ::testing::KilledBySignal(SIGSEGV), "crashed by signal SIGSEGV");
  // As a library in C starts its threads.
  EXPECT_EXIT(
      {
        ReportCrashes();
        pthread_t thread = {};
        pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
              Overflow(0);
              return nullptr;
            },
            nullptr);
        pthread_join(thread, nullptr);
      },
      ::testing::KilledBySignal(SIGSEGV), "crashed by signal SIGSEGV");
}

TEST(ThreadHookTest, AThreadHasASignalStackAndReturnsWhatItDoes) {
  pthread_t thread = {};
  int given = 0;
  ASSERT_EQ(pthread_create(
                &thread, nullptr,
                [](void* argument) -> void* {
                  stack_t stack = {};
                  sigaltstack(nullptr, &stack);
                  return stack.ss_flags == 0 ? argument : nullptr;
                },
                &given),
            0);
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, &given);
}

#endif

}  // namespace
}  // namespace millrace::server
