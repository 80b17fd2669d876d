#include "models/vits/voice_config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/regular_file.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/core/voice_name.h"
#include "models/text/unicode.h"

namespace millrace::vits {
namespace {

constexpr std::string_view kStart = "^";
constexpr std::string_view kPad = "_";
constexpr std::string_view kEnd = "$";
constexpr std::string_view kEspeak = "espeak";
constexpr std::string_view kLetters = "text";
constexpr int64_t kMaxId = 1 << 20;
constexpr int kMinSampleRate = 8000;
constexpr int kMaxSampleRate = 192000;

// Returns the phonemes of several code points that the voice was trained with.
std::set<std::string> ReadClusters(const nlohmann::json& json) {
  std::set<std::string> clusters;
  if (const auto found = json.find("vowel_clusters"); found != json.end() && !found->is_null()) {
    for (const auto& cluster : found->get<std::vector<std::vector<std::string>>>())
      clusters.insert(absl::StrJoin(cluster, ""));
  }
  return clusters;
}

// Tables may list clusters that the voice was trained without: what they stand for is noise.
void ReadPhonemes(const nlohmann::json& table, const std::set<std::string>& clusters,
                  VoiceConfig& config) {
  for (const auto& [phoneme, numbers] : table.items()) {
    if (phoneme.empty()) continue;
    const bool one = models::DecodeAt(phoneme, 0).bytes == phoneme.size();
    if (!one && (config.reads_letters || !clusters.contains(phoneme))) continue;
    auto ids = numbers.get<std::vector<int64_t>>();
    if (phoneme == kStart) {
      config.start_ids = std::move(ids);
    } else if (phoneme == kPad) {
      config.pad_ids = std::move(ids);
    } else if (phoneme == kEnd) {
      config.end_ids = std::move(ids);
    } else {
      config.phoneme_ids[phoneme] = std::move(ids);
      config.longest_phoneme = std::max(config.longest_phoneme, phoneme.size());
    }
  }
}

// Gives phonemes the ids of those that the voice speaks in their place.
void MapPhonemes(const nlohmann::json& json, VoiceConfig& config) {
  const auto found = json.find("phoneme_map");
  if (found == json.end() || found->is_null()) return;
  const auto known = config.phoneme_ids;
  for (const auto& [phoneme, others] :
       found->get<std::map<std::string, std::vector<std::string>>>()) {
    std::vector<int64_t> ids;
    for (const std::string& other : others) {
      const auto spoken = known.find(other);
      if (spoken == known.end()) continue;
      if (!ids.empty()) ids.insert(ids.end(), config.pad_ids.begin(), config.pad_ids.end());
      ids.insert(ids.end(), spoken->second.begin(), spoken->second.end());
    }
    if (ids.empty()) {
      config.phoneme_ids.erase(phoneme);
    } else {
      config.phoneme_ids[phoneme] = std::move(ids);
      config.longest_phoneme = std::max(config.longest_phoneme, phoneme.size());
    }
  }
}

struct Named {
  std::string_view phoneme;
  const std::vector<int64_t>& ids;
};

// Returns all ids of the network, its marks first.
std::vector<Named> AllIds(const VoiceConfig& config) {
  std::vector<Named> all = {
      {kStart, config.start_ids}, {kPad, config.pad_ids}, {kEnd, config.end_ids}};
  for (const auto& [phoneme, ids] : config.phoneme_ids) all.push_back({phoneme, ids});
  return all;
}

// Returns what is wrong with the config, or an empty string.
std::string FindMistake(const VoiceConfig& config) {
  if (config.sample_rate < kMinSampleRate || config.sample_rate > kMaxSampleRate) {
    return StrCat("audio.sample_rate is ", config.sample_rate, ", allowed are ", kMinSampleRate,
                  "..", kMaxSampleRate);
  }
  if (!config.reads_letters &&
      (config.espeak_voice.empty() || config.espeak_voice.starts_with('-')))
    return "espeak.voice is not the name of a voice";
  if (config.speakers < 0 || config.speakers > kMaxId) {
    return StrCat("num_speakers is ", config.speakers, ", allowed are 0..", kMaxId);
  }
  for (const auto& [speaker, id] : config.speaker_ids) {
    if (std::string mistake = models::VoiceNameMistake(speaker, /*mixed=*/false); !mistake.empty())
      return StrCat("speaker_id_map: ", mistake);
  }
  for (float scale : {config.noise_scale, config.length_scale, config.noise_w}) {
    if (!std::isfinite(scale) || scale < 0) return "inference: a scale is negative or not finite";
  }
  if (config.length_scale == 0) return "inference.length_scale is 0";
  if (config.start_ids.empty()) return StrCat("phoneme_id_map has no '", kStart, "'");
  if (config.pad_ids.empty()) return StrCat("phoneme_id_map has no '", kPad, "'");
  if (config.end_ids.empty()) return StrCat("phoneme_id_map has no '", kEnd, "'");
  for (const Named& known : AllIds(config)) {
    for (int64_t id : known.ids) {
      if (id < 0 || id > kMaxId)
        return StrCat("phoneme_id_map: '", known.phoneme, "' has the id ", id);
    }
  }
  return "";
}

}  // namespace

absl::StatusOr<VoiceConfig> VoiceConfig::Read(const std::filesystem::path& file) {
  MILLRACE_ASSIGN_OR_RETURN(const std::string text,
                            models::ReadRegularFile(file, models::kMaxSettingsBytes));
  VoiceConfig config;
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    config.sample_rate = json.at("audio").at("sample_rate").get<int>();
    const std::string kind = json.value("phoneme_type", std::string(kEspeak));
    if (kind != kEspeak && kind != kLetters) {
      return DataLoss(file.string(), ": phoneme_type is ", Shown(kind), ", allowed are '", kEspeak,
                      "' and '", kLetters, "'");
    }
    config.reads_letters = kind == kLetters;
    if (!config.reads_letters)
      config.espeak_voice = json.at("espeak").at("voice").get<std::string>();
    const nlohmann::json& inference = json.at("inference");
    config.noise_scale = inference.value("noise_scale", config.noise_scale);
    config.length_scale = inference.value("length_scale", config.length_scale);
    config.noise_w = inference.value("noise_w", config.noise_w);
    config.speakers = json.value("num_speakers", int64_t{1});
    if (json.contains("speaker_id_map")) json.at("speaker_id_map").get_to(config.speaker_ids);
    ReadPhonemes(json.at("phoneme_id_map"), ReadClusters(json), config);
    MapPhonemes(json, config);
  } catch (const nlohmann::json::exception& error) {
    return DataLoss(file.string(), ": not the JSON file of a Piper voice: ", error.what());
  }
  if (std::string mistake = FindMistake(config); !mistake.empty()) {
    return DataLoss(file.string(), ": ", mistake);
  }
  return config;
}

speech::PhonemeIds VoiceConfig::ToIds(std::string_view phonemes) const {
  speech::PhonemeIds read;
  const auto append = [&read](const std::vector<int64_t>& ids) {
    read.ids.insert(read.ids.end(), ids.begin(), ids.end());
  };
  append(start_ids);
  append(pad_ids);
  for (size_t at = 0; at < phonemes.size();) {
    const std::string_view rest = phonemes.substr(at);
    size_t length = std::min(longest_phoneme, rest.size());
    auto found = phoneme_ids.end();
    for (; length > 0 && found == phoneme_ids.end(); --length)
      found = phoneme_ids.find(rest.substr(0, length));
    if (found == phoneme_ids.end()) {
      at += models::DecodeAt(rest, 0).bytes;
      continue;
    }
    const size_t first = read.ids.size();
    append(found->second);
    append(pad_ids);
    const size_t end = at + found->first.size();
    read.symbols.push_back({at, end, first, read.ids.size()});
    at = end;
  }
  append(end_ids);
  return read;
}

int64_t VoiceConfig::largest_id() const {
  int64_t largest = 0;
  for (const Named& known : AllIds(*this)) {
    for (int64_t id : known.ids) largest = std::max(largest, id);
  }
  return largest;
}

std::string VoiceConfig::Symbols() const {
  std::string symbols;
  for (const auto& [symbol, ids] : phoneme_ids)
    absl::StrAppend(&symbols, symbols.empty() ? "" : " ", symbol);
  return symbols;
}

}  // namespace millrace::vits
