#include "mps_runtime/graph_cache.h"

#include <utility>

namespace millrace::runtime {
namespace {

// One writer: no read-modify-write instruction is needed.
void Increment(std::atomic<uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Mix(size_t& seed, size_t value) {
  seed ^= value + size_t{0x9e3779b97f4a7c15} + (seed << 6) + (seed >> 2);
}

}  // namespace

size_t GraphKeyHash::operator()(const GraphKey& key) const {
  size_t seed = std::hash<std::string>()(key.model);
  Mix(seed, std::hash<std::string>()(key.entry_point));
  Mix(seed, std::hash<int64_t>()(key.shape_bucket));
  Mix(seed, std::hash<uint64_t>()(key.instance));
  return seed;
}

uint64_t NextInstance() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

GraphCache::GraphCache(Limits limits) : limits_(limits) {}

GraphEntry* GraphCache::Find(const GraphKey& key) {
  const auto found = index_.find(key);
  if (found == index_.end()) {
    Increment(published_.misses);
    return nullptr;
  }
  Increment(published_.hits);
  lru_.splice(lru_.begin(), lru_, found->second);
  return found->second->entry.get();
}

GraphEntry* GraphCache::Insert(const GraphKey& key, std::unique_ptr<GraphEntry> entry) {
  if (const auto found = index_.find(key); found != index_.end()) Drop(found->second);
  const size_t bytes = entry->SizeBytes();
  if (bytes > limits_.max_bytes || limits_.max_entries == 0) {
    PublishSize();
    return nullptr;
  }
  // Make room first, so that a device that is short of memory holds the old and the new entry
  // together no longer than needed.
  while (!lru_.empty() &&
         (lru_.size() >= limits_.max_entries || bytes_ > limits_.max_bytes - bytes)) {
    Drop(std::prev(lru_.end()));
    Increment(published_.evictions);
  }
  lru_.push_front(Node{key, std::move(entry), bytes});
  index_.emplace(key, lru_.begin());
  bytes_ += bytes;
  PublishSize();
  return lru_.front().entry.get();
}

void GraphCache::Clear() {
  index_.clear();
  lru_.clear();
  bytes_ = 0;
  PublishSize();
}

GraphCacheStats GraphCache::stats() const {
  GraphCacheStats stats;
  stats.entries = published_.entries.load(std::memory_order_relaxed);
  stats.bytes = published_.bytes.load(std::memory_order_relaxed);
  stats.hits = published_.hits.load(std::memory_order_relaxed);
  stats.misses = published_.misses.load(std::memory_order_relaxed);
  stats.evictions = published_.evictions.load(std::memory_order_relaxed);
  return stats;
}

void GraphCache::Drop(List::iterator node) {
  bytes_ -= node->bytes;
  index_.erase(node->key);
  lru_.erase(node);
}

void GraphCache::PublishSize() {
  published_.entries.store(lru_.size(), std::memory_order_relaxed);
  published_.bytes.store(bytes_, std::memory_order_relaxed);
}

}  // namespace millrace::runtime
