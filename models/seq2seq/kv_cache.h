#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/kernels/aligned_buffer.h"
#include "models/seq2seq/kv_block_pool.h"

namespace millrace::seq2seq {

// The KV cache of one sentence on the CPU: a slot holds the keys and values of one token in all
// decoder layers. Hypotheses share the slots of their common prefix: a slot refers to the one
// before it, and is freed when no slot follows it and no hypothesis ends with it. So reordering or
// dropping hypotheses copies nothing. Slots lie in blocks of a KvBlockPool and never move. One
// thread at a time.
class KvCache {
 public:
  static constexpr int32_t kNone = -1;
  static constexpr size_t kBlockSlots = 16;

  // The pool's blocks must hold kBlockSlots * slot_floats floats. The destructor returns them.
  KvCache(KvBlockPool& pool, int64_t slot_floats) : slot_floats_(slot_floats), pool_(pool) {}
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;
  ~KvCache() { pool_.Give(std::move(blocks_)); }

  // Returns a slot that follows `parent` (kNone: the first of its hypothesis) and takes over one of
  // the parent's holders. Its floats are not initialised.
  int32_t Append(int32_t parent);
  // Count one hypothesis more, or one fewer, that ends with the slot; kNone has no effect.
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
  KvBlockPool& pool_;
  std::vector<kernels::AlignedBuffer<float>> blocks_;
  std::vector<Slot> slots_;
  std::vector<int32_t> free_;
};

}  // namespace millrace::seq2seq
