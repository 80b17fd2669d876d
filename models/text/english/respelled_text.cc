#include "models/text/english/respelled_text.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/part_of_speech.h"
#include "models/text/written_words.h"

namespace millrace::models {
namespace {

// A word whose sound depends on its part of speech, where espeak-ng does not distinguish them.
struct Heteronym {
  std::string_view word;
  PartOfSpeech part;
  std::string_view respelled;
};

constexpr std::array<Heteronym, 14> kHeteronyms = {{
    {"abuse", PartOfSpeech::kVerb, "abuze"},
    {"close", PartOfSpeech::kVerb, "cloze"},
    {"excuse", PartOfSpeech::kVerb, "excuze"},
    {"house", PartOfSpeech::kVerb, "howz"},
    {"live", PartOfSpeech::kAdjective, "lyve"},
    {"minute", PartOfSpeech::kAdjective, "mie-newt"},
    {"produce", PartOfSpeech::kNoun, "proe-duce"},
    {"read", PartOfSpeech::kPast, "red"},
    {"read", PartOfSpeech::kVerb, "reed"},
    {"reread", PartOfSpeech::kPast, "re-red"},
    {"reuse", PartOfSpeech::kVerb, "re-yooze"},
    {"use", PartOfSpeech::kVerb, "yooze"},
    {"wind", PartOfSpeech::kVerb, "wined"},
    {"wound", PartOfSpeech::kPast, "wownd"},
}};

// The letter, which alone is an article.
constexpr std::string_view kLetterA = "eigh";

bool IsCapitals(std::string_view word) {
  if (word.empty()) return false;
  for (const char c : word) {
    if (!IsAsciiUpper(c)) return false;
  }
  return true;
}

bool IsNumberOf(std::string_view source, const SpokenWord& word) {
  return word.begin < source.size() && IsAsciiDigit(source[word.begin]);
}

// Returns true if "A" is the letter: of initials, of a code, or between others ("A/B").
bool IsLetter(std::span<const SpokenWord> words, size_t at, std::string_view source) {
  const SpokenWord& word = words[at];
  if (word.text == "A." || word.text == "a.") return true;
  if (word.text != "A") return false;
  const bool first = at == 0 || (at == 1 && words[0].text.empty()) ||
                     words[at - 1].after.find_first_of(".!?:\xE2(") != std::string::npos;
  const bool letter_follows = at + 1 < words.size() && words[at + 1].text.size() == 1 &&
                              IsAsciiUpper(words[at + 1].text[0]) && words[at + 1].text != "I";
  const bool number_follows =
      at + 1 < words.size() && words[at + 1].begin == word.end && IsNumberOf(source, words[at + 1]);
  return !first || letter_follows || number_follows;
}

// Returns the text that espeak-ng is given for words[at].
std::string Respell(std::span<const SpokenWord> words, size_t at, std::string_view source) {
  const SpokenWord& word = words[at];
  if (word.text == "Ms.") return "miz";
  if (IsLetter(words, at, source)) return std::string(kLetterA);
  // A flight's "BA" is two letters; "COVID" is a word.
  const bool code = word.text.size() == 2 && IsCapitals(word.text) && at + 1 < words.size() &&
                    words[at + 1].begin == word.end && IsNumberOf(source, words[at + 1]);
  if (code) return {word.text[0], '.', word.text[1], '.'};
  const std::string lower = AsciiLower(word.text);
  for (const Heteronym& heteronym : kHeteronyms) {
    if (heteronym.word == lower && GuessPartOfSpeech(words, at) == heteronym.part)
      return std::string(heteronym.respelled);
  }
  std::string text = word.text;
  // espeak-ng ends a sentence at a stop after a single letter, and at two stops.
  if (text.size() == 2 && text[1] == '.') text.pop_back();
  if (text.ends_with('.') && (word.after.starts_with('.') || text == "etc.")) text.pop_back();
  return text;
}

}  // namespace

RespelledText RespellForEspeak(const TextNormalizer& normalizer, std::string_view sentence) {
  const std::vector<SpokenWord> spoken = normalizer.Normalize(sentence);
  const std::vector<WrittenWord> written = SplitWrittenWords(sentence);
  RespelledText respelled;
  size_t next = 0;  // of the written words
  for (size_t i = 0; i < spoken.size(); ++i) {
    const SpokenWord& word = spoken[i];
    const std::string said = word.text.empty() ? "" : Respell(spoken, i, sentence);
    const bool apart = i > 0 && !spoken[i - 1].after.empty();
    respelled.text += said;
    respelled.text += word.after;
    if (said.empty()) continue;
    std::vector<PartToSpeak>& words = respelled.words;
    // The word may continue the written word of the one before.
    const bool same = !words.empty() && word.begin < words.back().end;
    if (!same) {
      while (next < written.size() && written[next].end <= word.begin) ++next;
      if (next < written.size() && written[next].begin < word.end) {
        words.push_back({written[next].begin, written[next].end, ""});
      } else {
        words.push_back({word.begin, word.end, ""});
      }
    }
    PartToSpeak& part = words.back();
    // A reading may take several written words; marks after them are not part of it.
    while (next < written.size() && written[next].begin < word.end) {
      part.end = std::max(part.end, written[next].end);
      ++next;
    }
    if (!part.spoken.empty() && apart) part.spoken += ' ';
    part.spoken += said;
  }
  return respelled;
}

}  // namespace millrace::models
