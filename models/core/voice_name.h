#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// A part of the name of a voice, which may be a mix of several.
struct VoicePart {
  std::string_view name;
  std::optional<std::string_view> weight = {};  // as written
};

// Returns the parts of "a", "a+b", "a:0.3+b:0.7" or, as Kokoro-FastAPI writes it, "a(2)+b(1)": one
// part or more, which refer to `voice`.
std::vector<VoicePart> VoiceParts(std::string_view voice);

// Returns what is wrong with the name of a voice or of a speaker, or an empty string. mixed: it may
// stand in a mix, so it has none of the characters that divide one.
std::string VoiceNameMistake(std::string_view name, bool mixed);

// Returns the index of the voice of that name, else of the first whose name differs only in the
// case of its letters; npos if there is none.
size_t FindVoice(std::span<const std::string> voices, std::string_view name);

// Returns a voice or a mix in the spelling of those voices, with weights as in "a:2+b:1". A part
// that is none of them stays as it is.
std::string InOwnSpelling(std::span<const std::string> voices, std::string_view voice);

}  // namespace millrace::models
