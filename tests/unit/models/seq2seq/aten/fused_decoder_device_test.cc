// The decoder's own kernels on a CUDA device against the same network in libtorch's operators.
// Skipped where there is no such device.

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

#include "models/seq2seq/aten/fused_decoder.h"
#include "mps_runtime/backend.h"

namespace millrace::seq2seq {
namespace {

constexpr int64_t kWidth = 320;
constexpr int64_t kSourceWidth = 64;
constexpr int64_t kLongestPath = 300;
constexpr int64_t kStep = 1;  // earlier steps of the same submission

struct Network {
  bool norm_first, swish;
  int64_t dim, hidden, tokens;
};

at::Tensor OnDevice(const at::Tensor& values, double deviation) {
  return (values * deviation).cuda().to(at::kHalf);
}

TransformerWeights MakeWeights(const Network& network) {
  const int64_t dim = network.dim;
  const auto random = [](at::IntArrayRef sizes, double deviation) {
    return OnDevice(at::randn(sizes), deviation);
  };
  const auto linear = [&](int64_t outputs, int64_t inputs) {
    return AtenLinear{random({outputs, inputs}, 0.06), random({outputs}, 0.3)};
  };
  const auto norm = [&] {
    return AtenNorm{OnDevice(1 + at::randn({dim}) * 0.2, 1), random({dim}, 0.2)};
  };
  TransformerWeights weights;
  weights.decoder_heads = dim / 64;
  weights.norm_first = network.norm_first;
  weights.swish = network.swish;
  weights.embedding_scale = 3;
  weights.positions = random({kWidth, dim}, 0.5);
  weights.output = {random({network.tokens, dim}, 0.05), at::randn({network.tokens}).cuda()};
  weights.target_embeddings = random({network.tokens, dim}, 0.3);
  weights.suppressed = at::tensor({5, 7}, at::kLong).cuda();
  for (int i = 0; i < 3; ++i) {
    weights.decoder.push_back(
        {linear(3 * dim, dim), linear(dim, dim), norm(), linear(dim, dim), linear(dim, dim), norm(),
         AtenFeedForward{linear(network.hidden, dim), linear(dim, network.hidden), norm()}});
  }
  weights.decoder_norm = norm();
  return weights;
}

TransformerWeights ToFloat(TransformerWeights weights) {
  const auto convert = [](AtenLinear& layer) {
    layer = {layer.weight.to(at::kFloat), layer.bias.to(at::kFloat)};
  };
  const auto convert_norm = [](AtenNorm& norm) {
    norm = {norm.scale.to(at::kFloat), norm.bias.to(at::kFloat)};
  };
  weights.positions = weights.positions.to(at::kFloat);
  weights.target_embeddings = weights.target_embeddings.to(at::kFloat);
  convert(weights.output);
  convert_norm(weights.decoder_norm);
  for (AtenDecoderLayer& layer : weights.decoder) {
    for (AtenLinear* part : {&layer.inputs, &layer.output, &layer.cross_query, &layer.cross_output,
                             &layer.feed_forward.expand, &layer.feed_forward.contract})
      convert(*part);
    for (AtenNorm* part : {&layer.norm, &layer.cross_norm, &layer.feed_forward.norm})
      convert_norm(*part);
  }
  return weights;
}

// Rows whose paths and sources are of different lengths, in slots in any order.
struct Rows {
  explicit Rows(int64_t rows, int64_t tokens) : count(rows) {
    slots = rows * (kWidth + kSourceWidth);
    const at::Tensor order = at::randperm(slots, at::kLong).cuda();
    path = order.narrow(0, 0, rows * kWidth);
    sources = order.narrow(0, rows * kWidth, rows * kSourceWidth);
    last = at::randint(0, tokens, {rows}, at::kLong).cuda();
    const at::Tensor places = at::randint(kStep, kLongestPath, {rows}, at::kLong);
    const at::Tensor lengths = at::randint(1, kSourceWidth + 1, {rows}, at::kLong);
    places[0] = rows > 1 ? kStep : kLongestPath - 1;
    places[rows - 1] = kLongestPath - 1;
    lengths[0] = 1;
    positions = places.cuda();
    source_lengths = lengths.cuda();
  }

  FusedStepsInput fused() const {
    return {.positions = positions - kStep,
            .path = path,
            .sources = sources,
            .source_lengths = source_lengths};
  }
  at::Tensor own_slots() const {
    return path.view({count, kWidth}).gather(1, positions.unsqueeze(1)).squeeze(1);
  }
  DecoderStepInput plain() const {
    return {.tokens = last,
            .positions = positions,
            .slots = own_slots(),
            .path = path,
            .sources = sources,
            .source_lengths = source_lengths};
  }

  int64_t count, slots = 0;
  at::Tensor path, sources, last, positions, source_lengths;
};

DeviceKvCache RandomCache(const TransformerWeights& weights, int64_t slots) {
  DeviceKvCache cache;
  for (size_t i = 0; i < weights.decoder.size(); ++i)
    cache.push_back(OnDevice(at::randn({slots, 2 * weights.dim()}), 1));
  return cache;
}

DeviceKvCache Copy(const DeviceKvCache& cache, at::ScalarType type) {
  DeviceKvCache copy;
  for (const at::Tensor& layer : cache)
    copy.push_back(layer.to(type, /*non_blocking=*/false, /*copy=*/true));
  return copy;
}

double Distance(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kFloat) - b.to(at::kFloat)).abs().max().item<double>();
}

// The root mean square of the differences, which a single score hardly changes.
double UsualDistance(const at::Tensor& a, const at::Tensor& b) {
  return (a.to(at::kFloat) - b.to(at::kFloat)).square().mean().sqrt().item<double>();
}

class FusedDecoderDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      backend_ = runtime::MakeBackend(runtime::DeviceType::kCuda);
    } catch (const std::invalid_argument& error) {
      GTEST_SKIP() << error.what();
    }
    backend_->Bootstrap();
    backend_->BindThread({.device = runtime::DeviceType::kCuda, .slot = 1}, 1);
    std::string why_not;
    if (!FusedDecoder::Make(MakeWeights(kNetworks[0]), why_not))
      GTEST_SKIP() << "no kernels: " << why_not;
  }
  void TearDown() override {
    if (backend_ != nullptr)
      backend_->UnbindThread({.device = runtime::DeviceType::kCuda, .slot = 1});
  }

  static FusedDecoder Fuse(const TransformerWeights& weights) {
    std::string why_not;
    return *FusedDecoder::Make(weights, why_not);
  }

  // Few columns of the output are computed in other parts than many.
  static constexpr Network kNetworks[] = {
      {.norm_first = true, .swish = false, .dim = 1024, .hidden = 4096, .tokens = 64064},
      {.norm_first = false, .swish = true, .dim = 512, .hidden = 2048, .tokens = 4096},
      {.norm_first = true, .swish = true, .dim = 256, .hidden = 512, .tokens = 640},
      {.norm_first = false, .swish = false, .dim = 256, .hidden = 768, .tokens = 640}};

  const at::InferenceMode inference_;
  std::unique_ptr<runtime::Backend> backend_;
};

TEST_F(FusedDecoderDeviceTest, ScoresAreAsCloseToFloat32AsThoseOfLibtorch) {
  for (const Network& network : kNetworks) {
    const TransformerWeights weights = MakeWeights(network);
    const FusedDecoder fused = Fuse(weights);
    const Transformer plain(weights);
    const Transformer exact(ToFloat(weights));
    for (const int64_t count : {1, 3, 8, 9, 32, 128}) {
      const Rows rows(count, network.tokens);
      const DeviceKvCache cache = RandomCache(weights, rows.slots);
      const DeviceKvCache plain_cache = Copy(cache, at::kHalf);
      const DeviceKvCache exact_cache = Copy(cache, at::kFloat);
      const DeviceKvCache before = Copy(cache, at::kHalf);
      const at::Tensor expected = exact.Step(rows.plain(), exact_cache);
      const at::Tensor libtorch = plain.Step(rows.plain(), plain_cache);
      const at::Tensor scores =
          fused.Step(rows.fused(), rows.last, kStep, cache) + weights.output.bias;
      const double error = UsualDistance(scores, expected);
      const double usual = UsualDistance(libtorch, expected);
      std::printf("dim %4d, %3d rows: error %.5f, libtorch %.5f, of %.2f\n",
                  static_cast<int>(network.dim), static_cast<int>(count), error, usual,
                  expected.std().item<double>());
      EXPECT_LE(error, 1.5 * usual) << "dim " << network.dim << ", rows " << count;
      // A likeliest token that differs is one whose score is within the error of the likeliest.
      const at::Tensor chosen = at::argmax(scores, 1, /*keepdim=*/true);
      const at::Tensor lead =
          std::get<0>(expected.max(1, /*keepdim=*/true)) - expected.gather(1, chosen);
      EXPECT_LE(lead.max().item<double>(), 2 * Distance(scores, expected));
      for (size_t i = 0; i < cache.size(); ++i) {
        EXPECT_LE(Distance(cache[i], exact_cache[i]),
                  1.5 * Distance(plain_cache[i], exact_cache[i]) + 1e-3);
        // No slot is written but the tokens' own.
        const at::Tensor own = before[i].index_select(0, rows.own_slots());
        const at::Tensor restored = cache[i].index_copy(0, rows.own_slots(), own);
        EXPECT_TRUE(restored.equal(before[i]));
      }
    }
  }
}

TEST_F(FusedDecoderDeviceTest, TheSameInputGivesTheSameBitsWhateverTheOtherRows) {
  const TransformerWeights weights = MakeWeights(kNetworks[0]);
  const FusedDecoder fused = Fuse(weights);
  const Rows rows(8, 1000);
  const DeviceKvCache cache = RandomCache(weights, rows.slots);
  const at::Tensor first = fused.Step(rows.fused(), rows.last, kStep, cache);
  EXPECT_TRUE(first.equal(fused.Step(rows.fused(), rows.last, kStep, cache)));
  for (const at::Tensor& layer : cache) {
    // Row 7's keys and values are no numbers now, but for those that it writes itself.
    layer.index_fill_(0, rows.sources.narrow(0, 7 * kSourceWidth, kSourceWidth),
                      std::numeric_limits<double>::quiet_NaN());
  }
  const at::Tensor again = fused.Step(rows.fused(), rows.last, kStep, cache);
  EXPECT_TRUE(first.narrow(0, 0, 7).equal(again.narrow(0, 0, 7)));
  EXPECT_TRUE(again[7].isnan().all().item<bool>());
}

TEST_F(FusedDecoderDeviceTest, TheLikeliestTokenIsChosen) {
  for (const Network& network : kNetworks) {
    const TransformerWeights weights = MakeWeights(network);
    const FusedDecoder fused = Fuse(weights);
    for (const int64_t rows : {4, 16, 128}) {
      const at::Tensor scores = at::randn({rows, network.tokens}).cuda();
      scores.narrow(1, 5, 1).fill_(100);  // is suppressed
      scores[0][network.tokens - 1] = std::numeric_limits<double>::quiet_NaN();
      scores[1].fill_(3);
      scores[1].sub_(weights.output.bias);
      scores[1][11] += 50;
      scores[1][12] += 50;
      const at::Tensor forced = at::full({rows}, -1, at::kLong);
      forced[2] = 9;
      scores[3][13] += 90;
      forced[3] = -2 - 13;  // is forbidden
      const at::Tensor sums = (scores + weights.output.bias).cpu();
      sums.narrow(1, 5, 1).fill_(-std::numeric_limits<double>::infinity());
      sums.narrow(1, 7, 1).fill_(-std::numeric_limits<double>::infinity());
      sums[3][13] = -std::numeric_limits<double>::infinity();
      const at::Tensor expected = at::argmax(sums, 1);
      expected[0] = -1;
      expected[2] = 9;
      const at::Tensor chosen = at::empty({rows}, scores.options().dtype(at::kLong));
      const at::Tensor next = fused.Choose(scores, forced.cuda(), chosen);
      EXPECT_TRUE(chosen.cpu().equal(expected)) << chosen << expected;
      EXPECT_TRUE(next.cpu().equal(expected.clamp_min(0)));
    }
  }
}

}  // namespace
}  // namespace millrace::seq2seq
