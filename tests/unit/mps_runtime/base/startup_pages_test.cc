#include "mps_runtime/base/startup_pages.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace millrace {
namespace {

#ifdef __linux__
// Returns the resident kibibytes of this process that are mapped from files.
int64_t ResidentOfFiles() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    int64_t kib = 0;
    if (word == "RssFile:" && status >> kib) return kib;
  }
  return -1;
}

TEST(StartupPagesTest, GivesBackWhatOnlyTheStartNeeded) {
  const int64_t before = ResidentOfFiles();
  if (before < 0) GTEST_SKIP() << "this kernel does not say what is resident of files";
  ReleaseStartupPages();
  EXPECT_LT(ResidentOfFiles(), before - 10'000);
}
#endif

TEST(StartupPagesTest, LeavesLibtorchAsItWas) {
  const float before = at::ones({1000}).sum().item<float>();
  ReleaseStartupPages();
  EXPECT_EQ(at::ones({1000}).sum().item<float>(), before);
  EXPECT_THROW(at::ones({2}).view({3}), std::exception);  // unwinding reads tables of the library
}

}  // namespace
}  // namespace millrace
