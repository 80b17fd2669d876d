#include "models/probe/same_output.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace millrace::models {
namespace {

using runtime::DeviceType;

Output Tensors(std::vector<float> values, std::vector<int64_t> shape = {2}) {
  Tensor tensor{.name = "Y", .shape = std::move(shape), .data = std::string(values.size() * 4, 0)};
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return InferOutput{.outputs = {tensor}};
}
Output Speech(std::vector<float> samples, size_t sentence = 0) {
  return SynthesizeOutput{
      .sample_rate = 22050, .samples = std::move(samples), .sentence_index = sentence, .text = ""};
}
Output Text(std::string text, size_t index = 0) {
  return TranslateOutput{.text_index = index, .text = std::move(text)};
}

bool Same(Output a, Output b, DeviceType device) { return SameOutputs({a}, {b}, device); }

TEST(SameOutputsTest, ToTheLastBitOnTheCpu) {
  const float next = std::nextafter(0.5F, 1.0F);
  EXPECT_TRUE(Same(Tensors({0.5F, 2}), Tensors({0.5F, 2}), DeviceType::kCpu));
  EXPECT_FALSE(Same(Tensors({0.5F, 2}), Tensors({next, 2}), DeviceType::kCpu));
  EXPECT_TRUE(Same(Speech({0.5F}), Speech({0.5F}), DeviceType::kCpu));
  EXPECT_FALSE(Same(Speech({0.5F}), Speech({next}), DeviceType::kCpu));
}

TEST(SameOutputsTest, WithinRoundingElsewhere) {
  for (const DeviceType device : {DeviceType::kCuda, DeviceType::kMps}) {
    EXPECT_TRUE(Same(Tensors({0.5F, 2}), Tensors({0.50001F, 2}), device));
    EXPECT_FALSE(Same(Tensors({0.5F, 2}), Tensors({0.51F, 2}), device));
    EXPECT_TRUE(Same(Speech({0.5F}), Speech({0.50001F}), device));
    EXPECT_FALSE(Same(Speech({0.5F}), Speech({-0.5F}), device));
    EXPECT_TRUE(Same(Speech({NAN}), Speech({NAN}), device));
    EXPECT_FALSE(Same(Speech({NAN}), Speech({0}), device));
    EXPECT_FALSE(Same(Speech({INFINITY}), Speech({0}), device));
  }
}

// One in the last place of a half, or of a bfloat16, is rounding.
TEST(SameOutputsTest, WithinTheRoundingOfEachType) {
  const auto tensor = [](DataType type, uint16_t bits) -> Output {
    Tensor one{.name = "Y", .type = type, .shape = {1}, .data = std::string(sizeof(bits), 0)};
    std::memcpy(one.data.data(), &bits, sizeof(bits));
    return InferOutput{.outputs = {one}};
  };
  constexpr uint16_t kHalfOne = 0x3c00, kBfloatOne = 0x3f80;
  for (const auto& [type, one] :
       {std::pair{DataType::kFp16, kHalfOne}, {DataType::kBf16, kBfloatOne}}) {
    EXPECT_TRUE(Same(tensor(type, one), tensor(type, one + 1), DeviceType::kCuda));
    EXPECT_FALSE(Same(tensor(type, one), tensor(type, one + 64), DeviceType::kCuda));
    EXPECT_FALSE(Same(tensor(type, one), tensor(type, one + 1), DeviceType::kCpu));
  }
  // Numbers that are no floats are themselves.
  EXPECT_FALSE(Same(tensor(DataType::kInt16, 7), tensor(DataType::kInt16, 8), DeviceType::kCuda));
}

TEST(SameOutputsTest, TextAndShapesEverywhere) {
  for (const DeviceType device : {DeviceType::kCpu, DeviceType::kMps}) {
    EXPECT_TRUE(Same(Text("olá"), Text("olá"), device));
    EXPECT_FALSE(Same(Text("olá"), Text("ola"), device));
    EXPECT_FALSE(Same(Text("olá"), Text("olá", 1), device));
    EXPECT_FALSE(Same(Tensors({1, 2}), Tensors({1, 2}, {1, 2}), device));
    EXPECT_FALSE(Same(Tensors({1, 2}), Tensors({1, 2, 3}), device));
    EXPECT_FALSE(Same(Speech({1, 2}), Speech({1}), device));
    EXPECT_FALSE(Same(Speech({1}), Speech({1}, 1), device));
    EXPECT_FALSE(Same(Speech({1}), Text("x"), device));
    EXPECT_FALSE(SameOutputs({Text("a"), Text("b")}, {Text("a")}, device));
    EXPECT_FALSE(SameOutputs({Text("a")}, {}, device));
  }
}

}  // namespace
}  // namespace millrace::models
