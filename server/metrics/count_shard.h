#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace millrace::server {

// Counts of several threads are kept in shards that are summed when they are read, so that threads
// do not contend while they count. The first kOwnedShards live threads have one shard each, which
// no other thread writes; all others share the rest.
inline constexpr size_t kOwnedShards = 8;
inline constexpr size_t kCountShards = 12;
// The distance between shards: Apple's cache lines have 128 bytes, and x86 fetches pairs of 64.
inline constexpr size_t kShardAlignment = 128;

namespace detail {

inline constexpr uint32_t kNoShard = UINT32_MAX;
inline constinit thread_local uint32_t thread_shard = kNoShard;
uint32_t TakeShard();

}  // namespace detail

// Returns the calling thread's shard, below kCountShards; it stays the same until the thread ends.
// The first call of a thread takes its shard, later calls cost a load.
inline size_t CountShard() {
  const uint32_t shard = detail::thread_shard;
  return shard != detail::kNoShard ? shard : detail::TakeShard();
}

// Adds to a number of the calling thread's shard. It takes about a nanosecond when the thread owns
// the shard, since it needs no atomic addition then; about five otherwise.
template <typename T>
void AddInShard(size_t shard, std::atomic<T>& number, T by) {
  T before = number.load(std::memory_order_relaxed);
  if (shard < kOwnedShards) {
    number.store(before + by, std::memory_order_relaxed);
  } else {
    while (!number.compare_exchange_weak(before, before + by, std::memory_order_relaxed)) {
    }
  }
}

}  // namespace millrace::server
