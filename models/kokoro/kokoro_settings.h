#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/speech/phoneme_ids.h"

namespace millrace::kokoro {

// The file kokoro.json of a package. Immutable after it was read, so thread-safe.
struct KokoroSettings {
  int sample_rate = 0;                      // hertz
  std::vector<std::string> voices;          // at least one; the first is the default
  std::map<char32_t, int64_t> phoneme_ids;  // the id of each symbol, 1 or more; 0 marks both ends

  // Errors name the file and the field.
  static absl::StatusOr<KokoroSettings> Read(const std::filesystem::path& file);

  // Returns the id of each symbol of UTF-8 phonemes, without the marks of the ends. Symbols that
  // the model does not know are left out.
  speech::PhonemeIds ToIds(std::string_view phonemes) const;
  // Returns the symbols that have an id, in UTF-8.
  std::vector<std::string> Symbols() const;
  int64_t largest_id() const;
};

}  // namespace millrace::kokoro
