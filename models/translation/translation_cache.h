#pragma once

#include <atomic>
#include <cstdint>

#include "models/core/lru_cache.h"

namespace millrace::translation {

struct SentenceJob;

// A least-recently-used cache of translated sentences, shared by all models. The key is everything
// that a translation depends on: the loaded model, the source tokens, the prefix and the options. A
// cached translation is therefore the one that the model would make. Thread-safe; its locks are
// held for tens of nanoseconds.
class TranslationCache {
 public:
  using Limits = models::LruLimits;
  using Stats = models::LruStats;
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
  struct Translated;

  models::LruCache<Translated, 16> sentences_;
  std::atomic<uint64_t> models_ = 0;
};

}  // namespace millrace::translation
