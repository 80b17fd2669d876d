#include "models/kernels/float_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "models/kernels/packed_floats.h"

namespace millrace::kernels {
namespace {

class FloatKernelsTest : public ::testing::TestWithParam<const FloatKernels*> {
 protected:
  const FloatKernels& kernels() const { return *GetParam(); }

  std::vector<float> Random(int64_t count) {
    std::normal_distribution<float> any;
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = any(random_);
    return values;
  }

 private:
  std::mt19937 random_{11};
};

INSTANTIATE_TEST_SUITE_P(All, FloatKernelsTest,
                         ::testing::ValuesIn(SupportedFloatKernels().begin(),
                                             SupportedFloatKernels().end()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST_P(FloatKernelsTest, LayersSideBySideGiveTheirProducts) {
  constexpr int64_t kInputs = 48;
  const std::vector<float> one = Random(20 * kInputs);
  const std::vector<float> two = Random(33 * kInputs);
  const std::vector<float> bias = Random(33);
  const PackedFloats packed(
      {FloatLinear{{one.data(), 20, kInputs}, {}}, FloatLinear{{two.data(), 33, kInputs}, bias}});
  ASSERT_EQ(packed.width(), 64);
  constexpr int64_t kStride = kInputs + 5;
  for (const int64_t rows : {1, 2, 5, 12, 13, 31}) {
    const std::vector<float> a = Random(rows * kStride);
    std::vector<float> out(static_cast<size_t>(rows * packed.width()), NAN);
    packed.Multiply(kernels(), a.data(), kStride, rows, out.data());
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < packed.width(); ++column) {
        double expected = 0;
        if (column >= 20 && column < 53) expected = bias[static_cast<size_t>(column - 20)];
        for (int64_t k = 0; k < kInputs && column < 53; ++k) {
          const auto weight =
              static_cast<size_t>((column < 20 ? column : column - 20) * kInputs + k);
          expected += static_cast<double>(a[static_cast<size_t>(row * kStride + k)]) *
                      static_cast<double>(column < 20 ? one[weight] : two[weight]);
        }
        ASSERT_NEAR(out[static_cast<size_t>(row * packed.width() + column)], expected, 1e-4)
            << rows << " rows: " << row << ", " << column;
      }
    }
  }
  std::vector<float> weights(kInputs);
  packed.CopyOutput(21, weights.data());
  EXPECT_EQ(weights, std::vector<float>(two.begin() + kInputs, two.begin() + 2 * kInputs));
}

TEST_P(FloatKernelsTest, ARowsProductDoesNotDependOnItsCompany) {
  constexpr int64_t kInputs = 96;
  const std::vector<float> matrix = Random(64 * kInputs);
  const PackedFloats packed({FloatLinear{{matrix.data(), 64, kInputs}, {}}});
  const std::vector<float> a = Random(40 * kInputs);
  std::vector<float> alone(64);
  for (int64_t rows = 1; rows <= 40; ++rows) {
    std::vector<float> out(static_cast<size_t>(rows * 64));
    packed.Multiply(kernels(), a.data(), kInputs, rows, out.data());
    for (int64_t row = 0; row < rows; ++row) {
      packed.Multiply(kernels(), a.data() + row * kInputs, kInputs, 1, alone.data());
      ASSERT_TRUE(std::equal(alone.begin(), alone.end(), out.begin() + row * 64))
          << row << " of " << rows;
    }
  }
}

TEST_P(FloatKernelsTest, AttentionIsTheWeightedMeanOfValuesWhereverTheyLie) {
  constexpr int64_t kHeads = 3;
  constexpr int64_t kSize = 32;
  constexpr int64_t kDim = kHeads * kSize;
  for (const int64_t count : {1, 2, 15, 16, 17, 50}) {
    const std::vector<float> query = Random(kDim);
    std::vector<std::vector<float>> tokens;
    std::vector<const float*> pointers;
    for (int64_t j = 0; j < count; ++j) tokens.push_back(Random(7 + 2 * kDim));
    for (const auto& token : tokens) pointers.push_back(token.data());
    std::vector<float> scores(static_cast<size_t>(kHeads * PadScores(count)));
    std::vector<float> out(kDim);
    FloatAttention attention;
    attention.query = query.data();
    attention.tokens = pointers.data();
    attention.key = 3;
    attention.value = 7 + kDim;
    attention.count = count;
    attention.heads = kHeads;
    attention.size = kSize;
    attention.scores = scores.data();
    attention.out = out.data();
    kernels().attend(attention);
    for (size_t i = 0; i < kDim; ++i) {
      const size_t head = i / kSize * kSize;
      double total = 0;
      double expected = 0;
      for (const auto& token : tokens) {
        double score = 0;
        for (size_t d = head; d < head + kSize; ++d) score += query[d] * token[3 + d];
        const double weight = std::exp(score / std::sqrt(static_cast<double>(kSize)));
        total += weight;
        expected += weight * token[7 + kDim + i];
      }
      ASSERT_NEAR(out[i], expected / total, 1e-4) << count << " tokens";
    }
  }
}

TEST_P(FloatKernelsTest, NormsAndActivationsAreWhatTheirNamesSay) {
  constexpr size_t kDim = 96;
  const std::vector<float> x = Random(kDim);
  const std::vector<float> scale = Random(kDim);
  const std::vector<float> bias = Random(kDim);
  std::vector<float> normed(kDim);
  kernels().norm(x.data(), 1, kDim, scale.data(), bias.data(), 1e-5F, normed.data());
  double mean = 0;
  double variance = 0;
  for (const float value : x) mean += value / kDim;
  for (const float value : x) variance += (value - mean) * (value - mean) / kDim;
  std::vector<float> sum = bias;
  kernels().add(x.data(), kDim, sum.data());
  std::vector<float> positive = x;
  kernels().relu(positive.data(), kDim);
  std::vector<float> swished = x;
  kernels().swish(swished.data(), kDim);
  for (size_t i = 0; i < kDim; ++i) {
    EXPECT_NEAR(normed[i], (x[i] - mean) / std::sqrt(variance + 1e-5) * scale[i] + bias[i], 1e-5);
    EXPECT_EQ(sum[i], bias[i] + x[i]);
    EXPECT_EQ(positive[i], std::max(x[i], 0.0F));
    EXPECT_NEAR(swished[i], x[i] / (1 + std::exp(-x[i])), 1e-5F);
  }
}

TEST_P(FloatKernelsTest, LogSumExpHoldsForEachLengthAndMinusInfinity) {
  for (const int64_t count : {1, 3, 16, 17, 61, 1000}) {
    std::vector<float> x = Random(count);
    if (count > 3) x[2] = -INFINITY;
    double total = 0;
    for (const float value : x) total += std::exp(static_cast<double>(value));
    EXPECT_NEAR(kernels().log_sum_exp(x.data(), count), std::log(total), 1e-5) << count;
  }
}

TEST_P(FloatKernelsTest, ArgmaxIsTheFirstOfTheGreatest) {
  for (const int64_t count : {1, 3, 16, 65, 512, 513, 1500}) {
    const std::vector<float> x = Random(count);
    for (const int64_t at : {int64_t{0}, count / 2, count - 1}) {
      std::vector<float> y = x;
      y[static_cast<size_t>(count - 1)] = 100;
      y[static_cast<size_t>(at)] = 100;
      EXPECT_EQ(kernels().argmax(y.data(), count), at) << count;
    }
  }
}

TEST_P(FloatKernelsTest, ArgmaxPassesOverWhatIsNoNumber) {
  std::vector<float> x(700, NAN);
  EXPECT_EQ(kernels().argmax(x.data(), 700), 0);
  x[600] = -INFINITY;
  x[640] = -3;
  EXPECT_EQ(kernels().argmax(x.data(), 700), 640);
  const std::vector<float> none(40, -INFINITY);
  EXPECT_EQ(kernels().argmax(none.data(), 40), 0);
}

}  // namespace
}  // namespace millrace::kernels
