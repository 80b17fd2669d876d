#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mps_runtime/base/mutex.h"

namespace millrace::translation {

struct SentenceJob;

// A least-recently-used cache of translated sentences, shared by all models. The key is everything
// that a translation depends on: the loaded model, the source tokens, the prefix and the options. A
// cached translation is therefore the one that the model would make. Thread-safe; its locks are
// held for tens of nanoseconds.
class TranslationCache {
 public:
  struct Limits {
    uint64_t max_bytes = 0;  // with the overhead of entries; 0: nothing is cached
    size_t max_entries = 0;
  };
  struct Stats {
    size_t entries = 0;
    uint64_t bytes = 0;
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t evictions = 0;
  };
  // The cache as one loaded model sees it; a default-constructed one caches nothing. The cache must
  // outlive it.
  class ForModel {
   public:
    ForModel() = default;

    // Completes a new job if its translation is cached. Returns true if it did.
    bool Find(SentenceJob& job) const;
    // Adds the translation of a job that is done.
    void Insert(const SentenceJob& job) const;

   private:
    friend class TranslationCache;
    ForModel(TranslationCache& cache, uint64_t model) : cache_(&cache), model_(model) {}

    TranslationCache* cache_ = nullptr;
    uint64_t model_ = 0;
  };

  explicit TranslationCache(const Limits& limits);
  ~TranslationCache();

  // Makes a view for a model that is being loaded. It finds no entries of other models or of
  // earlier loads of the same model.
  ForModel MakeForModel();
  Stats stats() const;

 private:
  struct Entry;
  using Entries = std::list<std::shared_ptr<const Entry>>;
  // The entries whose keys have the same hash remainder, with their share of the limits.
  struct Shard {
    mutable Mutex mu;
    Entries entries MILLRACE_GUARDED_BY(mu);  // the most recently used first
    // Keys are views of the entries' keys.
    std::unordered_map<std::string_view, Entries::iterator> index MILLRACE_GUARDED_BY(mu);
    Stats stats MILLRACE_GUARDED_BY(mu);
  };
  static constexpr size_t kShards = 16;

  Shard& ShardOf(std::string_view key);
  std::shared_ptr<const Entry> Find(std::string_view key);
  void Insert(std::shared_ptr<const Entry> entry);

  const Limits limits_;  // of each shard
  std::array<Shard, kShards> shards_;
  std::atomic<uint64_t> models_ = 0;
};

}  // namespace millrace::translation
