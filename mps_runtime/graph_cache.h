#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

namespace millrace::runtime {

// The entry of one shape: a captured CUDA graph with its static buffers, or a compiled MPS shape.
class GraphEntry {
 public:
  virtual ~GraphEntry() = default;
  virtual size_t SizeBytes() const = 0;
};

// Identifies a compiled forward. Two forwards with equal keys may replay the same entry.
struct GraphKey {
  std::string model;         // name and version
  std::string entry_point;   // such as "encode" or "step"
  int64_t shape_bucket = 0;  // the padded size that the entry was made for
  uint64_t instance = 0;     // the load of the model whose weights it holds (NextInstance)

  friend bool operator==(const GraphKey&, const GraphKey&) = default;
};

// Returns a number that is unique among the model instances of this process. Any thread.
uint64_t NextInstance();

struct GraphKeyHash {
  size_t operator()(const GraphKey& key) const;
};

struct GraphCacheStats {
  size_t entries = 0;
  size_t bytes = 0;
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t evictions = 0;
};

// Least-recently-used cache of GraphEntry, bounded in entries and bytes. One per worker, so it has
// no lock: use it on its thread only. Find and Insert are O(1).
class GraphCache {
 public:
  struct Limits {
    size_t max_entries = 256;
    size_t max_bytes = size_t{1} << 30;
  };

  explicit GraphCache(Limits limits);

  // Returns the entry, which becomes the most recent one, or null, and counts a hit or a miss. The
  // pointer is valid until the next Insert or Clear.
  GraphEntry* Find(const GraphKey& key);
  // Takes the entry, replacing one of the same key, and evicts the oldest other entries until both
  // limits hold. An entry that alone exceeds max_bytes is not kept; then this returns null.
  GraphEntry* Insert(const GraphKey& key, std::unique_ptr<GraphEntry> entry);
  void Clear();

  // Any thread. Each figure is exact; together they may straddle a change.
  GraphCacheStats stats() const;

 private:
  struct Node {
    GraphKey key;
    std::unique_ptr<GraphEntry> entry;
    size_t bytes = 0;
  };
  using List = std::list<Node>;

  void Drop(List::iterator node);
  void PublishSize();

  const Limits limits_;
  List lru_;  // most recent first
  std::unordered_map<GraphKey, List::iterator, GraphKeyHash> index_;
  size_t bytes_ = 0;

  // Written by the owning thread only, so that plain loads and stores do.
  struct {
    std::atomic<size_t> entries{0};
    std::atomic<size_t> bytes{0};
    std::atomic<uint64_t> hits{0};
    std::atomic<uint64_t> misses{0};
    std::atomic<uint64_t> evictions{0};
  } published_;
};

}  // namespace millrace::runtime
