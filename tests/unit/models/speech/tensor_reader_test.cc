#include "models/speech/tensor_reader.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/temporary_folder.h"
#include "tests/fakes/write_safetensors.h"

namespace millrace::speech {
namespace {

// A file with the codes 0 to 5 as the tensor "w" of two rows and three columns.
class CodedTensorTest : public ::testing::Test {
 protected:
  TensorReader Open(const std::vector<float>& scales, const std::string& zero_points) {
    const auto rows = std::to_string(scales.size());
    const size_t floats = scales.size() * sizeof(float);
    const size_t end = floats + zero_points.size();
    std::string header =
        R"({"w.scale":{"dtype":"F32","shape":[)" + rows + R"(],"data_offsets":[0,)" +
        std::to_string(floats) + R"(]},"w.zero_point":{"dtype":"U8","shape":[)" +
        std::to_string(zero_points.size()) + R"(],"data_offsets":[)" + std::to_string(floats) +
        "," + std::to_string(end) + R"(]},"w":{"dtype":"U8","shape":[2,3],"data_offsets":[)" +
        std::to_string(end) + "," + std::to_string(end + 6) + "]}}";
    if (!missing_.empty()) header.replace(header.find("\"w." + missing_ + "\""), 3, "\"x.");
    std::string data(floats, '\0');
    std::ranges::copy(std::as_bytes(std::span(scales)), reinterpret_cast<std::byte*>(data.data()));
    testing::WriteSafetensors(folder_.path() / "x.safetensors", header,
                              data + zero_points + std::string("\0\1\2\3\4\5", 6));
    auto file = models::SafetensorsFile::Open(folder_.path() / "x.safetensors");
    EXPECT_TRUE(file.ok()) << file.status();
    return {*std::move(file), at::kCPU};
  }

  void ExpectRefused(TensorReader reader, const std::string& message) {
    EXPECT_FALSE(reader.Take("w", {2, 3}).defined()) << message;
    EXPECT_NE(reader.status().message().find(message), std::string::npos) << reader.status();
  }

  std::string missing_;  // "scale" or "zero_point": what the file has under another name
  const testing::TemporaryFolder folder_;
};

TEST_F(CodedTensorTest, CodesAreScaledAsAWholeOrByRow) {
  TensorReader whole = Open({0.1F}, "\2");
  EXPECT_TRUE(
      whole.Take("w", {2, -1})
          .equal(
              at::tensor({-2 * 0.1F, -1 * 0.1F, 0.0F, 1 * 0.1F, 2 * 0.1F, 3 * 0.1F}).view({2, 3})));
  TensorReader rows = Open({0.1F, 3.0F}, std::string("\0\5", 2));
  EXPECT_TRUE(rows.Take("w", {2, 3})
                  .equal(at::tensor({0.0F, 0.1F, 2 * 0.1F, -6.0F, -3.0F, 0.0F}).view({2, 3})));
  const StoredTensor stored = Open({0.1F, 3.0F}, std::string("\0\5", 2)).TakeStored("w", {2, 3});
  EXPECT_TRUE(stored.Floats().equal(rows.Take("w", {2, 3})));
  EXPECT_TRUE(rows.status().ok()) << rows.status();
}

TEST_F(CodedTensorTest, ScalesThatDoNotFitAreRefusedByName) {
  const std::string zeros(3, '\0');
  ExpectRefused(Open({1, 2, 3}, zeros), "w [2, 3] has scales FP32 [3] and zero points UINT8 [3]");
  ExpectRefused(Open({}, ""), "w [2, 3] has scales FP32 [0]");
  ExpectRefused(Open({1, 2}, zeros), "zero points UINT8 [3]");
  ExpectRefused(Open({1, std::numeric_limits<float>::infinity()}, zeros.substr(1)),
                "w.scale has a value that is not finite");
  for (const char* name : {"scale", "zero_point"}) {
    missing_ = name;
    ExpectRefused(Open({1}, zeros.substr(2)), "no tensor named 'w." + missing_ + "'");
  }
}

TEST_F(CodedTensorTest, AWrongShapeIsToldAsOfAnyTensor) {
  TensorReader reader = Open({1}, std::string(1, '\0'));
  EXPECT_FALSE(reader.Take("w", {3, 2}).defined());
  EXPECT_NE(reader.status().message().find("w is UINT8 [2, 3], expected FP32 [3, 2]"),
            std::string::npos)
      << reader.status();
}

}  // namespace
}  // namespace millrace::speech
