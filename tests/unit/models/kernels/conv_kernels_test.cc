#include "models/kernels/conv_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "models/core/strings.h"
#include "models/kernels/aligned_buffer.h"
#include "models/kernels/parallel_conv.h"
#include "models/kernels/parallel_for.h"
#include "tests/fakes/threads_loop_runner.h"

namespace millrace::kernels {
namespace {

using testing::ThreadsLoopRunner;

std::vector<float> Random(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

struct Size {
  int64_t rows, taps, dilation, in_channels, blocks;
  bool exact = false;
  bool winograd = false;
};

constexpr Size kSmall = {29, 3, 2, 7, 2};
// More rows than a matrix unit splits at once, channels that leave one of its tiles half empty.
constexpr Size kLarge = {2100, 5, 3, 81, 2};
constexpr Size kFarReach = {70, 3, 200, 512, 1};
constexpr Size kExact = {1300, 3, 1, 200, 1, true};
// Taps of so many channels that their weights are read in shares, the last of which is smaller.
constexpr Size kWide = {191, 3, 5, 523, 1};
// Taps of so few channels that the weights of several are read together, fewer the last time.
constexpr Size kNarrow = {97, 11, 5, 32, 2};
constexpr Size kOneTap = {100, 1, 1, 192, 3};
// By Winograd's filtering: channels that are no whole vectors, rows that end within a tile, more
// than one pass, fewer rows than a tile.
constexpr Size kWinograd3 = {403, 3, 1, 131, 2, false, true};
constexpr Size kWinograd5 = {307, 5, 3, 75, 2, false, true};
constexpr Size kWinograd7 = {211, 7, 5, 64, 3, false, true};
constexpr Size kWinograd11 = {701, 11, 3, 64, 2, false, true};
constexpr Size kWinogradShort = {2, 7, 4, 32, 1, false, true};

struct Problem : Size {
  explicit Problem(const Size& size) : Size(size) {}
  int64_t width() const { return blocks * kChannelBlock; }
  std::vector<float> input =
      Random(static_cast<size_t>((rows + (taps - 1) * dilation) * in_channels), 1);
  std::vector<float> weights = Random(static_cast<size_t>(taps * in_channels * width()), 2);
  std::vector<float> bias = Random(static_cast<size_t>(width()), 3);
  std::vector<float> residual = Random(static_cast<size_t>(rows * width()), 4);
  std::vector<float> partial = Random(static_cast<size_t>(rows * width()), 5);

  AlignedBuffer<float> packed;

  ConvTask Task(const ConvKernels& kernels) {
    ConvTask task;
    task.input = input.data();
    task.weights = weights.data();
    task.bias = bias.data();
    task.rows = rows;
    task.input_pitch = in_channels;
    task.output_pitch = width();
    task.taps = taps;
    task.dilation = dilation;
    task.in_channels = in_channels;
    task.blocks = blocks;
    task.exact = exact;
    task.winograd = winograd;
    packed = AlignedBuffer<float>::Zeros(static_cast<size_t>(kernels.packed_size(task)));
    kernels.pack(task, packed.data());
    task.weights = packed.data();
    return task;
  }
  // Returns the tolerance of a sum of so many products of numbers up to 1.
  double Tolerance(const ConvKernels& kernels) const {
    const auto products = static_cast<double>(taps * in_channels);
    const double filtering = taps > 7 ? 5e-5 : 6e-6;
    return 1e-5 + 1e-7 * products + (winograd ? filtering * std::sqrt(products) : 0) +
           (exact ? 0 : static_cast<double>(kernels.product_error)) * std::sqrt(products);
  }
  float Input(int64_t row, int64_t tap, int64_t c) const {
    return input[static_cast<size_t>((row + tap * dilation) * in_channels + c)];
  }
  float Weight(int64_t tap, int64_t c, int64_t channel) const {
    const int64_t block = channel / kChannelBlock;
    return weights[static_cast<size_t>(((block * taps + tap) * in_channels + c) * kChannelBlock +
                                       channel % kChannelBlock)];
  }
  // Returns the number of rows of which a cut must be at a multiple.
  int64_t RowsOfCut() const {
    ConvTask task;
    task.taps = taps;
    task.winograd = winograd;
    return HasWinogradForm(task) ? kWinogradOutputs * dilation : 1;
  }
  // The convolution and its bias, straight from the definition.
  double At(int64_t row, int64_t channel) const {
    double sum = bias[static_cast<size_t>(channel)];
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t c = 0; c < in_channels; ++c) {
        sum += double{Input(row, tap, c)} * double{Weight(tap, c, channel)};
      }
    }
    return sum;
  }
};

using Case = std::tuple<const ConvKernels*, Size>;

class ConvKernelsTest : public ::testing::TestWithParam<Case> {
 protected:
  const ConvKernels& kernels_ = *std::get<0>(GetParam());
  Problem problem_{std::get<1>(GetParam())};
};

TEST_P(ConvKernelsTest, ConvolvesAndFinishesAsAsked) {
  const Problem& problem = problem_;
  ConvTask task = problem_.Task(kernels_);
  const double tolerance = problem.Tolerance(kernels_);
  std::vector<float> raw(problem.residual.size());
  std::vector<float> active(raw.size());
  task.residual = problem.residual.data();
  task.partial = problem.partial.data();
  task.scale = 0.5F;
  task.raw = raw.data();
  task.active = active.data();
  task.slope = 0.1F;
  kernels_.convolve(task);
  for (int64_t row = 0; row < problem.rows; ++row) {
    for (int64_t channel = 0; channel < problem.width(); ++channel) {
      const auto at = static_cast<size_t>(row * problem.width() + channel);
      const double expected =
          0.5 * (problem.At(row, channel) + problem.residual[at] + problem.partial[at]);
      ASSERT_NEAR(raw[at], expected, tolerance);
      ASSERT_NEAR(active[at], expected > 0 ? expected : 0.1 * expected, tolerance);
    }
  }
}

TEST_P(ConvKernelsTest, GatesPairsOfSixteenChannels) {
  const Problem& problem = problem_;
  ConvTask task = problem_.Task(kernels_);
  const double tolerance = problem.Tolerance(kernels_);
  std::vector<float> gated(static_cast<size_t>(problem.rows * problem.width()));
  task.gate = true;
  task.raw = gated.data();
  kernels_.convolve(task);
  for (int64_t row = 0; row < problem.rows; ++row) {
    for (int64_t i = 0; i < problem.width() / 2; ++i) {
      const int64_t channel = i / 16 * kChannelBlock + i % 16;
      const double expected =
          std::tanh(problem.At(row, channel)) / (1 + std::exp(-problem.At(row, channel + 16)));
      ASSERT_NEAR(gated[static_cast<size_t>(row * problem.width() + i)], expected, tolerance);
    }
  }
}

// The checks of AddressSanitizer come between a product and its sum, so clang does not fuse them.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MILLRACE_PRODUCTS_ARE_NOT_FUSED
#endif
#endif
#ifdef MILLRACE_PRODUCTS_ARE_NOT_FUSED
constexpr bool kFusesProducts = false;
#else
constexpr bool kFusesProducts = true;
#endif

// Portable code is fused where every processor of the architecture can.
#if defined(__aarch64__)
constexpr bool kPortableFusesProducts = true;
#else
constexpr bool kPortableFusesProducts = false;
#endif

// Returns sum + x * y, rounded as the products of the kernels are.
float AddProduct(const ConvKernels& kernels, float x, float y, float sum) {
  if (kPortableFusesProducts || kernels.target != Target::kPortable) return std::fma(x, y, sum);
  const volatile float product = x * y;  // volatile: not fused where the processor could
  return sum + product;
}

// The order that conv_kernels.h promises, whatever a set computes together: results are equal bit
// by bit.
TEST_P(ConvKernelsTest, AddsProductsInTheOrderOfTapsAndChannels) {
  if (kernels_.product_error > 0) GTEST_SKIP() << "its products are sums of several";
  if (problem_.winograd) GTEST_SKIP() << "it has fewer products";
  if (!kFusesProducts) GTEST_SKIP() << "this build does not fuse products with their sums";
  const Problem& problem = problem_;
  ConvTask task = problem_.Task(kernels_);
  std::vector<float> raw(problem.residual.size());
  task.raw = raw.data();
  kernels_.convolve(task);
  for (int64_t row = 0; row < problem.rows; row += 7) {
    for (int64_t channel = 0; channel < problem.width(); ++channel) {
      float sum = 0;
      for (int64_t tap = 0; tap < problem.taps; ++tap) {
        for (int64_t c = 0; c < problem.in_channels; ++c) {
          sum = AddProduct(kernels_, problem.Input(row, tap, c), problem.Weight(tap, c, channel),
                           sum);
        }
      }
      sum += problem.bias[static_cast<size_t>(channel)];
      ASSERT_EQ(raw[static_cast<size_t>(row * problem.width() + channel)], sum)
          << "row " << row << ", channel " << channel;
    }
  }
}

// Chunks and threads are invisible because a row's value does not depend on the rows that are
// computed with it.
TEST_P(ConvKernelsTest, AnyCutGivesTheSameBits) {
  const Problem& problem = problem_;
  std::vector<float> whole(problem.residual.size());
  ConvTask task = problem_.Task(kernels_);
  task.raw = whole.data();
  kernels_.convolve(task);
  const int64_t step = problem.RowsOfCut();
  for (int64_t cut = step; cut < problem.rows; cut += cut < 40 * step ? step : 97 * step) {
    std::vector<float> parts(whole.size());
    task.rows = cut;
    task.input = problem.input.data();
    task.raw = parts.data();
    kernels_.convolve(task);
    task.rows = problem.rows - cut;
    task.input += cut * task.input_pitch;
    task.raw += cut * task.output_pitch;
    kernels_.convolve(task);
    ASSERT_EQ(parts, whole) << "cut at " << cut;
  }
}

class ParallelConvolveTest : public ::testing::TestWithParam<const ConvKernels*> {};

// The rows of a task of many products, and the blocks of one with few rows, are computed by several
// threads. Both pairs of pointers have results; the gate has half as many.
TEST_P(ParallelConvolveTest, ThreadsTogetherGiveTheSameBits) {
  const ConvKernels& kernels = *GetParam();
  for (const Size& size :
       {Size{1500, 5, 2, 96, 3}, Size{70, 3, 1, 512, 32}, Size{1501, 7, 3, 96, 3, false, true}}) {
    Problem problem(size);
    for (const bool gate : {false, true}) {
      std::vector<std::vector<float>> results(4, std::vector<float>(problem.residual.size()));
      const auto convolve = [&](float* raw, float* active) {
        ConvTask task = problem.Task(kernels);
        task.gate = gate;
        task.output_pitch = gate ? problem.width() / 2 : problem.width();
        task.raw = raw;
        task.active = active;
        task.slope = 0.1F;
        task.residual = problem.residual.data();
        task.partial = problem.partial.data();
        ParallelConvolve(task, kernels);
      };
      convolve(results[0].data(), results[1].data());
      ThreadsLoopRunner runner(8);
      const ScopedLoopRunner scope(&runner);
      convolve(results[2].data(), results[3].data());
      EXPECT_EQ(runner.loops(), 1);
      ASSERT_EQ(results[0], results[2]) << size.rows << " rows";
      ASSERT_EQ(results[1], results[3]) << size.rows << " rows";
    }
  }
}

class TanhDotTest : public ::testing::TestWithParam<const ConvKernels*> {};

TEST_P(TanhDotTest, OverlapsItsRows) {
  constexpr int64_t kPitch = 32;
  constexpr int64_t kCount = 96;
  constexpr int64_t kRows = 37;
  const std::vector<float> input = Random(kPitch * kRows + kCount, 6);
  const std::vector<float> weights = Random(kCount, 7);
  std::vector<float> output(kRows);
  GetParam()->tanh_dot(input.data(), kPitch, weights.data(), kCount, 0.25F, output.data(), kRows);
  for (int64_t row = 0; row < kRows; ++row) {
    double sum = 0.25;
    for (int64_t i = 0; i < kCount; ++i)
      sum += double{input[static_cast<size_t>(row * kPitch + i)]} *
             double{weights[static_cast<size_t>(i)]};
    EXPECT_NEAR(output[static_cast<size_t>(row)], std::tanh(sum), 2e-6);
  }
}

class MomentsTest : public ::testing::TestWithParam<const ConvKernels*> {};

TEST_P(MomentsTest, SumsEachChannel) {
  constexpr int64_t kRows = 21;
  for (const int64_t channels : {16, 48, 64, 144}) {
    const std::vector<float> input = Random(static_cast<size_t>(kRows * channels), 8);
    const std::vector<float> center = Random(static_cast<size_t>(channels), 9);
    // Numbers behind the results must not be written.
    std::vector<float> sums(static_cast<size_t>(channels) + 64, 9.0F), squares(sums);
    GetParam()->moments(input.data(), kRows, channels, center.data(), sums.data(), squares.data());
    for (size_t c = center.size(); c < sums.size(); ++c) {
      ASSERT_EQ(sums[c], 9.0F);
      ASSERT_EQ(squares[c], 9.0F);
    }
    for (size_t c = 0; c < center.size(); ++c) {
      double sum = 0;
      double square = 0;
      for (int64_t row = 0; row < kRows; ++row) {
        const double off =
            double{input[static_cast<size_t>(row * channels) + c]} - double{center[c]};
        sum += off;
        square += off * off;
      }
      ASSERT_NEAR(sums[c], sum, 1e-4) << "channel " << c << " of " << channels;
      ASSERT_NEAR(squares[c], square, 1e-4) << "channel " << c << " of " << channels;
    }
  }
}

TEST_P(ConvKernelsTest, SumsOfElsewhereAreFinishedAsItsOwn) {
  ConvTask task = problem_.Task(kernels_);
  const std::vector<float> no_bias(problem_.bias.size(), 0.0F);
  std::vector<float> sums(problem_.residual.size());
  task.bias = no_bias.data();
  task.raw = sums.data();
  kernels_.convolve(task);
  task.bias = problem_.bias.data();
  task.residual = problem_.residual.data();
  task.partial = problem_.partial.data();
  task.scale = 0.5F;
  task.slope = 0.1F;
  std::vector<float> expected(2 * sums.size());
  std::vector<float> actual(2 * sums.size(), NAN);
  for (std::vector<float>* to : {&expected, &actual}) {
    task.raw = to->data();
    task.active = to->data() + sums.size();
    to == &expected ? kernels_.convolve(task) : kernels_.finish(task, sums.data());
  }
  EXPECT_EQ(actual, expected);

  ConvTask gate = problem_.Task(kernels_);
  gate.gate = true;
  std::ranges::fill(expected, 9.0F);
  std::ranges::fill(actual, 9.0F);
  for (std::vector<float>* to : {&expected, &actual}) {
    gate.raw = to->data();
    to == &expected ? kernels_.convolve(gate) : kernels_.finish(gate, sums.data());
  }
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-6) << i;
}

TEST_P(ConvKernelsTest, ExtremeValuesSaturate) {
  Problem& problem = problem_;
  for (float& value : problem.weights) value *= 1e4F;
  ConvTask task = problem.Task(kernels_);
  std::vector<float> gated(static_cast<size_t>(problem.rows * problem.width()), 9.0F);
  task.gate = true;
  task.raw = gated.data();
  kernels_.convolve(task);
  for (int64_t i = 0; i < problem.width() / 2; ++i) {
    ASSERT_TRUE(std::isfinite(gated[static_cast<size_t>(i)]));
    ASSERT_LE(std::abs(gated[static_cast<size_t>(i)]), 1.0F);
  }
}

std::vector<const ConvKernels*> All() {
  return {SupportedConvKernels().begin(), SupportedConvKernels().end()};
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, ConvKernelsTest,
                         ::testing::Combine(::testing::ValuesIn(All()),
                                            ::testing::Values(kSmall, kLarge, kFarReach, kExact,
                                                              kWide, kNarrow, kOneTap, kWinograd3,
                                                              kWinograd5, kWinograd7, kWinograd11,
                                                              kWinogradShort)),
                         [](const auto& info) {
                           const Size& size = std::get<1>(info.param);
                           return StrCat(std::get<0>(info.param)->name, "_", size.rows, "_rows",
                                         size.winograd ? "_winograd" : "");
                         });
INSTANTIATE_TEST_SUITE_P(InstructionSets, MomentsTest, ::testing::ValuesIn(All()),
                         [](const auto& info) { return std::string(info.param->name); });
INSTANTIATE_TEST_SUITE_P(InstructionSets, ParallelConvolveTest, ::testing::ValuesIn(All()),
                         [](const auto& info) { return std::string(info.param->name); });
INSTANTIATE_TEST_SUITE_P(InstructionSets, TanhDotTest, ::testing::ValuesIn(All()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace millrace::kernels
