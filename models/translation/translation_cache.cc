#include "models/translation/translation_cache.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/core/cache_key.h"
#include "models/translation/translation_engine.h"

namespace millrace::translation {
namespace {

// Returns a key of everything that a translation depends on.
std::string KeyOf(uint64_t model, const SentenceJob& job) {
  const auto append_all = [](std::string& key, const std::vector<int32_t>& tokens) {
    models::AppendAllToKey(key, std::span<const int32_t>(tokens));
  };
  std::string key;
  key.reserve(96 + (job.source.size() + job.prefix.size()) * sizeof(int32_t));
  models::AppendToKey(key, model);
  append_all(key, job.source);
  append_all(key, job.prefix);
  models::AppendToKey(key, job.min_target, job.max_target, job.align);
  const SearchOptions& search = job.search;
  // If an option were missing here, the cache would return translations of other options.
  const auto& [beam_size, hypotheses, length_penalty, early_stopping, no_repeat_ngram_size,
               repetition_penalty, sample, temperature, top_k, top_p, seed] = search;
  models::AppendToKey(key, beam_size, hypotheses, length_penalty, early_stopping,
                      no_repeat_ngram_size, repetition_penalty, sample, temperature, top_k, top_p,
                      seed);
  return key;
}

}  // namespace

struct TranslationCache::Translated {
  std::vector<int32_t> target;
  std::vector<int32_t> alignment;
  std::vector<Hypothesis> found;

  uint64_t bytes() const {
    size_t tokens = target.size() + alignment.size();
    for (const Hypothesis& hypothesis : found)
      tokens += hypothesis.tokens.size() + sizeof(Hypothesis) / sizeof(int32_t);
    return tokens * sizeof(int32_t);
  }
};

TranslationCache::TranslationCache(const Limits& limits) : sentences_(limits) {}

TranslationCache::~TranslationCache() = default;

TranslationCache::ForModel TranslationCache::MakeForModel() {
  if (!sentences_.on()) return {};
  return {*this, ++models_};
}

TranslationCache::Stats TranslationCache::stats() const { return sentences_.stats(); }

bool TranslationCache::ForModel::Find(SentenceJob& job) const {
  if (cache_ == nullptr) return false;
  const std::shared_ptr<const Translated> known = cache_->sentences_.Find(KeyOf(model_, job));
  if (known == nullptr) return false;
  job.target = known->target;
  job.alignment = known->alignment;
  job.found = known->found;
  job.done = true;
  return true;
}

void TranslationCache::ForModel::Insert(const SentenceJob& job) const {
  if (cache_ == nullptr) return;
  Translated translated{job.target, job.alignment, job.found};
  const uint64_t bytes = translated.bytes();
  cache_->sentences_.Insert(KeyOf(model_, job), std::move(translated), bytes);
}

}  // namespace millrace::translation
