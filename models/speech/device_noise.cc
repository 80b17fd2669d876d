#include "models/speech/device_noise.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/log.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>

#include <array>
#include <numbers>
#include <optional>

#include "mps_runtime/device_operator.h"

namespace millrace::speech {
namespace {

constexpr int64_t kWord = 0xFFFFFFFF;
constexpr int64_t kBlockBits = 2;
constexpr int64_t kBlockValues = 1 << kBlockBits;

using DrawInOnePass = at::Tensor(const at::Tensor& keys, const std::optional<at::Tensor>& rows,
                                 int64_t count);

// Returns none where the device of the keys has no operator that draws in one pass.
std::optional<c10::TypedOperatorHandle<DrawInOnePass>> OnePass(const at::Tensor& keys) {
  static const auto draw =
      runtime::FindDeviceOperator<DrawInOnePass>("millrace_speech::draw_noise");
  return keys.is_cuda() ? draw : std::nullopt;
}

// 32-bit words are held in 64 bits. Products wrap and may set the sign bit, which is cut off.
at::Tensor High(const at::Tensor& product) { return product.__rshift__(32).bitwise_and_(kWord); }
at::Tensor Low(const at::Tensor& product) { return product.bitwise_and(kWord); }

// Returns values in (0, 1), because the logarithm of 0 is not finite.
at::Tensor Uniform(const at::Tensor& words) {
  return words.__rshift__(8).to(at::kFloat).add_(0.5).mul_(0x1.0p-24);
}

// Computes Philox 4x32-10, as noise.cc does, of these blocks [rows, blocks] of each key's source:
// [rows, 4 * blocks].
at::Tensor DrawBlocks(const at::Tensor& keys, const at::Tensor& blocks) {
  at::Tensor key0 = keys.narrow(1, 0, 1);
  at::Tensor key1 = keys.narrow(1, 1, 1);
  const at::Tensor zeros = at::zeros_like(blocks);
  std::array<at::Tensor, 4> counter = {blocks, zeros, zeros + keys.narrow(1, 2, 1),
                                       zeros + keys.narrow(1, 3, 1)};
  for (int round = 0; round < 10; ++round) {
    const at::Tensor product0 = counter[0] * int64_t{0xD2511F53};
    const at::Tensor product1 = counter[2] * int64_t{0xCD9E8D57};
    counter = {High(product1).bitwise_xor_(counter[1]).bitwise_xor_(key0), Low(product1),
               High(product0).bitwise_xor_(counter[3]).bitwise_xor_(key1), Low(product0)};
    key0 = Low(key0 + int64_t{0x9E3779B9});
    key1 = Low(key1 + int64_t{0xBB67AE85});
  }
  const at::Tensor radius =
      at::sqrt(at::log(Uniform(at::stack({counter[0], counter[2]}, 2))).mul_(-2));
  const at::Tensor angle =
      Uniform(at::stack({counter[1], counter[3]}, 2)).mul_(2 * std::numbers::pi);
  return at::stack({radius * at::cos(angle), radius * at::sin(angle)}, 3).flatten(1);
}

}  // namespace

at::Tensor NoiseKey(uint64_t seed, uint64_t stream) {
  const at::Tensor key = at::empty({4}, at::kLong);
  auto* const words = key.mutable_data_ptr<int64_t>();
  words[0] = static_cast<int64_t>(seed) & kWord;
  words[1] = static_cast<int64_t>(seed >> 32);
  words[2] = static_cast<int64_t>(stream) & kWord;
  words[3] = static_cast<int64_t>(stream >> 32);
  return key;
}

at::Tensor DrawNoise(const at::Tensor& keys, int64_t count) {
  if (const auto draw = OnePass(keys)) return draw->call(keys, std::nullopt, count);
  const int64_t blocks = (count + kBlockValues - 1) / kBlockValues;
  const at::Tensor first =
      at::arange(blocks, keys.options()).unsqueeze(0).expand({keys.size(0), blocks});
  return DrawBlocks(keys, first).narrow(1, 0, count);
}

at::Tensor DrawNoiseRows(const at::Tensor& keys, const at::Tensor& rows, int64_t count) {
  if (const auto draw = OnePass(keys); draw && count % kBlockValues == 0)
    return draw->call(keys, rows, count);
  // A row may begin within a block, at a place that its number decides.
  const int64_t blocks = (count + kBlockValues - 1) / kBlockValues + (count % kBlockValues != 0);
  const at::Tensor first = (rows * count).unsqueeze(1);
  const at::Tensor drawn = DrawBlocks(
      keys, first.__rshift__(kBlockBits) + at::arange(blocks, keys.options()).unsqueeze(0));
  if (count % kBlockValues == 0) return drawn;
  return drawn.gather(
      1, first.bitwise_and(kBlockValues - 1) + at::arange(count, keys.options()).unsqueeze(0));
}

}  // namespace millrace::speech
