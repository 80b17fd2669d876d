#include "mps_runtime/library_caches.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace millrace::runtime {
namespace {

TEST(LibraryCachesTest, AreBoundedUnlessTheOperatorSaysOtherwise) {
  unsetenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY");
  setenv("MKL_DISABLE_FAST_MM", "0", 1);
  BoundLibraryCaches();
  EXPECT_STREQ(getenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY"), "128");
  EXPECT_STREQ(getenv("MKL_DISABLE_FAST_MM"), "0");
}

}  // namespace
}  // namespace millrace::runtime
