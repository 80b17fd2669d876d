#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

// Skips the test where something it needs is missing. Where changes are gated (CI is set) a skip
// would go unnoticed, and all is installed: there it fails.
// NOLINTBEGIN(bugprone-macro-parentheses): what is missing may be several values, joined by <<.
#define MILLRACE_NEEDS(condition, missing)              \
  do {                                                  \
    if (!(condition)) {                                 \
      ASSERT_EQ(std::getenv("CI"), nullptr) << missing; \
      GTEST_SKIP() << missing;                          \
    }                                                   \
  } while (false)
// NOLINTEND(bugprone-macro-parentheses)
