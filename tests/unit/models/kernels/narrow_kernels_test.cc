#include "models/kernels/narrow_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "models/kernels/packed_narrow.h"

namespace millrace::kernels {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> RandomFloats(int64_t count) {
  static std::mt19937 random(17);
  std::normal_distribution<float> any;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = any(random);
  return values;
}

// One product: rows of any stride times a matrix with a bias.
struct NarrowProblem {
  NarrowProblem(int64_t rows, int64_t inputs, int64_t outputs)
      : rows(rows),
        inputs(inputs),
        outputs(outputs),
        a(RandomFloats(rows * (inputs + kGap))),
        weights(RandomFloats(inputs * outputs)),
        bias(RandomFloats(outputs)) {}

  PackedNarrow Pack(Precision precision, bool clip_pairs = false) const {
    const FloatLinear linear{{weights.data(), outputs, inputs}, bias};
    return PackedNarrow(std::span(&linear, 1), precision, clip_pairs);
  }
  std::vector<float> Multiply(const PackedNarrow& packed, const NarrowKernels& kernels) const {
    Scratch scratch;
    std::vector<float> out(static_cast<size_t>(rows * packed.width()), kNaN);
    packed.Multiply(kernels, a.data(), inputs + kGap, rows, scratch, out.data());
    return out;
  }
  float* Row(int64_t row) { return a.data() + row * (inputs + kGap); }

  static constexpr int64_t kGap = 5;
  const int64_t rows, inputs, outputs;
  std::vector<float> a;
  std::vector<float> weights;
  std::vector<float> bias;
};

bool SameBits(const std::vector<float>& x, const std::vector<float>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

// The meaning of int8 in plain words: nearest integers of a scale that makes the greatest 127.
struct Quantised {
  explicit Quantised(const float* x, int64_t count) {
    float top = 0;
    for (int64_t i = 0; i < count; ++i) top = std::max(top, std::abs(x[i]));
    scale = top / 127.0F;
    const float inverse = top > 0 ? 127.0F / top : 0;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<int>(std::nearbyint(x[i] * inverse)));
  }
  float scale = 0;
  std::vector<int> values;
};

// In the order of operations that makes the bits.
std::vector<float> PlainInt8(NarrowProblem& problem, int64_t width) {
  std::vector<float> out(static_cast<size_t>(problem.rows * width), 0.0F);
  for (int64_t row = 0; row < problem.rows; ++row) {
    const Quantised x(problem.Row(row), problem.inputs);
    for (int64_t n = 0; n < problem.outputs; ++n) {
      const Quantised w(problem.weights.data() + n * problem.inputs, problem.inputs);
      int32_t sum = 0;
      for (size_t k = 0; k < x.values.size(); ++k) sum += x.values[k] * w.values[k];
      const volatile float scale = x.scale * w.scale;
      const volatile float scaled = static_cast<float>(sum) * scale;
      out[static_cast<size_t>(row * width + n)] = scaled + problem.bias[static_cast<size_t>(n)];
    }
  }
  return out;
}

class Int8KernelsTest : public ::testing::TestWithParam<const NarrowKernels*> {};
class BfloatKernelsTest : public ::testing::TestWithParam<const NarrowKernels*> {};

constexpr auto kNameOf = [](const auto& info) { return std::string(info.param->name); };
INSTANTIATE_TEST_SUITE_P(All, Int8KernelsTest,
                         ::testing::ValuesIn(SupportedInt8Kernels().begin(),
                                             SupportedInt8Kernels().end()),
                         kNameOf);
INSTANTIATE_TEST_SUITE_P(All, BfloatKernelsTest,
                         ::testing::ValuesIn(SupportedBfloatKernels().begin(),
                                             SupportedBfloatKernels().end()),
                         kNameOf);

TEST_P(Int8KernelsTest, GivesTheBitsOfThePlainProductForEveryShape) {
  for (const int64_t inputs : {16, 48, 64, 80, 192}) {
    for (const int64_t outputs : {1, 31, 32, 70}) {
      for (const int64_t rows : {1, 2, 5, 12, 13, 16, 17, 31, 32, 33, 49, 70}) {
        NarrowProblem problem(rows, inputs, outputs);
        const PackedNarrow packed = problem.Pack(Precision::kInt8, GetParam()->clips_pairs);
        ASSERT_TRUE(
            SameBits(problem.Multiply(packed, *GetParam()), PlainInt8(problem, packed.width())))
            << rows << " x " << inputs << " x " << outputs;
      }
    }
  }
}

TEST_P(Int8KernelsTest, TheGreatestMagnitudesDoNotSaturate) {
  NarrowProblem problem(18, 2048, 32);
  for (const float sign : {1.0F, -1.0F}) {
    std::ranges::fill(problem.a, 3.0F);
    std::ranges::fill(problem.weights, sign * 0.5F);
    const PackedNarrow packed = problem.Pack(Precision::kInt8, GetParam()->clips_pairs);
    const auto out = problem.Multiply(packed, *GetParam());
    EXPECT_TRUE(SameBits(out, PlainInt8(problem, packed.width())));
    EXPECT_NEAR(out[0], problem.bias[0] + sign * 2048 * 1.5F, 0.1F);
  }
  // Signs in turn, which pairs of products meet with both.
  for (size_t i = 0; i < problem.a.size(); ++i) problem.a[i] = i % 2 == 0 ? 3.0F : -3.0F;
  const PackedNarrow packed = problem.Pack(Precision::kInt8, GetParam()->clips_pairs);
  EXPECT_TRUE(SameBits(problem.Multiply(packed, *GetParam()), PlainInt8(problem, packed.width())));
}

TEST_P(Int8KernelsTest, RowsAndWeightsOfNothingGiveTheBias) {
  NarrowProblem problem(3, 64, 32);
  std::fill_n(problem.Row(1), 64, 0.0F);
  std::fill_n(problem.Row(2), 64, 1e-38F);
  std::fill_n(problem.weights.begin() + 7 * 64, 64, 0.0F);
  const auto out =
      problem.Multiply(problem.Pack(Precision::kInt8, GetParam()->clips_pairs), *GetParam());
  for (size_t n = 0; n < 32; ++n) {
    EXPECT_EQ(out[32 + n], problem.bias[n]);
    EXPECT_EQ(out[64 + n], problem.bias[n]);
  }
  EXPECT_EQ(out[7], problem.bias[7]);
}

TEST_P(Int8KernelsTest, WhatIsNoFiniteNumberGivesNoneAndLeavesTheOtherRowsAlone) {
  for (const float value : {kNaN, -kNaN, kInfinity, -kInfinity}) {
    NarrowProblem problem(20, 64, 40);
    const PackedNarrow packed = problem.Pack(Precision::kInt8, GetParam()->clips_pairs);
    const auto good = problem.Multiply(packed, *GetParam());
    problem.Row(17)[63] = value;
    auto out = problem.Multiply(packed, *GetParam());
    const auto bad = out.begin() + 17 * 64;
    EXPECT_TRUE(std::all_of(bad, bad + 64, [](float x) { return std::isnan(x); }));
    std::copy_n(good.begin() + 17 * 64, 64, bad);
    EXPECT_TRUE(SameBits(out, good));
    problem.weights[5 * 64 + 3] = value;
    out = problem.Multiply(problem.Pack(Precision::kInt8, GetParam()->clips_pairs), *GetParam());
    EXPECT_TRUE(std::isnan(out[5]));
    EXPECT_EQ(out[4], good[4]);
  }
}

TEST_P(Int8KernelsTest, IsAsCloseToFloatsAsHalfAStepOfEachFactor) {
  NarrowProblem problem(9, 512, 33);
  const PackedNarrow packed = problem.Pack(Precision::kInt8, GetParam()->clips_pairs);
  const auto out = problem.Multiply(packed, *GetParam());
  for (int64_t row = 0; row < problem.rows; ++row) {
    const float* x = problem.Row(row);
    const float x_step = Quantised(x, problem.inputs).scale;
    for (int64_t n = 0; n < problem.outputs; ++n) {
      const float* w = problem.weights.data() + n * problem.inputs;
      const float w_step = Quantised(w, problem.inputs).scale;
      double exact = problem.bias[static_cast<size_t>(n)];
      double bound = 1e-3;
      for (int64_t k = 0; k < problem.inputs; ++k) {
        exact += static_cast<double>(x[k]) * w[k];
        bound +=
            0.5 * x_step * std::abs(w[k]) + 0.5 * w_step * std::abs(x[k]) + 0.25 * x_step * w_step;
      }
      EXPECT_NEAR(out[static_cast<size_t>(row * packed.width() + n)], exact, bound);
    }
  }
}

TEST_P(Int8KernelsTest, OneOutputsWeightsComeBackWithinHalfAStep) {
  const NarrowProblem problem(1, 80, 40);
  const PackedNarrow packed = problem.Pack(Precision::kInt8, GetParam()->clips_pairs);
  std::vector<float> out(80);
  packed.CopyOutput(37, out.data());
  const float* weights = problem.weights.data() + 37 * 80;
  const float step = Quantised(weights, 80).scale;
  for (size_t k = 0; k < 80; ++k) EXPECT_NEAR(out[k], weights[k], 0.501F * step);
}

// A convolution over rows of channels, some of which are added to its results.
struct Int8Convolution {
  Int8Convolution(int64_t rows, Taps taps, int64_t inputs, int64_t outputs)
      : rows(rows),
        taps(taps),
        inputs(inputs),
        outputs(outputs),
        input(RandomFloats((rows + taps.Reach()) * (inputs + kGap))),
        weights(RandomFloats(outputs * taps.count * inputs)),
        bias(RandomFloats(outputs)),
        added(RandomFloats(rows * width())) {
    // Rows are so different in loudness that their scales are.
    for (size_t i = 0; i < input.size(); ++i)
      input[i] *= 1.0F + static_cast<float>(static_cast<int64_t>(i) / (inputs + kGap) % 97);
  }

  int64_t width() const { return (outputs + kNarrowPanel - 1) / kNarrowPanel * kNarrowPanel; }
  PackedNarrow Pack(const NarrowKernels& kernels) const {
    const FloatLinear linear{{weights.data(), outputs, taps.count * inputs}, bias};
    return PackedNarrow(std::span(&linear, 1), Precision::kInt8, kernels.clips_pairs, taps);
  }
  // Computes the results begin .. end - 1.
  std::vector<float> Convolve(const NarrowKernels& kernels, int64_t begin, int64_t end) const {
    Scratch scratch;
    std::vector<float> out(static_cast<size_t>((end - begin) * width()), kNaN);
    Pack(kernels).Convolve(kernels,
                           {.input = Row(begin),
                            .rows = end - begin,
                            .input_pitch = inputs + kGap,
                            .output_pitch = width(),
                            .residual = added.data() + begin * width(),
                            .raw = out.data()},
                           scratch);
    return out;
  }
  std::vector<float> Convolve(const NarrowKernels& kernels) const {
    return Convolve(kernels, 0, rows);
  }
  // In the order of operations that makes the bits.
  std::vector<float> Plain() const {
    std::vector<float> out(static_cast<size_t>(rows * width()), 0.0F);
    for (int64_t begin = 0; begin < rows; begin += PackedNarrow::kRowsOfScale) {
      const int64_t end = std::min(begin + PackedNarrow::kRowsOfScale, rows);
      std::vector<float> read;
      for (int64_t row = begin; row < end + taps.Reach(); ++row)
        read.insert(read.end(), Row(row), Row(row) + inputs);
      const Quantised together(read.data(), static_cast<int64_t>(read.size()));
      for (int64_t n = 0; n < width(); ++n) {
        const int64_t count = n < outputs ? taps.count * inputs : 0;
        const Quantised w(weights.data() + n * taps.count * inputs, count);
        for (int64_t row = begin; row < end; ++row) {
          // With one tap each row has a scale of its own.
          const bool alone = taps.count == 1;
          const Quantised x = alone ? Quantised(Row(row), inputs) : together;
          int32_t sum = 0;
          for (int64_t k = 0; k < count; ++k) {
            const int64_t from = alone ? 0 : row - begin + k / inputs * taps.dilation;
            sum += x.values[static_cast<size_t>(from * inputs + k % inputs)] *
                   w.values[static_cast<size_t>(k)];
          }
          const auto at = static_cast<size_t>(row * width() + n);
          const volatile float scale = x.scale * w.scale;
          const volatile float scaled = static_cast<float>(sum) * scale;
          const volatile float value = scaled + (n < outputs ? bias[static_cast<size_t>(n)] : 0);
          out[at] = value + added[at];
        }
      }
    }
    return out;
  }
  const float* Row(int64_t row) const { return input.data() + row * (inputs + kGap); }

  static constexpr int64_t kGap = 3;
  const int64_t rows;
  const Taps taps;
  const int64_t inputs, outputs;
  std::vector<float> input, weights, bias, added;
};

TEST_P(Int8KernelsTest, GivesTheBitsOfThePlainConvolutionForEveryShape) {
  for (const Taps taps : {Taps{1, 1}, Taps{2, 7}, Taps{3, 1}, Taps{11, 5}}) {
    for (const int64_t inputs : {16, 32, 80}) {
      for (const int64_t outputs : {31, 64}) {
        for (const int64_t rows : {1, 17, 65, 130}) {
          const Int8Convolution problem(rows, taps, inputs, outputs);
          ASSERT_TRUE(SameBits(problem.Convolve(*GetParam()), problem.Plain()))
              << rows << " x " << inputs << " x " << outputs << ", " << taps.count << " taps "
              << taps.dilation << " apart";
        }
      }
    }
  }
}

TEST_P(Int8KernelsTest, AConvolutionMayBeCutWhereAScaleEnds) {
  constexpr int64_t kStep = PackedNarrow::kRowsOfScale;
  const Int8Convolution problem(4 * kStep + 9, {5, 6}, 64, 64);
  std::vector<float> cut;
  for (const auto& [begin, end] : {std::pair{int64_t{0}, kStep}, std::pair{kStep, 3 * kStep},
                                   std::pair{3 * kStep, problem.rows}}) {
    const std::vector<float> part = problem.Convolve(*GetParam(), begin, end);
    cut.insert(cut.end(), part.begin(), part.end());
  }
  EXPECT_TRUE(SameBits(cut, problem.Convolve(*GetParam())));
}

TEST_P(Int8KernelsTest, AConvolutionsGreatestSumsDoNotSaturate) {
  for (const float sign : {1.0F, -1.0F}) {
    Int8Convolution problem(70, {11, 5}, 256, 32);
    std::ranges::fill(problem.input, 3.0F);
    std::ranges::fill(problem.weights, sign * 0.5F);
    EXPECT_TRUE(SameBits(problem.Convolve(*GetParam()), problem.Plain()));
  }
}

TEST_P(Int8KernelsTest, WhatIsNoFiniteNumberSpoilsTheRowsOfItsScaleAlone) {
  Int8Convolution problem(3 * PackedNarrow::kRowsOfScale, {3, 2}, 32, 32);
  const auto good = problem.Convolve(*GetParam());
  // The last row that only the results of the second scale read.
  const auto row = static_cast<size_t>(2 * PackedNarrow::kRowsOfScale - 1);
  problem.input[row * static_cast<size_t>(32 + Int8Convolution::kGap)] = kInfinity;
  const auto out = problem.Convolve(*GetParam());
  const auto third = static_cast<ptrdiff_t>(good.size() / 3);
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + third, good.begin()));
  EXPECT_TRUE(std::all_of(out.begin() + third, out.begin() + 2 * third,
                          [](float x) { return std::isnan(x); }));
  EXPECT_TRUE(std::equal(out.begin() + 2 * third, out.end(), good.begin() + 2 * third));
}

// Nearest bfloat16, of two as near the even one.
float Round(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000);
}

TEST_P(BfloatKernelsTest, GivesTheProductOfTheRoundedNumbersForEveryShape) {
  for (const int64_t inputs : {16, 48, 64, 192}) {
    for (const int64_t outputs : {1, 31, 32, 70}) {
      for (const int64_t rows : {1, 2, 5, 12, 13, 16, 17, 31, 32, 33, 49, 70}) {
        NarrowProblem problem(rows, inputs, outputs);
        const PackedNarrow packed = problem.Pack(Precision::kBfloat16);
        const auto out = problem.Multiply(packed, *GetParam());
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t n = 0; n < packed.width(); ++n) {
            double expected = n < outputs ? problem.bias[static_cast<size_t>(n)] : 0;
            for (int64_t k = 0; k < inputs && n < outputs; ++k) {
              expected += static_cast<double>(Round(problem.Row(row)[k])) *
                          Round(problem.weights[static_cast<size_t>(n * inputs + k)]);
            }
            ASSERT_NEAR(out[static_cast<size_t>(row * packed.width() + n)], expected, 1e-4)
                << rows << " x " << inputs << " x " << outputs << ": " << row << ", " << n;
          }
        }
      }
    }
  }
}

TEST_P(BfloatKernelsTest, ARowsProductDoesNotDependOnItsCompany) {
  NarrowProblem problem(70, 96, 64);
  const PackedNarrow packed = problem.Pack(Precision::kBfloat16);
  const auto together = problem.Multiply(packed, *GetParam());
  Scratch scratch;
  for (int64_t row = 0; row < problem.rows; ++row) {
    std::vector<float> alone(64);
    packed.Multiply(*GetParam(), problem.Row(row), 0, 1, scratch, alone.data());
    ASSERT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + row * 64)) << row;
  }
}

TEST_P(BfloatKernelsTest, WhatIsNoFiniteNumberGivesNone) {
  // The second has so many bits that rounding could carry into the sign.
  for (const float value : {kNaN, std::bit_cast<float>(0x7FFFFFFF), kInfinity, -kInfinity}) {
    NarrowProblem problem(3, 64, 32);
    problem.Row(1)[5] = value;
    const auto out = problem.Multiply(problem.Pack(Precision::kBfloat16), *GetParam());
    for (size_t n = 0; n < 32; ++n) {
      EXPECT_TRUE(std::isfinite(out[n]));
      EXPECT_FALSE(std::isfinite(out[32 + n]));
      EXPECT_TRUE(std::isfinite(out[64 + n]));
    }
  }
}

TEST_P(BfloatKernelsTest, OneOutputsWeightsComeBackRounded) {
  const NarrowProblem problem(1, 48, 40);
  std::vector<float> out(48);
  problem.Pack(Precision::kBfloat16).CopyOutput(37, out.data());
  for (size_t k = 0; k < 48; ++k) EXPECT_EQ(out[k], Round(problem.weights[37 * 48 + k]));
}

}  // namespace
}  // namespace millrace::kernels
