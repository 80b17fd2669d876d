#include "models/text/chinese/chinese_lexicon.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "models/core/errors.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr std::string_view kPlaces = "BMES";
constexpr size_t kMostStates = 1024;

std::string_view FirstField(std::string_view line) { return line.substr(0, line.find('\t')); }

bool ParseLogarithm(absl::string_view text, double& value) {
  return absl::SimpleAtod(text, &value) && value <= 0;
}

}  // namespace

absl::StatusOr<ChineseLexicon> ChineseLexicon::Open(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound(path.string(), ": cannot be read");
  ChineseLexicon lexicon;
  lexicon.text_.assign(std::istreambuf_iterator<char>(file), {});
  MILLRACE_RETURN_IF_ERROR(lexicon.Parse(path));
  return lexicon;
}

absl::Status ChineseLexicon::Parse(const std::filesystem::path& path) {
  const std::string_view text(text_.data(), text_.size());
  if (text.size() > UINT32_MAX || !IsValidUtf8(text))
    return DataLoss(path.string(), ": is not text in UTF-8");
  std::string_view section;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    ++number;
    if (line.starts_with('[')) {
      section = line;
    } else if (!ParseLine(section, at, line)) {
      return DataLoss(path.string(), ": line ", number, " is damaged, in the section '", section,
                      "'");
    }
    at = end + 1;
  }
  if (transitions_.empty()) transitions_.assign(states() * states(), kNever);
  if (total_ <= 0 || words_.empty() || syllables_.empty()) {
    return DataLoss(path.string(), ": has no words, no syllables, or no sum of frequencies");
  }
  return absl::OkStatus();
}

bool ChineseLexicon::ParseLine(std::string_view section, size_t begin, std::string_view line) {
  const std::vector<absl::string_view> fields =
      absl::StrSplit(absl::string_view(line.data(), line.size()), '\t');
  if (section == "[total]") return absl::SimpleAtod(fields[0], &total_) && total_ > 0;
  const std::string_view key = FirstField(line);
  if (section == "[words]") {
    uint64_t frequency = 0;
    if (fields.size() != 3 || key.empty() || !absl::SimpleAtoi(fields[1], &frequency)) return false;
    if (!words_.empty() && FirstField(LineAt(words_.back())) >= key) return false;
    words_.push_back(static_cast<uint32_t>(begin));
    return true;
  }
  if (section == "[syllables]") {
    if (fields.size() != 2) return false;
    const char last = fields[1].empty() ? '\0' : fields[1].back();
    marks_spoken_tones_ = marks_spoken_tones_ || (last >= '1' && last <= '5');
    return syllables_.emplace(key, std::string_view(fields[1].data(), fields[1].size())).second;
  }
  if (section == "[emissions]") {
    std::vector<State> emissions;
    for (size_t i = 1; i + 1 < fields.size(); i += 2) {
      State emission{FindState({fields[i].data(), fields[i].size()})};
      if (emission.state == states() || !ParseLogarithm(fields[i + 1], emission.logarithm))
        return false;
      emissions.push_back(emission);
    }
    return fields.size() % 2 == 1 && emissions_.emplace(key, std::move(emissions)).second;
  }
  if (section == "[start]") {
    if (fields.size() != 2 || key.empty() || kPlaces.find(key[0]) == kPlaces.npos ||
        FindState(key) < states() || states() == kMostStates)
      return false;
    state_names_.push_back(key);
    return ParseLogarithm(fields[1], start_.emplace_back());
  }
  if (section != "[transitions]" || fields.size() != 3) return false;
  if (transitions_.empty()) transitions_.assign(states() * states(), kNever);
  const size_t from = FindState(key);
  const size_t to = FindState({fields[1].data(), fields[1].size()});
  return from < states() && to < states() && transitions_.size() == states() * states() &&
         ParseLogarithm(fields[2], transitions_[from * states() + to]);
}

size_t ChineseLexicon::FindState(std::string_view name) const {
  return static_cast<size_t>(std::ranges::find(state_names_, name) - state_names_.begin());
}

std::string_view ChineseLexicon::LineAt(size_t begin) const {
  const std::string_view text(text_.data(), text_.size());
  return text.substr(begin, text.find('\n', begin) - begin);
}

size_t ChineseLexicon::LowerBound(std::string_view word) const {
  const auto at = std::partition_point(words_.begin(), words_.end(), [&](uint32_t begin) {
    return FirstField(LineAt(begin)) < word;
  });
  return static_cast<size_t>(at - words_.begin());
}

std::optional<ChineseWord> ChineseLexicon::Find(std::string_view word) const {
  const size_t index = LowerBound(word);
  if (index == words_.size()) return std::nullopt;
  const std::string_view line = LineAt(words_[index]);
  if (FirstField(line) != word) return std::nullopt;
  const std::string_view rest = line.substr(word.size() + 1);
  ChineseWord found;
  const std::string_view frequency = FirstField(rest);
  if (!absl::SimpleAtoi(absl::string_view(frequency.data(), frequency.size()), &found.frequency))
    return std::nullopt;
  found.pinyin = rest.substr(frequency.size() + 1);
  return found;
}

bool ChineseLexicon::HasPrefix(std::string_view characters) const {
  const size_t index = LowerBound(characters);
  return index < words_.size() && LineAt(words_[index]).starts_with(characters);
}

std::string_view ChineseLexicon::Phonemes(std::string_view syllable) const {
  const auto found = syllables_.find(syllable);
  return found == syllables_.end() ? std::string_view() : found->second;
}

std::span<const ChineseLexicon::State> ChineseLexicon::Emissions(std::string_view character) const {
  const auto found = emissions_.find(character);
  if (found == emissions_.end()) return {};
  return found->second;
}

}  // namespace millrace::models
