#include "models/translation/translation_cache.h"

#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/translation/translation_engine.h"

namespace millrace::translation {
namespace {

// The size of an entry besides its tokens: nodes of the list and the index, and their allocations.
constexpr size_t kEntryBytes = 256;

template <typename T>
void Append(std::string& key, const T& value) {
  static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void Append(std::string& key, const std::vector<int32_t>& tokens) {
  Append(key, tokens.size());
  key.append(reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(int32_t));
}

// Returns a key of everything that a translation depends on.
std::string KeyOf(uint64_t model, const SentenceJob& job) {
  std::string key;
  key.reserve(96 + (job.source.size() + job.prefix.size()) * sizeof(int32_t));
  Append(key, model);
  Append(key, job.source);
  Append(key, job.prefix);
  Append(key, job.min_target);
  Append(key, job.max_target);
  Append(key, job.align);
  const SearchOptions& search = job.search;
  // If an option were missing here, the cache would return translations of other options.
  const auto& [beam_size, hypotheses, length_penalty, early_stopping, no_repeat_ngram_size,
               repetition_penalty, sample, temperature, top_k, top_p, seed] = search;
  Append(key, beam_size);
  Append(key, hypotheses);
  Append(key, length_penalty);
  Append(key, early_stopping);
  Append(key, no_repeat_ngram_size);
  Append(key, repetition_penalty);
  Append(key, sample);
  Append(key, temperature);
  Append(key, top_k);
  Append(key, top_p);
  Append(key, seed);
  return key;
}

}  // namespace

struct TranslationCache::Entry {
  std::string key;
  std::vector<int32_t> target;
  std::vector<int32_t> alignment;
  std::vector<Hypothesis> found;

  uint64_t bytes() const {
    size_t tokens = target.size() + alignment.size();
    for (const Hypothesis& hypothesis : found)
      tokens += hypothesis.tokens.size() + sizeof(Hypothesis) / sizeof(int32_t);
    return kEntryBytes + key.size() + tokens * sizeof(int32_t);
  }
};

TranslationCache::TranslationCache(const Limits& limits)
    : limits_{limits.max_bytes / kShards, (limits.max_entries + kShards - 1) / kShards} {}

TranslationCache::~TranslationCache() = default;

TranslationCache::ForModel TranslationCache::MakeForModel() {
  if (limits_.max_bytes == 0 || limits_.max_entries == 0) return {};
  return {*this, ++models_};
}

TranslationCache::Shard& TranslationCache::ShardOf(std::string_view key) {
  return shards_[std::hash<std::string_view>()(key) % kShards];
}

std::shared_ptr<const TranslationCache::Entry> TranslationCache::Find(std::string_view key) {
  Shard& shard = ShardOf(key);
  MutexLock lock(shard.mu);
  const auto found = shard.index.find(key);
  if (found == shard.index.end()) {
    ++shard.stats.misses;
    return nullptr;
  }
  ++shard.stats.hits;
  shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
  return *found->second;
}

void TranslationCache::Insert(std::shared_ptr<const Entry> entry) {
  const uint64_t bytes = entry->bytes();
  if (bytes > limits_.max_bytes) return;
  Entries added;
  added.push_back(std::move(entry));
  const std::string_view key = added.front()->key;
  Shard& shard = ShardOf(key);
  Entries evicted;  // freed without the lock
  MutexLock lock(shard.mu);
  // Another request may have translated it at the same time.
  if (!shard.index.emplace(key, added.begin()).second) return;
  shard.entries.splice(shard.entries.begin(), added);
  ++shard.stats.entries;
  shard.stats.bytes += bytes;
  while (shard.stats.bytes > limits_.max_bytes || shard.stats.entries > limits_.max_entries) {
    const Entry& last = *shard.entries.back();
    shard.index.erase(last.key);
    shard.stats.bytes -= last.bytes();
    --shard.stats.entries;
    ++shard.stats.evictions;
    evicted.splice(evicted.begin(), shard.entries, std::prev(shard.entries.end()));
  }
}

TranslationCache::Stats TranslationCache::stats() const {
  Stats total;
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

bool TranslationCache::ForModel::Find(SentenceJob& job) const {
  if (cache_ == nullptr) return false;
  const std::shared_ptr<const Entry> entry = cache_->Find(KeyOf(model_, job));
  if (entry == nullptr) return false;
  job.target = entry->target;
  job.alignment = entry->alignment;
  job.found = entry->found;
  job.done = true;
  return true;
}

void TranslationCache::ForModel::Insert(const SentenceJob& job) const {
  if (cache_ == nullptr) return;
  cache_->Insert(
      std::make_shared<Entry>(Entry{KeyOf(model_, job), job.target, job.alignment, job.found}));
}

}  // namespace millrace::translation
