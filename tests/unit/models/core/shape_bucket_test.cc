#include "models/core/shape_bucket.h"

#include <gtest/gtest.h>

namespace millrace::models {
namespace {

TEST(ShapeBucketTest, SmallSizesShareTheSmallest) {
  for (const int64_t size : {1, 63, 64}) EXPECT_EQ(ShapeBucket(size, 64), 64);
}

TEST(ShapeBucketTest, HasFourStepsFromOnePowerOfTwoToTheNext) {
  EXPECT_EQ(ShapeBucket(65, 64), 80);
  EXPECT_EQ(ShapeBucket(80, 64), 80);
  EXPECT_EQ(ShapeBucket(81, 64), 96);
  EXPECT_EQ(ShapeBucket(97, 64), 112);
  EXPECT_EQ(ShapeBucket(113, 64), 128);
  EXPECT_EQ(ShapeBucket(129, 64), 160);
}

TEST(ShapeBucketTest, HoldsTheSizeWithLessThanAFifthOfPadding) {
  for (int64_t size = 65; size < 30'000; ++size) {
    const int64_t bucket = ShapeBucket(size, 64);
    ASSERT_GE(bucket, size);
    ASSERT_LT(5 * (bucket - size), bucket) << size;
    ASSERT_EQ(ShapeBucket(bucket, 64), bucket);
  }
}

}  // namespace
}  // namespace millrace::models
