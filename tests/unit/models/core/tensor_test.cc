#include "models/core/tensor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "models/core/model_info.h"

namespace millrace::models {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(DataTypeTest, NamesAndSizesAreThoseOfKServe) {
  const std::vector<std::pair<std::string, size_t>> types = {
      {"BOOL", 1}, {"UINT8", 1}, {"UINT16", 2}, {"UINT32", 4}, {"UINT64", 8},
      {"INT8", 1}, {"INT16", 2}, {"INT32", 4},  {"INT64", 8},  {"FP16", 2},
      {"BF16", 2}, {"FP32", 4},  {"FP64", 8},   {"BYTES", 0}};
  for (const auto& [name, size] : types) {
    const auto type = ParseDataType(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(ToString(*type), name);
    EXPECT_EQ(ElementSize(*type), size) << name;
  }
}

TEST(DataTypeTest, OtherNamesAreNone) {
  for (const char* name : {"", "fp32", "FLOAT", "TYPE_FP32", "FP32 "})
    EXPECT_FALSE(ParseDataType(name)) << name;
}

TEST(ElementCountTest, IsTheProduct) {
  EXPECT_EQ(ElementCount({}), 1);  // a scalar
  EXPECT_EQ(ElementCount({64}), 64);
  EXPECT_EQ(ElementCount({2, 3, 4}), 24);
  EXPECT_EQ(ElementCount({5, 0, 7}), 0);
  EXPECT_EQ(ElementCount({kMax}), kMax);
}

TEST(ElementCountTest, RefusesNegativeAndOverflowing) {
  EXPECT_FALSE(ElementCount({-1}));
  EXPECT_FALSE(ElementCount({2, -3}));
  EXPECT_FALSE(ElementCount({0, -1}));
  EXPECT_FALSE(ElementCount({-2, -3}));
  EXPECT_FALSE(ElementCount({kMax, 2}));
  EXPECT_FALSE(ElementCount({int64_t{1} << 32, int64_t{1} << 31}));
  EXPECT_FALSE(ElementCount({int64_t{1} << 32, int64_t{1} << 32}));  // wraps to 0
  EXPECT_FALSE(ElementCount({std::numeric_limits<int64_t>::min()}));
}

TEST(TaskTest, HasAName) {
  EXPECT_EQ(ToString(Task::kInfer), "infer");
  EXPECT_EQ(ToString(Task::kTranslation), "translation");
  EXPECT_EQ(ToString(Task::kSynthesis), "synthesis");
}

}  // namespace
}  // namespace millrace::models
