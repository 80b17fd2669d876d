#include "models/kokoro/kokoro_settings.h"

#include <utf8proc.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "models/core/errors.h"
#include "models/core/regular_file.h"
#include "models/core/strings.h"
#include "models/core/voice_name.h"
#include "models/text/unicode.h"

namespace millrace::kokoro {
namespace {

constexpr int64_t kMaxId = 1 << 20;
constexpr int kMinSampleRate = 8000;
constexpr int kMaxSampleRate = 192000;

// Returns what is wrong with the settings, or an empty string.
std::string FindMistake(const KokoroSettings& settings) {
  if (settings.sample_rate < kMinSampleRate || settings.sample_rate > kMaxSampleRate) {
    return StrCat("sample_rate is ", settings.sample_rate, ", allowed are ", kMinSampleRate, "..",
                  kMaxSampleRate);
  }
  if (settings.voices.empty()) return "voices is empty";
  std::set<std::string> names;
  for (const std::string& voice : settings.voices) {
    if (std::string mistake = models::VoiceNameMistake(voice, /*mixed=*/true); !mistake.empty())
      return StrCat("voices: ", mistake);
    if (!names.insert(voice).second) return StrCat("voices: '", voice, "' is there twice");
  }
  if (settings.phoneme_ids.empty()) return "vocab is empty";
  for (const auto& [symbol, id] : settings.phoneme_ids) {
    if (id < 1 || id > kMaxId) {
      return StrCat("vocab: U+", absl::Hex(static_cast<uint32_t>(symbol), absl::kZeroPad4),
                    " has the number ", id, ", allowed are 1..", kMaxId);
    }
  }
  return "";
}

}  // namespace

absl::StatusOr<KokoroSettings> KokoroSettings::Read(const std::filesystem::path& file) {
  MILLRACE_ASSIGN_OR_RETURN(const std::string text,
                            models::ReadRegularFile(file, models::kMaxSettingsBytes));
  KokoroSettings settings;
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    settings.sample_rate = json.at("sample_rate").get<int>();
    settings.voices = json.at("voices").get<std::vector<std::string>>();
    for (const auto& [symbol, id] : json.at("vocab").items()) {
      const models::CodePoint point = models::DecodeAt(symbol, 0);
      if (symbol.empty() || point.bytes != symbol.size()) {
        return DataLoss(file.string(), ": vocab: '", symbol, "' is not one character");
      }
      settings.phoneme_ids[point.value] = id.get<int64_t>();
    }
  } catch (const nlohmann::json::exception& error) {
    return DataLoss(file.string(), ": not the JSON file of a Kokoro model: ", error.what());
  }
  if (std::string mistake = FindMistake(settings); !mistake.empty())
    return DataLoss(file.string(), ": ", mistake);
  return settings;
}

std::vector<std::string> KokoroSettings::Symbols() const {
  std::vector<std::string> symbols;
  for (const auto& [symbol, id] : phoneme_ids) {
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t count =
        utf8proc_encode_char(static_cast<utf8proc_int32_t>(symbol), bytes);
    symbols.emplace_back(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count));
  }
  return symbols;
}

speech::PhonemeIds KokoroSettings::ToIds(std::string_view phonemes) const {
  speech::PhonemeIds read;
  for (size_t at = 0; at < phonemes.size();) {
    const models::CodePoint point = models::DecodeAt(phonemes, at);
    const auto found = phoneme_ids.find(point.value);
    if (found != phoneme_ids.end()) {
      const size_t index = read.ids.size();
      read.ids.push_back(found->second);
      read.symbols.push_back({at, at + point.bytes, index, index + 1});
    }
    at += point.bytes;
  }
  return read;
}

int64_t KokoroSettings::largest_id() const {
  int64_t largest = 0;
  for (const auto& [symbol, id] : phoneme_ids) largest = std::max(largest, id);
  return largest;
}

}  // namespace millrace::kokoro
