#include "models/kernels/integer_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "models/bergamot/int8_layers.h"
#include "models/bergamot/packed_matrix.h"
#include "tests/fakes/threads_loop_runner.h"

namespace millrace::bergamot {
namespace {

std::vector<float> RandomFloats(size_t count, float deviation, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> any(0, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = any(random);
  return values;
}

std::vector<int8_t> RandomBytes(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> any(-127, 127);
  std::vector<int8_t> values(count);
  for (int8_t& value : values) value = static_cast<int8_t>(any(random));
  return values;
}

// The integers that an activation is rounded to, and their scale.
struct Rounded {
  std::vector<int64_t> integers;
  double scale = 0;
};

Rounded Round(const float* x, int64_t count) {
  float top = 0;
  for (int64_t i = 0; i < count; ++i) top = std::max(top, std::abs(x[i]));
  Rounded rounded;
  rounded.scale = static_cast<double>(top / 32767.0F);
  const float inverse = top > 0 ? 32767.0F / top : 0.0F;
  for (int64_t i = 0; i < count; ++i) rounded.integers.push_back(std::lrint(x[i] * inverse));
  return rounded;
}

class KernelsTest : public ::testing::TestWithParam<const kernels::IntegerKernels*> {
 protected:
  const kernels::IntegerKernels& kernels() const { return *GetParam(); }

  std::vector<float> Multiply(const std::vector<float>& x, int64_t rows, const PackedMatrix& matrix,
                              bool relu) const {
    const int64_t inputs = matrix.view().inputs;
    kernels::AlignedBuffer<uint8_t> values(static_cast<size_t>(2 * rows * inputs));
    kernels::AlignedBuffer<float> scales(static_cast<size_t>(rows));
    const kernels::Activations activations = {values.data(), scales.data(), inputs};
    kernels().quantise(x.data(), rows, activations);
    std::vector<float> out(static_cast<size_t>(rows * matrix.outputs()));
    kernels().multiply(activations, rows, matrix.view(), relu, out.data());
    return out;
  }
};

INSTANTIATE_TEST_SUITE_P(Supported, KernelsTest,
                         ::testing::ValuesIn(kernels::SupportedIntegerKernels().begin(),
                                             kernels::SupportedIntegerKernels().end()),
                         [](const auto& info) { return std::string(info.param->name); });

// A matrix of random or of extreme values with a bias.
struct TestMatrix {
  TestMatrix(int64_t outputs, int64_t inputs, std::vector<int8_t> given)
      : values(std::move(given)), bias(RandomFloats(static_cast<size_t>(outputs), 1.0F, 5)) {
    weights.matrix = {values.data(), outputs, inputs, 37.0F};
    weights.bias = bias;
  }

  double Exact(const Rounded& x, int64_t output) const {
    int64_t sum = 0;
    const int64_t inputs = weights.matrix.inputs;
    for (int64_t k = 0; k < inputs; ++k) {
      sum += x.integers[static_cast<size_t>(k)] * values[static_cast<size_t>(output * inputs + k)];
    }
    return static_cast<double>(sum) * x.scale / 37.0 + bias[static_cast<size_t>(output)];
  }

  std::vector<int8_t> values;
  std::vector<float> bias;
  LinearWeights weights;
};

TEST_P(KernelsTest, MultipliesExactlyUpToTheLastRounding) {
  for (const int64_t inputs : {64, 256, 1536}) {
    constexpr int64_t kOutputs = 192;  // the last block of panels is half of one
    const TestMatrix matrix(kOutputs, inputs,
                            RandomBytes(static_cast<size_t>(kOutputs * inputs), 1));
    const PackedMatrix packed({&matrix.weights});
    // Every split of rows into tiles.
    for (int64_t rows = 1; rows <= 14; ++rows) {
      const auto x = RandomFloats(static_cast<size_t>(rows * inputs), 3.0F, 2);
      const auto out = Multiply(x, rows, packed, /*relu=*/false);
      for (int64_t row = 0; row < rows; ++row) {
        const Rounded rounded = Round(x.data() + row * inputs, inputs);
        for (int64_t n = 0; n < kOutputs; ++n) {
          const double exact = matrix.Exact(rounded, n);
          ASSERT_NEAR(out[static_cast<size_t>(row * kOutputs + n)], exact,
                      1e-5 * (1 + std::abs(exact)))
              << inputs << " inputs, row " << row << " of " << rows << ", column " << n;
        }
      }
    }
  }
}

// Sums in 16 bits are added up as floats in parts that 32 bits hold; sets that multiply bytes have
// one sum for the high bytes of the activations and one for the low ones.
bool MultipliesBytes(const kernels::IntegerKernels& kernels) {
  return kernels.target != kernels::Target::kPortable && kernels.target != kernels::Target::kAvx2 &&
         kernels.target != kernels::Target::kNeon;
}

// All sets that sum in one of these two ways give the same bits, of whatever architecture they are.
TEST_P(KernelsTest, GivesTheBitsOfThePlainSums) {
  constexpr int64_t kInputs = 1536;
  constexpr int64_t kOutputs = 128;
  constexpr int64_t kRows = 17;  // AVX2 has a loop of its own from 12 rows on
  const TestMatrix matrix(kOutputs, kInputs, RandomBytes(kOutputs * kInputs, 1));
  const PackedMatrix packed({&matrix.weights});
  const auto x = RandomFloats(kRows * kInputs, 3.0F, 2);
  const auto out = Multiply(x, kRows, packed, /*relu=*/false);
  for (int64_t row = 0; row < kRows; ++row) {
    const Rounded rounded = Round(x.data() + row * kInputs, kInputs);
    for (int64_t n = 0; n < kOutputs; ++n) {
      int64_t high = 0;
      int64_t low = 0;
      int64_t part = 0;
      float total = 0;
      for (int64_t k = 0; k < kInputs; ++k) {
        const int64_t integer = rounded.integers[static_cast<size_t>(k)];
        const int64_t weight = matrix.values[static_cast<size_t>(n * kInputs + k)];
        high += (integer >> 8) * weight;
        low += (integer & 0xFF) * weight;
        part += integer * weight;
        if ((k + 1) % kernels::kMaxExactSum != 0) continue;
        total += static_cast<float>(part);
        part = 0;
      }
      if (MultipliesBytes(kernels()))
        total = std::fma(static_cast<float>(high), 256.0F, static_cast<float>(low));
      const float scale = packed.view().scales[n] * static_cast<float>(rounded.scale);
      const float bias = matrix.bias[static_cast<size_t>(n)];
      const volatile float product = total * scale;
      const float expected = kernels().target == kernels::Target::kPortable
                                 ? product + bias
                                 : std::fma(total, scale, bias);
      ASSERT_EQ(out[static_cast<size_t>(row * kOutputs + n)], expected)
          << "row " << row << ", column " << n;
    }
  }
}

// The blocks of a matrix, which idle workers compute, are columns of their own.
TEST_P(KernelsTest, BlocksThatOthersComputeGiveTheSameBits) {
  constexpr int64_t kInputs = 256;
  constexpr int64_t kOutputs = 1600;
  constexpr int64_t kRows = 33;
  const TestMatrix matrix(kOutputs, kInputs, RandomBytes(kOutputs * kInputs, 1));
  const PackedMatrix packed({&matrix.weights});
  const auto x = RandomFloats(kRows * kInputs, 3.0F, 2);
  const auto alone = Multiply(x, kRows, packed, /*relu=*/false);
  testing::ThreadsLoopRunner runner(8);
  const kernels::ScopedLoopRunner scope(&runner);
  QuantisedRows quantised(kRows, kInputs);
  std::vector<float> together(alone.size());
  bergamot::Multiply(kernels(), packed, x.data(), kRows, quantised, together.data());
  EXPECT_EQ(runner.loops(), 1);
  EXPECT_EQ(std::memcmp(together.data(), alone.data(), alone.size() * sizeof(float)), 0);
}

TEST_P(KernelsTest, LargestValuesDoNotOverflow) {
  for (const int8_t weight : {int8_t{127}, int8_t{-127}, int8_t{-128}}) {
    for (const float activation : {1.0F, -1.0F}) {
      constexpr int64_t kInputs = 1536;
      const TestMatrix matrix(128, kInputs, std::vector<int8_t>(128 * kInputs, weight));
      const std::vector<float> x(kInputs, activation);
      const auto out = Multiply(x, 1, PackedMatrix({&matrix.weights}), /*relu=*/false);
      const double exact = matrix.Exact(Round(x.data(), kInputs), 3);
      EXPECT_NEAR(out[3], exact, 1e-5 * std::abs(exact)) << int{weight} << " * " << activation;
    }
  }
}

TEST_P(KernelsTest, ARowIsTheSameInAnyCompany) {
  constexpr int64_t kInputs = 256;
  constexpr int64_t kOutputs = 128;
  constexpr int64_t kMostRows = 129;
  const TestMatrix matrix(kOutputs, kInputs, RandomBytes(kOutputs * kInputs, 3));
  const PackedMatrix packed({&matrix.weights});
  const auto x = RandomFloats(kMostRows * kInputs, 1.0F, 4);
  std::vector<float> alone;
  for (int64_t row = 0; row < kMostRows; ++row) {
    const std::vector<float> one(x.begin() + row * kInputs, x.begin() + (row + 1) * kInputs);
    const auto out = Multiply(one, 1, packed, /*relu=*/false);
    alone.insert(alone.end(), out.begin(), out.end());
  }
  // Tiles of any height, alone, overlapping and in several groups.
  for (const int64_t rows : {15, 16, 17, 33, 34, 49, 50, 63, 64, 65, 81, 128, 129}) {
    const auto together = Multiply(x, rows, packed, /*relu=*/false);
    ASSERT_TRUE(std::equal(together.begin(), together.end(), alone.begin())) << rows << " rows";
  }
}

TEST_P(KernelsTest, ReluCutsNegativesOff) {
  const TestMatrix matrix(128, 64, RandomBytes(128 * 64, 6));
  const PackedMatrix packed({&matrix.weights});
  const auto x = RandomFloats(64, 1.0F, 7);
  const auto plain = Multiply(x, 1, packed, /*relu=*/false);
  const auto cut = Multiply(x, 1, packed, /*relu=*/true);
  ASSERT_LT(*std::min_element(plain.begin(), plain.end()), 0);
  for (size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(cut[i], std::max(plain[i], 0.0F));
}

TEST_P(KernelsTest, ARowOfZerosGivesTheBias) {
  const TestMatrix matrix(128, 64, RandomBytes(128 * 64, 6));
  const auto out = Multiply(std::vector<float>(64), 1, PackedMatrix({&matrix.weights}), false);
  EXPECT_EQ(out, matrix.bias);
}

TEST_P(KernelsTest, MatricesSideBySideGiveWhatEachGives) {
  const TestMatrix a(128, 64, RandomBytes(128 * 64, 8));
  const TestMatrix b(128, 64, RandomBytes(128 * 64, 9));
  const auto x = RandomFloats(64, 1.0F, 10);
  auto expected = Multiply(x, 1, PackedMatrix({&a.weights}), false);
  const auto second = Multiply(x, 1, PackedMatrix({&b.weights}), false);
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(Multiply(x, 1, PackedMatrix({&a.weights, &b.weights}), false), expected);
}

TEST_P(KernelsTest, LogitsAreProductsWithTheChosenRows) {
  for (const int64_t inputs : {64, 256, 512}) {
    constexpr int64_t kTokens = 100;
    const auto matrix = RandomBytes(static_cast<size_t>(kTokens * inputs), 11);
    const std::vector<int32_t> rows = {99, 0, 5, 7, 31, 64, 65, 2, 3, 4, 98, 97, 50, 51, 52, 1,
                                       5,  5, 5, 5, 5,  5,  5,  5, 5, 5, 5,  5,  5,  5,  5,  42};
    std::vector<int32_t> corrections;
    for (const int32_t row : rows) {
      corrections.push_back(Correction(matrix.data() + row * inputs, inputs));
    }
    const auto bias = RandomFloats(rows.size(), 1.0F, 12);
    const auto x = RandomFloats(static_cast<size_t>(inputs), 2.0F, 13);
    kernels::AlignedBuffer<uint8_t> values(static_cast<size_t>(2 * inputs));
    float scale = 0;
    kernels().quantise(x.data(), 1, {values.data(), &scale, inputs});
    std::vector<float> out(rows.size());
    kernels().logits({values.data(), scale / 11.0F, matrix.data(), inputs, rows.data(),
                      corrections.data(), bias.data(), static_cast<int64_t>(rows.size()),
                      out.data()});
    const Rounded rounded = Round(x.data(), inputs);
    for (size_t i = 0; i < rows.size(); ++i) {
      int64_t sum = 0;
      for (int64_t k = 0; k < inputs; ++k) {
        sum += rounded.integers[static_cast<size_t>(k)] *
               matrix[static_cast<size_t>(rows[i] * inputs + k)];
      }
      const double exact = static_cast<double>(sum) * rounded.scale / 11.0 + bias[i];
      ASSERT_NEAR(out[i], exact, 1e-5 * (1 + std::abs(exact))) << inputs << " inputs, row " << i;
    }
  }
}

// kSize: of a head; not every one is whole vectors.
template <int64_t kSize>
void ExpectAttention(const kernels::IntegerKernels& kernels) {
  constexpr int64_t kHeads = 8;
  constexpr int64_t kDim = kHeads * kSize;
  constexpr int64_t kQueries = 7;
  for (const int64_t length : {1, 15, 16, 17, 100}) {
    const int64_t padded = kernels::PadLength(length);
    const auto queries = RandomFloats(kQueries * kDim, 2.0F, 14);
    const auto rows = RandomFloats(static_cast<size_t>(length * kDim), 2.0F, 15);
    const auto values = RandomFloats(static_cast<size_t>(length * kDim), 1.0F, 16);
    std::vector<float> keys(static_cast<size_t>(kDim * padded));
    for (int64_t d = 0; d < kDim; ++d) {
      for (int64_t j = 0; j < length; ++j) {
        keys[static_cast<size_t>(d * padded + j)] = rows[static_cast<size_t>(j * kDim + d)];
      }
    }
    std::vector<float> scores(static_cast<size_t>(kQueries * padded));
    std::vector<float> out(kQueries * kDim);
    std::vector<float> attended(static_cast<size_t>(kQueries * padded), -1.0F);
    kernels.attend({queries.data(), kDim, kQueries, keys.data(), values.data(), kDim, length,
                    padded, kDim, kHeads, scores.data(), out.data(), kDim, attended.data()});
    for (int64_t i = 0; i < kQueries; ++i) {
      std::vector<float> alone(kDim);
      kernels.attend({&queries[static_cast<size_t>(i * kDim)], kDim, 1, keys.data(), values.data(),
                      kDim, length, padded, kDim, kHeads, scores.data(), alone.data(), kDim});
      ASSERT_TRUE(std::equal(alone.begin(), alone.end(), &out[static_cast<size_t>(i * kDim)]));
      std::vector<double> sums(static_cast<size_t>(length), 0.0);
      for (int64_t head = 0; head < kHeads; ++head) {
        std::vector<double> weights;
        double total = 0;
        for (int64_t j = 0; j < length; ++j) {
          double score = 0;
          for (int64_t d = head * kSize; d < (head + 1) * kSize; ++d) {
            score += static_cast<double>(queries[static_cast<size_t>(i * kDim + d)]) *
                     static_cast<double>(rows[static_cast<size_t>(j * kDim + d)]);
          }
          weights.push_back(std::exp(score / std::sqrt(static_cast<double>(kSize))));
          total += weights.back();
        }
        for (size_t j = 0; j < sums.size(); ++j) sums[j] += weights[j] / total;
        for (int64_t d = head * kSize; d < (head + 1) * kSize; ++d) {
          double expected = 0;
          for (int64_t j = 0; j < length; ++j) {
            expected += weights[static_cast<size_t>(j)] / total *
                        static_cast<double>(values[static_cast<size_t>(j * kDim + d)]);
          }
          ASSERT_NEAR(out[static_cast<size_t>(i * kDim + d)], expected, 2e-5) << length;
        }
      }
      for (int64_t j = 0; j < length; ++j) {
        ASSERT_NEAR(attended[static_cast<size_t>(i * padded + j)], sums[static_cast<size_t>(j)],
                    2e-5);
      }
    }
  }
}

TEST_P(KernelsTest, AttendsAsTheDefinitionSays) {
  ExpectAttention<16>(kernels());
  ExpectAttention<24>(kernels());
  ExpectAttention<32>(kernels());
  ExpectAttention<56>(kernels());
}

TEST_P(KernelsTest, NormalisesTheSum) {
  constexpr int64_t kDim = 256;
  auto x = RandomFloats(2 * kDim, 3.0F, 17);
  const auto y = RandomFloats(2 * kDim, 3.0F, 18);
  const auto scale = RandomFloats(kDim, 1.0F, 19);
  const auto bias = RandomFloats(kDim, 1.0F, 20);
  const auto before = x;
  kernels().add_norm(x.data(), y.data(), 2, kDim, scale.data(), bias.data(), 1e-9F);
  for (int64_t row = 0; row < 2; ++row) {
    std::vector<double> sums;
    double mean = 0;
    for (int64_t i = 0; i < kDim; ++i) {
      const auto at = static_cast<size_t>(row * kDim + i);
      sums.push_back(static_cast<double>(before[at]) + static_cast<double>(y[at]));
      mean += sums.back() / kDim;
    }
    double variance = 0;
    for (const double sum : sums) variance += (sum - mean) * (sum - mean) / kDim;
    for (size_t i = 0; i < kDim; ++i) {
      const double expected =
          (sums[i] - mean) / std::sqrt(variance) * static_cast<double>(scale[i]) +
          static_cast<double>(bias[i]);
      ASSERT_NEAR(x[static_cast<size_t>(row) * kDim + i], expected, 1e-4);
    }
  }
}

TEST_P(KernelsTest, AConstantRowNormalisesToTheBias) {
  std::vector<float> x(64, 2.0F);
  const std::vector<float> y(64, 1.0F);
  const std::vector<float> scale(64, 1.0F);
  const std::vector<float> bias(64, 0.25F);
  kernels().add_norm(x.data(), y.data(), 1, 64, scale.data(), bias.data(), 1e-9F);
  EXPECT_EQ(x, bias);
}

TEST_P(KernelsTest, SsruMixesCellAndCandidate) {
  constexpr int64_t kDim = 64;
  auto gates = RandomFloats(2 * kDim, 4.0F, 21);
  gates[0] = 500.0F;   // keeps the cell
  gates[1] = -500.0F;  // forgets it
  auto cell = RandomFloats(kDim, 1.0F, 22);
  const auto before = cell;
  std::vector<float> out(kDim);
  kernels().ssru(gates.data(), 1, kDim, cell.data(), out.data());
  EXPECT_EQ(cell[0], before[0]);
  EXPECT_NEAR(cell[1], gates[kDim + 1], 1e-6);
  for (size_t i = 0; i < kDim; ++i) {
    const double forget = 1 / (1 + std::exp(-static_cast<double>(gates[i])));
    const double expected = forget * static_cast<double>(before[i]) +
                            (1 - forget) * static_cast<double>(gates[kDim + i]);
    ASSERT_NEAR(cell[i], expected, 1e-5);
    ASSERT_EQ(out[i], std::max(cell[i], 0.0F));
  }
}

}  // namespace
}  // namespace millrace::bergamot
