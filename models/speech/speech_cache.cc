#include "models/speech/speech_cache.h"

#include <limits>
#include <utility>

#include "models/core/cache_key.h"

namespace millrace::speech {

SpeechCache::SpeechCache(uint64_t max_bytes)
    : units_({.max_bytes = max_bytes, .max_entries = std::numeric_limits<size_t>::max()}) {}

SpeechCache::ForModel SpeechCache::MakeForModel() {
  if (!units_.on()) return {};
  return {*this, ++models_};
}

std::string SpeechCache::ForModel::KeyOf(const UnitInput& input) const {
  std::string key;
  key.reserve(64 + input.ids.size_bytes() + input.voices.size() * sizeof(VoiceShare));
  // If a member were missing here, the cache would return the audio of another input.
  const auto& [ids, voices, speed, noise_scale, noise_w, seed, place] = input;
  models::AppendToKey(key, model_);
  models::AppendAllToKey(key, ids);
  models::AppendToKey(key, voices.size());
  for (const auto& [voice, weight] : voices) models::AppendToKey(key, voice, weight);
  models::AppendToKey(key, speed, noise_scale, noise_w, seed, place);
  return key;
}

std::shared_ptr<const UnitAudio> SpeechCache::ForModel::Find(std::string_view key) const {
  return cache_->units_.Find(key);
}

bool SpeechCache::ForModel::HasRoomFor(uint64_t bytes, size_t key_bytes) const {
  return cache_->units_.HasRoomFor(bytes, key_bytes);
}

void SpeechCache::ForModel::Insert(std::string key, UnitAudio audio) const {
  const uint64_t bytes = audio.bytes();
  cache_->units_.Insert(std::move(key), std::move(audio), bytes);
}

}  // namespace millrace::speech
