#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/kernels/aligned_buffer.h"
#include "models/seq2seq/cache_blocks.h"

namespace millrace::seq2seq {

// The keys and values that a decoder keeps of each token of a sentence, a slot a token. Hypotheses
// that began alike share the slots of their beginning: a slot knows the one before it, and is free
// again when nothing follows it and no hypothesis ends with it. So to reorder or drop hypotheses
// copies nothing. Slots lie in blocks that stay where they are. One thread at a time.
class TokenCache {
 public:
  static constexpr int32_t kNone = -1;
  static constexpr size_t kBlockSlots = 16;

  // Takes blocks of kBlockSlots * slot_floats floats, and gives them back in the end.
  TokenCache(CacheBlocks& blocks, int64_t slot_floats)
      : slot_floats_(slot_floats), source_(blocks) {}
  TokenCache(const TokenCache&) = delete;
  TokenCache& operator=(const TokenCache&) = delete;
  ~TokenCache() { source_.Give(std::move(blocks_)); }

  // A slot behind `parent` (kNone: the first of its hypothesis), whose holder now holds this one
  // instead. Its floats are not initialised.
  int32_t Append(int32_t parent);
  // One more, or one fewer, hypothesis that ends with the slot; kNone: no effect.
  void Hold(int32_t slot);
  void Release(int32_t slot);

  float* floats(int32_t slot) {
    const auto at = static_cast<size_t>(slot);
    return blocks_[at / kBlockSlots].data() + static_cast<int64_t>(at % kBlockSlots) * slot_floats_;
  }
  size_t used() const { return slots_.size() - free_.size(); }

 private:
  struct Slot {
    int32_t parent = kNone;
    int32_t holders = 0;  // hypotheses that end here, and slots that follow
  };

  const int64_t slot_floats_;
  CacheBlocks& source_;
  std::vector<kernels::AlignedBuffer<float>> blocks_;
  std::vector<Slot> slots_;
  std::vector<int32_t> free_;
};

}  // namespace millrace::seq2seq
