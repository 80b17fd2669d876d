#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/lru_cache.h"
#include "models/speech/voice_mix.h"

namespace millrace::speech {

// The audio of a unit as the network makes it: its silence is not cut, and no pause is added.
struct UnitAudio {
  std::vector<int64_t> frames;  // the frames of each of the network's ids
  std::vector<float> samples;

  uint64_t bytes() const { return BytesOf(frames.size(), samples.size()); }
  static uint64_t BytesOf(size_t frames, size_t samples) {
    return frames * sizeof(int64_t) + samples * sizeof(float);
  }
};

// Everything that the audio of a unit depends on, besides the model.
struct UnitInput {
  std::span<const int64_t> ids;         // the phonemes, as the network takes them
  std::vector<VoiceShare> voices = {};  // by the model's own numbers
  float speed = 1;
  float noise_scale = 0;  // 0 where the model has no such setting
  float noise_w = 0;
  uint64_t seed = 0;
  uint64_t place = 0;  // says which part of the seed's noise it gets
};

// A least-recently-used cache of spoken units, shared by all models. Its key is everything that the
// audio depends on, and voices draw their noise from the seed and the place of the unit, so a
// cached unit is the one that the model would make. An entry takes four bytes a sample, and a
// quarter of the cache at most. Thread-safe; its locks are held for tens of nanoseconds.
class SpeechCache {
 public:
  using Stats = models::LruStats;
  // The cache as one loaded model sees it; a default-constructed one caches nothing. The cache must
  // outlive it.
  class ForModel {
   public:
    ForModel() = default;

    bool on() const { return cache_ != nullptr; }
    std::string KeyOf(const UnitInput& input) const;
    // These need a cache that is on. Find returns null if there is no such unit.
    std::shared_ptr<const UnitAudio> Find(std::string_view key) const;
    bool HasRoomFor(uint64_t bytes, size_t key_bytes) const;
    void Insert(std::string key, UnitAudio audio) const;

   private:
    friend class SpeechCache;
    ForModel(SpeechCache& cache, uint64_t model) : cache_(&cache), model_(model) {}

    SpeechCache* cache_ = nullptr;
    uint64_t model_ = 0;
  };

  // max_bytes: with the overhead of entries; 0: nothing is cached.
  explicit SpeechCache(uint64_t max_bytes);

  // Makes a view for a model that is being loaded. It finds no entries of other models or of
  // earlier loads of the same model.
  ForModel MakeForModel();
  Stats stats() const { return units_.stats(); }

 private:
  // Few shards, because a unit must fit into one.
  models::LruCache<UnitAudio, 4> units_;
  std::atomic<uint64_t> models_ = 0;
};

}  // namespace millrace::speech
