// Linear layers whose packed weights are kept, in each precision.

#include "models/kernels/pack_store.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/packed_linear.h"
#include "models/kernels/packed_narrow.h"
#include "models/kernels/precision.h"
#include "models/kernels/scratch.h"

namespace millrace::kernels {
namespace {

// Keeps arrays in memory.
class MemoryStore final : public PackStore {
 public:
  // Begins the next start of the program.
  void Restart() {
    next_ = 0;
    found_ = 0;
  }
  size_t found() const { return found_; }
  size_t kept() const { return kept_.size(); }

  Array Next() override {
    if (next_ == kept_.size()) return {};
    ++found_;
    const auto& array = kept_[next_++];
    return {std::shared_ptr<const void>(array, array->data()), array->size()};
  }
  void Reject() override { ADD_FAILURE() << "array " << next_ - 1 << " is another one"; }
  std::shared_ptr<const void> Keep(const void* data, size_t bytes) override {
    kept_.push_back(std::make_shared<AlignedBuffer<char>>(bytes));
    if (bytes > 0) std::memcpy(kept_.back()->data(), data, bytes);
    next_ = kept_.size();
    return nullptr;
  }

 private:
  std::vector<std::shared_ptr<AlignedBuffer<char>>> kept_;
  size_t next_ = 0;
  size_t found_ = 0;
};

class KeptLinearTest : public ::testing::TestWithParam<Precision> {};

TEST_P(KeptLinearTest, ResultsAreTheSameBits) {
  constexpr int64_t kInputs = 48;
  constexpr int64_t kOutputs = 77;
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> weights(kInputs * kOutputs);
  for (float& weight : weights) weight = uniform(random);
  // Neighbours that int8 must clip on some processors.
  for (size_t i = 0; i < 2 * kInputs; ++i) weights[i] = 1;
  std::vector<float> bias(kOutputs, 0.5F);
  std::vector<float> rows(9 * kInputs);
  for (float& value : rows) value = uniform(random);
  const FloatLinear layer = {{weights.data(), kOutputs, kInputs}, bias};

  const auto run = [&] {
    const PackedLinear packed({layer}, LinearKernels::For(GetParam()));
    Scratch scratch;
    std::vector<float> out(static_cast<size_t>(9 * packed.width() + kInputs));
    packed.Multiply(rows.data(), kInputs, 9, scratch, out.data());
    packed.CopyOutput(1, out.data() + 9 * packed.width());
    return out;
  };
  const std::vector<float> expected = run();
  MemoryStore store;
  const ScopedPackStore scope(&store);
  EXPECT_EQ(run(), expected);
  EXPECT_EQ(store.found(), 0U);
  ASSERT_GT(store.kept(), 0U);
  store.Restart();
  // Nothing is packed from these any more.
  std::fill(weights.begin(), weights.end(), 0.0F);
  EXPECT_EQ(run(), expected);
  EXPECT_EQ(store.found(), store.kept());
}

INSTANTIATE_TEST_SUITE_P(Precisions, KeptLinearTest,
                         ::testing::Values(Precision::kFloat32, Precision::kInt8,
                                           Precision::kBfloat16));

TEST(PackedNarrowTest, WeightsThatAreKeptAreNotReadAgain) {
  constexpr int64_t kInputs = 48;
  constexpr int64_t kOutputs = 16;
  int reads = 0;
  const auto weights = [&] {
    ++reads;
    return std::vector<float>(kOutputs * kInputs, 0.5F);
  };
  MemoryStore store;
  const ScopedPackStore scope(&store);
  const auto pack = [&] {
    return PackedNarrow(kOutputs, kInputs, weights, {}, Precision::kInt8, /*clip_pairs=*/false, {});
  };
  pack();
  EXPECT_EQ(reads, 1);
  store.Restart();
  pack();
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(store.found(), store.kept());
}

}  // namespace
}  // namespace millrace::kernels
