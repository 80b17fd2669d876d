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

// Remembers translations of sentences, of all models together, the last used longest. An entry
// stands for everything that its translation depends on: the loaded model, the tokens in, the
// prefix and the options; so a sentence comes out as if it had been translated again. Thread-safe;
// its locks are held for tens of nanoseconds.
class TranslationCache {
 public:
  struct Limits {
    uint64_t max_bytes = 0;  // with what keeping an entry costs; 0: nothing is kept
    size_t max_entries = 0;
  };
  struct Stats {
    size_t entries = 0;
    uint64_t bytes = 0;
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t evictions = 0;
  };
  // The cache for one loaded model; by default there is none. The cache must outlive it.
  class ForModel {
   public:
    ForModel() = default;

    // Completes a job that is new, if its translation is known.
    bool Find(SentenceJob& job) const;
    // Remembers that of a job that is done.
    void Insert(const SentenceJob& job) const;

   private:
    friend class TranslationCache;
    ForModel(TranslationCache& cache, uint64_t model) : cache_(&cache), model_(model) {}

    TranslationCache* cache_ = nullptr;
    uint64_t model_ = 0;
  };

  explicit TranslationCache(const Limits& limits);
  ~TranslationCache();

  // For a model that is being loaded: it finds nothing of any other, nor of itself loaded before.
  ForModel MakeForModel();
  Stats stats() const;

 private:
  struct Entry;
  using Entries = std::list<std::shared_ptr<const Entry>>;
  // A part of the entries, by their keys' hash, with its part of the limits.
  struct Shard {
    mutable Mutex mu;
    Entries entries MILLRACE_GUARDED_BY(mu);  // the last used first
    // Keys are views of the entries'.
    std::unordered_map<std::string_view, Entries::iterator> index MILLRACE_GUARDED_BY(mu);
    Stats stats MILLRACE_GUARDED_BY(mu);
  };
  static constexpr size_t kShards = 16;

  Shard& ShardOf(std::string_view key);
  std::shared_ptr<const Entry> Find(std::string_view key);
  void Insert(std::shared_ptr<const Entry> entry);

  const Limits limits_;  // of a shard
  std::array<Shard, kShards> shards_;
  std::atomic<uint64_t> models_ = 0;
};

}  // namespace millrace::translation
