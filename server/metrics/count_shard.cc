#include "server/metrics/count_shard.h"

#include <bit>

namespace millrace::server::detail {
namespace {

constexpr uint32_t kAllOwned = (uint32_t{1} << kOwnedShards) - 1;

constinit std::atomic<uint32_t> owned{0};  // a bit for each shard that has an owner
constinit std::atomic<uint32_t> sharers{0};

uint32_t SharedShard() {
  constexpr uint32_t kShared = kCountShards - kOwnedShards;
  return kOwnedShards + sharers.fetch_add(1, std::memory_order_relaxed) % kShared;
}

// A thread's ownership of its shard.
class ShardLease {
 public:
  ShardLease() {
    uint32_t before = owned.load(std::memory_order_relaxed);
    while (before != kAllOwned) {
      const auto free = static_cast<uint32_t>(std::countr_one(before));
      // The acquire pairs with the last owner's release: this thread adds to that owner's counts.
      if (owned.compare_exchange_weak(before, before | (uint32_t{1} << free),
                                      std::memory_order_acquire, std::memory_order_relaxed)) {
        thread_shard = free;
        return;
      }
    }
    thread_shard = SharedShard();
  }

  ~ShardLease() {
    const uint32_t shard = thread_shard;
    if (shard >= kOwnedShards) return;
    thread_shard = SharedShard();  // for counts while the thread ends
    owned.fetch_and(~(uint32_t{1} << shard), std::memory_order_release);
  }

  ShardLease(const ShardLease&) = delete;
  ShardLease& operator=(const ShardLease&) = delete;
};

}  // namespace

uint32_t TakeShard() {
  static thread_local const ShardLease lease;
  return thread_shard;
}

}  // namespace millrace::server::detail
