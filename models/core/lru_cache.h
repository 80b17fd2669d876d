#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "mps_runtime/base/mutex.h"

namespace millrace::models {

struct LruLimits {
  uint64_t max_bytes = 0;  // with the overhead of entries; 0: nothing is cached
  size_t max_entries = 0;  // 0: nothing is cached
};

struct LruStats {
  size_t entries = 0;
  uint64_t bytes = 0;
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t evictions = 0;
};

// A least-recently-used cache of constant values by a string of bytes. Its entries are divided
// among shards, each of which has its part of the limits, so a value may take that part at most.
// Thread-safe; a lock is held for tens of nanoseconds, and never while a value is freed.
template <typename Value, size_t kShards>
class LruCache {
 public:
  explicit LruCache(const LruLimits& limits)
      : limits_{limits.max_bytes / kShards,
                limits.max_entries / kShards + (limits.max_entries % kShards == 0 ? 0 : 1)} {}

  // Returns false if nothing is ever kept.
  bool on() const { return limits_.max_bytes != 0 && limits_.max_entries != 0; }
  // Returns true if a value of that many bytes can be kept under a key of that many.
  bool HasRoomFor(uint64_t value_bytes, size_t key_bytes) const {
    return limits_.max_entries != 0 && kEntryBytes + key_bytes <= limits_.max_bytes &&
           value_bytes <= limits_.max_bytes - kEntryBytes - key_bytes;
  }

  // Returns the value, which stays valid after it is evicted; null if there is none.
  std::shared_ptr<const Value> Find(std::string_view key) {
    Shard& shard = ShardOf(key);
    MutexLock lock(shard.mu);
    const auto found = shard.index.find(key);
    if (found == shard.index.end()) {
      ++shard.stats.misses;
      return nullptr;
    }
    ++shard.stats.hits;
    shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
    return {*found->second, &(*found->second)->value};
  }

  // Adds a value that takes that many bytes, unless there is one with this key or it has no room.
  void Insert(std::string key, Value value, uint64_t value_bytes) {
    if (!HasRoomFor(value_bytes, key.size())) return;
    const uint64_t bytes = kEntryBytes + key.size() + value_bytes;
    Entries added;
    added.push_back(std::make_shared<const Entry>(std::move(key), std::move(value), bytes));
    const std::string_view known_as = added.front()->key;
    Shard& shard = ShardOf(known_as);
    Entries evicted;  // freed without the lock
    MutexLock lock(shard.mu);
    // Another request may have computed it at the same time.
    if (!shard.index.emplace(known_as, added.begin()).second) return;
    shard.entries.splice(shard.entries.begin(), added);
    ++shard.stats.entries;
    shard.stats.bytes += bytes;
    while (shard.stats.bytes > limits_.max_bytes || shard.stats.entries > limits_.max_entries) {
      const Entry& last = *shard.entries.back();
      shard.index.erase(last.key);
      shard.stats.bytes -= last.bytes;
      --shard.stats.entries;
      ++shard.stats.evictions;
      evicted.splice(evicted.begin(), shard.entries, std::prev(shard.entries.end()));
    }
  }

  LruStats stats() const {
    LruStats total;
    for (const Shard& shard : shards_) {
      MutexLock lock(shard.mu);
      total.entries += shard.stats.entries;
      total.bytes += shard.stats.bytes;
      total.hits += shard.stats.hits;
      total.misses += shard.stats.misses;
      total.evictions += shard.stats.evictions;
    }
    return total;
  }

 private:
  // The size of an entry besides its key and value: nodes of the list and the index, and their
  // allocations.
  static constexpr size_t kEntryBytes = 256;

  struct Entry {
    Entry(std::string its_key, Value its_value, uint64_t its_bytes)
        : key(std::move(its_key)), value(std::move(its_value)), bytes(its_bytes) {}

    const std::string key;
    const Value value;
    const uint64_t bytes;
  };
  using Entries = std::list<std::shared_ptr<const Entry>>;
  // The entries whose keys have the same hash remainder.
  struct Shard {
    mutable Mutex mu;
    Entries entries MILLRACE_GUARDED_BY(mu);  // the most recently used first
    // Keys are views of the entries' keys.
    std::unordered_map<std::string_view, typename Entries::iterator> index MILLRACE_GUARDED_BY(mu);
    LruStats stats MILLRACE_GUARDED_BY(mu);
  };

  Shard& ShardOf(std::string_view key) {
    return shards_[std::hash<std::string_view>()(key) % kShards];
  }

  const LruLimits limits_;  // the limits of each shard
  std::array<Shard, kShards> shards_;
};

}  // namespace millrace::models
