#include "models/seq2seq/aten/kv_slot_pool.h"

#include <cstddef>

namespace millrace::seq2seq {
namespace {

constexpr size_t kReserved = 2;

}  // namespace

KvSlotPool::KvSlotPool(size_t slots) : capacity_(slots - kReserved) {
  free_.reserve(capacity_);
  // The lowest is taken first.
  for (size_t slot = slots; slot-- > kReserved;) free_.push_back(static_cast<int32_t>(slot));
}

std::vector<int32_t> KvSlotPool::Take(size_t count, const void* owner) {
  const MutexLock lock(mu_);
  if (needed_ != 0 && waiting_ != owner) {
    if (count + needed_ > free_.size()) {
      if (++refused_ >= kPatience) needed_ = 0;
      return {};
    }
  } else {
    waiting_ = owner;
    refused_ = 0;
    needed_ = count > free_.size() ? count : 0;
    if (needed_ != 0) return {};
  }
  const auto begin = free_.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<int32_t> taken(begin, free_.end());
  free_.erase(begin, free_.end());
  return taken;
}

void KvSlotPool::Give(std::span<const int32_t> slots) {
  const MutexLock lock(mu_);
  free_.insert(free_.end(), slots.begin(), slots.end());
}

size_t KvSlotPool::used() const {
  const MutexLock lock(mu_);
  return capacity_ - free_.size();
}

}  // namespace millrace::seq2seq
