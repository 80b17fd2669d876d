#include "models/core/voice_name.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "models/core/shown.h"
#include "models/core/strings.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxName = 128;

}  // namespace

std::vector<VoicePart> VoiceParts(std::string_view voice) {
  std::vector<VoicePart> parts;
  for (const absl::string_view piece : absl::StrSplit(View(voice), '+')) {
    const std::string_view part(piece.data(), piece.size());
    const size_t mark = part.find_first_of(":(");
    const bool is_bracket = mark != part.npos && part[mark] == '(';
    if (mark == part.npos || (is_bracket && !part.ends_with(')'))) {
      parts.push_back({part});
      continue;
    }
    const std::string_view weight = part.substr(mark + 1);
    parts.push_back({part.substr(0, mark), weight.substr(0, weight.size() - (is_bracket ? 1 : 0))});
  }
  return parts;
}

std::string VoiceNameMistake(std::string_view name, bool mixed) {
  const bool allowed = !name.empty() && name.size() <= kMaxName &&
                       std::ranges::none_of(name, absl::ascii_iscntrl) &&
                       (!mixed || name.find_first_of("+:(") == name.npos);
  if (allowed) return "";
  return StrCat(Shown(name), " is no name of a voice, allowed are 1..", kMaxName,
                " bytes without control characters", mixed ? ", +, : and (" : "");
}

size_t FindVoice(std::span<const std::string> voices, std::string_view name) {
  auto found = std::ranges::find(voices, name);
  if (found == voices.end()) {
    found = std::ranges::find_if(voices, [name](const std::string& voice) {
      return absl::EqualsIgnoreCase(voice, View(name));
    });
  }
  return found == voices.end() ? std::string_view::npos
                               : static_cast<size_t>(found - voices.begin());
}

std::string InOwnSpelling(std::span<const std::string> voices, std::string_view voice) {
  std::string out;
  for (const VoicePart& part : VoiceParts(voice)) {
    const size_t index = FindVoice(voices, part.name);
    if (!out.empty()) out += '+';
    out += index == std::string_view::npos ? part.name : std::string_view(voices[index]);
    if (part.weight) out += StrCat(":", *part.weight);
  }
  return out;
}

}  // namespace millrace::models
