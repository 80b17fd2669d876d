#include "models/text/han_text.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "models/core/embedded_table.h"
#include "models/text/han_characters_text.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr std::array<std::string_view, 3> kHanLanguages = {"zh", "ja", "zh-Hant"};
using Votes = std::array<int, kHanLanguages.size()>;

struct HanEvidence {
  std::unordered_map<char32_t, Votes> characters;
  std::vector<std::pair<std::string_view, Votes>> words;
};

const HanEvidence& Known() {
  static const HanEvidence& evidence = *[] {
    auto* const known = new HanEvidence();  // never destroyed: threads may use it
    for (const auto& [characters, words, languages] : ReadTable<3>(kHanCharactersText)) {
      Votes votes{};
      ForEachWord(languages, [&votes](std::string_view language) {
        for (size_t i = 0; i < kHanLanguages.size(); ++i)
          votes.at(i) += kHanLanguages.at(i) == language;
      });
      const std::u32string all = DecodeUtf8(characters);
      for (const char32_t c : all) known->characters.emplace(c, votes);
      ForEachWord(words, [&](std::string_view word) { known->words.emplace_back(word, votes); });
    }
    return known;
  }();
  return evidence;
}

}  // namespace

void NameHan(std::string_view text, std::vector<DetectedLanguage>& found) {
  constexpr size_t kEnough = 256;  // bytes
  constexpr int kWord = 3;         // the votes of a word
  constexpr float kLikelier = 0.6F;
  if (found.empty() ||
      std::ranges::find(kHanLanguages, found.front().language) == kHanLanguages.end())
    return;
  text = text.substr(0, kEnough);
  const HanEvidence& known = Known();
  Votes votes{};
  const auto add = [&votes](const Votes& more, int weight) {
    for (size_t i = 0; i < votes.size(); ++i) votes.at(i) += weight * more.at(i);
  };
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = DecodeAt(text, at);
    if (c.value >= 0x3041 && c.value <= 0x30FF) return;  // kana
    at += c.bytes;
    if (const auto vote = known.characters.find(c.value); vote != known.characters.end())
      add(vote->second, 1);
  }
  for (const auto& [word, of] : known.words) {
    if (text.find(word) != std::string_view::npos) add(of, kWord);
  }
  const int most = std::ranges::max(votes);
  // Traditional characters would show: without them a text is a simplified one, or Japanese.
  const bool has_traditional = most > 0 && votes.at(2) == most &&
                               (votes.at(0) < most || found.front().language == "zh-Hant");
  std::vector<std::string_view> languages;
  for (size_t i = 0; i < votes.size(); ++i) {
    const bool is_spare = kHanLanguages.at(i) == "zh-Hant" && !has_traditional;
    if (votes.at(i) == most && !is_spare) languages.push_back(kHanLanguages.at(i));
  }
  const float confidence = found.front().confidence;
  found.front().language = languages.front();
  if (languages.size() == 1) return;
  found.front().confidence = kLikelier * confidence;
  found.insert(found.begin() + 1, {std::string(languages[1]), (1 - kLikelier) * confidence});
}

}  // namespace millrace::models
