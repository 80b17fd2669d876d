#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/speech/phoneme_ids.h"

namespace millrace::vits {

// The JSON file of a Piper voice. Immutable after it was read, so thread-safe.
struct VoiceConfig {
  // The most symbols that the network takes at once: attention is quadratic in them. Prose of the
  // longest unit has about half of this; digits and symbols, which are spelled out, can have far
  // more.
  static constexpr size_t kMaxSymbols = 748;

  int sample_rate = 0;  // hertz
  std::string espeak_voice;
  // Its phonemes are the letters of the text, and espeak-ng is not needed.
  bool reads_letters = false;
  float noise_scale = 0.667F;
  float length_scale = 1.0F;
  float noise_w = 0.8F;
  int64_t speakers = 1;
  std::map<std::string, int64_t> speaker_ids;  // by name; may be empty
  // A phoneme is a code point of UTF-8 in normalization form D, or a cluster of vowels that the
  // voice was trained with. The pads between the ids of one phoneme are among them.
  std::map<std::string, std::vector<int64_t>, std::less<>> phoneme_ids;
  std::vector<int64_t> start_ids;  // marks of the network, which are no phonemes
  std::vector<int64_t> pad_ids;
  std::vector<int64_t> end_ids;
  size_t longest_phoneme = 1;  // bytes

  // Errors name the file and the field.
  static absl::StatusOr<VoiceConfig> Read(const std::filesystem::path& file);

  // Returns the network's input: start, each phoneme followed by a pad, which counts as a part of
  // it, end. The longest phoneme that matches wins; symbols that the voice does not know are left
  // out.
  speech::PhonemeIds ToIds(std::string_view phonemes) const;
  int64_t largest_id() const;
  // Returns the symbols that ToIds knows, separated by spaces.
  std::string Symbols() const;
};

}  // namespace millrace::vits
