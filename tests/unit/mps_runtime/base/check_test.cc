#include "mps_runtime/base/check.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "mps_runtime/base/log_sink.h"

namespace millrace {
namespace {

TEST(CheckTest, WhatHoldsEvaluatesNoMessage) {
  bool evaluated = false;
  const auto message = [&] {
    evaluated = true;
    return std::string("broken");
  };
  MILLRACE_CHECK(1 + 1 == 2, message());
  EXPECT_FALSE(evaluated);
}

TEST(CheckDeathTest, AFailureNamesItsPlaceConditionAndMessage) {
  EXPECT_DEATH(MILLRACE_CHECK(1 + 1 == 3, std::string("sums are ") + "wrong"),
               "millrace: check failed at check_test.cc:[0-9]+: 1 \\+ 1 == 3: sums are wrong");
}

TEST(CheckDeathTest, AFailureGoesToTheLogSinkAsFatal) {
  EXPECT_DEATH(
      {
        SetLogSink([](LogSeverity severity, std::string_view message) {
          const std::string line = (severity == LogSeverity::kFatal ? "fatal: " : "other: ") +
                                   std::string(message) + "\n";
          std::fputs(line.c_str(), stderr);
        });
        MILLRACE_CHECK(false, "");
      },
      "^fatal: check failed at check_test.cc:[0-9]+: false\n");
}

TEST(CheckDeathTest, WhatCannotBeReachedSaysSo) {
  EXPECT_DEATH(MILLRACE_UNREACHABLE(), "check failed at check_test.cc:[0-9]+: unreachable");
}

}  // namespace
}  // namespace millrace
