#include "models/seq2seq/kv_cache.h"

namespace millrace::seq2seq {

int32_t KvCache::Append(int32_t parent) {
  if (free_.empty()) {
    blocks_.push_back(pool_.Take());
    const size_t first = slots_.size();
    slots_.resize(first + kBlockSlots);
    // The lowest is taken first.
    for (size_t i = kBlockSlots; i-- > 0;) free_.push_back(static_cast<int32_t>(first + i));
  }
  const int32_t slot = free_.back();
  free_.pop_back();
  slots_[static_cast<size_t>(slot)] = {parent, 1};
  return slot;
}

void KvCache::Hold(int32_t slot) {
  if (slot != kNone) ++slots_[static_cast<size_t>(slot)].holders;
}

void KvCache::Release(int32_t slot) {
  while (slot != kNone) {
    Slot& released = slots_[static_cast<size_t>(slot)];
    if (--released.holders > 0) return;
    free_.push_back(slot);
    slot = released.parent;
  }
}

}  // namespace millrace::seq2seq
