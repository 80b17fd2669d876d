#include "models/synthesis/voice_config.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace millrace::models {
namespace {

constexpr std::string_view kStart = "^";
constexpr std::string_view kPad = "_";
constexpr std::string_view kEnd = "$";
constexpr int64_t kMaxId = 1 << 20;
constexpr int kMinSampleRate = 8000;
constexpr int kMaxSampleRate = 192000;

void ReadPhonemes(const nlohmann::json& table, VoiceConfig& config) {
  for (const auto& [phoneme, ids] : table.items()) {
    if (phoneme.empty()) continue;
    config.phoneme_ids[phoneme] = ids.get<std::vector<int64_t>>();
    config.longest_phoneme = std::max(config.longest_phoneme, phoneme.size());
  }
}

// Empty when all is well.
std::string FindMistake(const VoiceConfig& config) {
  if (config.sample_rate < kMinSampleRate || config.sample_rate > kMaxSampleRate) {
    return absl::StrCat("audio.sample_rate is ", config.sample_rate, ", allowed are ",
                        kMinSampleRate, "..", kMaxSampleRate);
  }
  if (config.espeak_voice.empty() || config.espeak_voice.starts_with('-'))
    return "espeak.voice is not the name of a voice";
  for (float scale : {config.noise_scale, config.length_scale, config.noise_w}) {
    if (!std::isfinite(scale) || scale < 0) return "inference: a scale is negative or not finite";
  }
  if (config.length_scale == 0) return "inference.length_scale is 0";
  for (std::string_view special : {kStart, kPad, kEnd}) {
    const auto found = config.phoneme_ids.find(special);
    if (found == config.phoneme_ids.end() || found->second.empty()) {
      return absl::StrCat("phoneme_id_map has no '", std::string(special), "'");
    }
  }
  for (const auto& [phoneme, ids] : config.phoneme_ids) {
    for (int64_t id : ids) {
      if (id < 0 || id > kMaxId)
        return absl::StrCat("phoneme_id_map: '", phoneme, "' has the id ", id);
    }
  }
  return "";
}

size_t CharacterBytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

absl::StatusOr<VoiceConfig> VoiceConfig::Read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) return absl::NotFoundError(absl::StrCat(file.string(), ": cannot read"));
  VoiceConfig config;
  try {
    const nlohmann::json json = nlohmann::json::parse(stream);
    config.sample_rate = json.at("audio").at("sample_rate").get<int>();
    config.espeak_voice = json.at("espeak").at("voice").get<std::string>();
    const nlohmann::json& inference = json.at("inference");
    config.noise_scale = inference.value("noise_scale", config.noise_scale);
    config.length_scale = inference.value("length_scale", config.length_scale);
    config.noise_w = inference.value("noise_w", config.noise_w);
    config.speakers = json.value("num_speakers", int64_t{1});
    if (json.contains("speaker_id_map")) json.at("speaker_id_map").get_to(config.speaker_ids);
    ReadPhonemes(json.at("phoneme_id_map"), config);
  } catch (const nlohmann::json::exception& error) {
    return absl::DataLossError(
        absl::StrCat(file.string(), ": not the JSON file of a Piper voice: ", error.what()));
  }
  if (std::string mistake = FindMistake(config); !mistake.empty()) {
    return absl::DataLossError(absl::StrCat(file.string(), ": ", mistake));
  }
  return config;
}

std::vector<int64_t> VoiceConfig::ToIds(std::string_view phonemes) const {
  std::vector<int64_t> ids = phoneme_ids.find(kStart)->second;
  const std::vector<int64_t>& pad = phoneme_ids.find(kPad)->second;
  ids.insert(ids.end(), pad.begin(), pad.end());
  while (!phonemes.empty()) {
    size_t length = std::min(longest_phoneme, phonemes.size());
    auto found = phoneme_ids.end();
    for (; length > 0 && found == phoneme_ids.end(); --length)
      found = phoneme_ids.find(phonemes.substr(0, length));
    if (found == phoneme_ids.end()) {
      phonemes.remove_prefix(std::min(CharacterBytes(phonemes.front()), phonemes.size()));
      continue;
    }
    phonemes.remove_prefix(found->first.size());
    ids.insert(ids.end(), found->second.begin(), found->second.end());
    ids.insert(ids.end(), pad.begin(), pad.end());
  }
  const std::vector<int64_t>& end = phoneme_ids.find(kEnd)->second;
  ids.insert(ids.end(), end.begin(), end.end());
  return ids;
}

int64_t VoiceConfig::largest_id() const {
  int64_t largest = 0;
  for (const auto& [phoneme, ids] : phoneme_ids) {
    for (int64_t id : ids) largest = std::max(largest, id);
  }
  return largest;
}

}  // namespace millrace::models
