#include "server/calibrate/matrix.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(MatrixTest, HasARowForEachItemAndAColumnForEachNumberOfThreads) {
  runtime::SafetyProfile profile;
  profile.key.device_name = "Apple M4";
  profile.key.backend = "mps";
  profile.key.libtorch_version = "2.15.0";
  profile.repeats = 60;
  profile.operators = {{.name = "linear",
                        .safe_concurrency = 2,
                        .runs = {{.threads = 1, .ok = 60},
                                 {.threads = 2, .ok = 60},
                                 {.threads = 3, .ok = 12, .crash = 1},
                                 {.threads = 4, .hang = 1},
                                 {.threads = 8, .ok = 3}}}};
  profile.models = {{.name = "voice", .version = 1, .runs = {{.threads = 1, .error = 1}}}};
  EXPECT_EQ(Matrix(profile),
            "Apple M4 (mps), libtorch 2.15.0, 60 runs each\n"
            "threads                  1   2           3         4     8  safe\n"
            "operator linear         ok  ok  crash 1/13  hang 1/1  (ok)     2\n"
            "model voice      error 1/1   -           -         -     -  none\n");
}

TEST(CellTextTest, NamesTheWorst) {
  EXPECT_EQ(CellText({.threads = 1, .ok = 5}, 5), "ok");
  EXPECT_EQ(CellText({.threads = 1, .ok = 4}, 5), "(ok)");
  EXPECT_EQ(CellText({.threads = 1, .ok = 4, .wrong = 1}, 5), "wrong 1/5");
}

}  // namespace
}  // namespace millrace
