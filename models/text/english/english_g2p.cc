#include "models/text/english/english_g2p.h"

#include <map>
#include <optional>
#include <utility>

#include "models/core/errors.h"
#include "models/text/ascii.h"
#include "models/text/english/capitals.h"
#include "models/text/english/heteronyms.h"
#include "models/text/english/part_of_speech.h"
#include "models/text/english/phonetics.h"
#include "models/text/inline_pronunciation.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

bool HasPause(const SpokenWord& word) {
  if (word.after.empty() || word.after == " ") return false;
  // Quotes and brackets are no pauses.
  for (const std::string_view mark : {";", ":", ",", ".", "!", "?", "—", "…"}) {
    if (word.after.find(mark) != std::string::npos) return true;
  }
  return false;
}

// Returns true if phonemes begin with a vowel; nullopt if they begin with neither vowel nor
// consonant.
std::optional<bool> BeginsWithVowel(std::string_view phonemes) {
  for (size_t at = 0; at < phonemes.size();) {
    const CodePoint c = DecodeAt(phonemes, at);
    if (IsVowelSymbol(c.value)) return true;
    if (IsConsonantSymbol(c.value)) return false;
    at += c.bytes;
  }
  return std::nullopt;
}

// Returns true for "point" within a number, which is spoken lightly.
bool IsDecimalPoint(std::span<const SpokenWord> words, size_t at) {
  return words[at].text == "point" && at + 1 < words.size() &&
         words[at + 1].begin == words[at].begin;
}

void DropStress(std::string& phonemes) {
  for (const std::string_view mark : {kPrimaryStress, kSecondaryStress}) {
    const size_t found = phonemes.find(mark);
    if (found != std::string::npos) phonemes.erase(found, mark.size());
  }
}

bool IsBlankEnd(std::string_view text, bool front) {
  if (text.empty()) return false;
  return IsSpace(front ? DecodeAt(text, 0).value : DecodeBefore(text, text.size()).value);
}

void AddSpace(std::vector<SpokenWord>& words) {
  if (!words.empty() && !words.back().after.ends_with(' ')) words.back().after += ' ';
}

// Appends the words of a plain segment.
void AddPlain(const TextNormalizer& normalizer, const TextSegment& segment,
              std::vector<SpokenWord>& words) {
  if (IsBlankEnd(segment.text, true)) AddSpace(words);
  for (SpokenWord& word : normalizer.Normalize(segment.text, segment.begin)) {
    if (word.text.empty() && !words.empty()) {
      words.back().after += word.after;
    } else {
      words.push_back(std::move(word));
    }
  }
  if (IsBlankEnd(segment.text, false)) AddSpace(words);
}

// Returns the context of words[at], except for the sound of the next word.
WordContext ContextOf(std::span<const SpokenWord> words, size_t at, bool all_capitals,
                      const std::string& before, const std::string& after) {
  WordContext context;
  context.part_of_speech = GuessPartOfSpeech(words, at);
  context.first = at == 0 || (at == 1 && words[0].text.empty());
  const bool pause = HasPause(words[at]);
  context.word_follows = at + 1 < words.size() && !pause;
  context.before = before;
  context.after = context.word_follows ? std::string_view(after) : std::string_view();
  context.to_follows = context.after == "to";
  context.all_capitals = all_capitals;
  if (context.word_follows) context.vowel_follows = false;
  return context;
}

}  // namespace

PhonemeText JoinPhonemes(std::span<const PhonemeToken> tokens) {
  PhonemeText text;
  std::string& joined = text.phonemes;
  for (const PhonemeToken& token : tokens) {
    if (!token.phonemes.empty()) {
      const size_t at = joined.size();
      if (text.words.empty() || token.begin >= text.words.back().end)
        text.words.push_back({token.begin, token.end, at, at});
      text.words.back().phonemes_end = at + token.phonemes.size();
    }
    joined += token.phonemes;
    // A word without phonemes must not leave a second space.
    const bool doubled = token.phonemes.empty() && (joined.empty() || joined.ends_with(' ')) &&
                         token.after.starts_with(' ');
    joined += std::string_view(token.after).substr(doubled ? 1 : 0);
  }
  return text;
}

EnglishG2p::EnglishG2p(EnglishLexicon lexicon, Options options)
    : lexicon_(std::move(lexicon)),
      options_(std::move(options)),
      normalizer_(lexicon_.dialect()),
      pronouncer_(lexicon_) {}

absl::StatusOr<std::vector<PhonemeToken>> EnglishG2p::Phonemize(std::string_view sentence) const {
  MILLRACE_ASSIGN_OR_RETURN(auto segments,
                            SplitInlinePronunciations(sentence, options_.vocabulary));
  std::vector<SpokenWord> words;
  std::vector<std::string_view> given;
  for (const TextSegment& segment : segments) {
    if (segment.phonemes.empty()) {
      AddPlain(normalizer_, segment, words);
      given.resize(words.size());
    } else {
      words.push_back(
          {std::string(segment.text), segment.begin, segment.begin + segment.text.size(), ""});
      given.push_back(segment.phonemes);
    }
  }
  std::vector<Work> work = PronounceAlone(words, given);
  MILLRACE_RETURN_IF_ERROR(FillUnknown(words, work));
  PronounceInContext(words, work);

  std::vector<PhonemeToken> tokens;
  tokens.reserve(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    tokens.push_back({words[i].begin, words[i].end, std::move(words[i].text),
                      std::move(work[i].pronunciation.phonemes), std::move(words[i].after)});
  }
  return tokens;
}

std::vector<EnglishG2p::Work> EnglishG2p::PronounceAlone(
    std::span<const SpokenWord> words, std::span<const std::string_view> given) const {
  const auto user_words = options_.user_lexicon ? options_.user_lexicon->Current() : nullptr;
  const bool all_capitals = IsShouted(words);
  std::vector<Work> work(words.size());
  std::string before;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = AsciiLower(words[i].text);
    if (!given[i].empty()) {
      work[i] = {{std::string(given[i]), false}, true, true};
    } else if (const auto user =
                   user_words ? FindUserWord(*user_words, words[i].text) : std::nullopt) {
      work[i] = {{std::string(*user), false}, true, true};
    } else if (const auto sound =
                   dialect() == EnglishDialect::kUs ? FindHeteronym(words, i) : std::nullopt;
               sound && !sound->misaki.empty()) {
      work[i] = {{std::string(sound->misaki), false}, true, false};
    } else {
      const std::string after = i + 1 < words.size() ? AsciiLower(words[i + 1].text) : "";
      const WordContext context = ContextOf(words, i, all_capitals, before, after);
      if (auto pronunciation = pronouncer_.Pronounce(words[i].text, context)) {
        work[i] = {*std::move(pronunciation), true, false};
      }
      if (IsDecimalPoint(words, i)) DropStress(work[i].pronunciation.phonemes);
    }
    before = word;
  }
  return work;
}

absl::Status EnglishG2p::FillUnknown(std::span<const SpokenWord> words,
                                     std::vector<Work>& work) const {
  std::map<std::string_view, std::string> unknown;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (!work[i].known && word != "'s") unknown[word];
  }
  if (unknown.empty()) return absl::OkStatus();
  if (options_.fallback) {
    std::vector<std::string> asked;
    asked.reserve(unknown.size());
    for (const auto& [word, phonemes] : unknown) asked.emplace_back(word);
    MILLRACE_ASSIGN_OR_RETURN(auto answers, options_.fallback->Phonemize(asked));
    size_t i = 0;
    for (auto& [word, phonemes] : unknown) phonemes = std::move(answers[i++]);
  } else {
    for (auto& [word, phonemes] : unknown) phonemes = pronouncer_.Spell(word);
  }
  for (size_t i = 0; i < words.size(); ++i) {
    const auto answer = unknown.find(words[i].text);
    if (!work[i].known && answer != unknown.end()) work[i].pronunciation.phonemes = answer->second;
  }
  return absl::OkStatus();
}

void EnglishG2p::PronounceInContext(std::span<const SpokenWord> words,
                                    std::vector<Work>& work) const {
  const bool all_capitals = IsShouted(words);
  std::optional<bool> vowel_follows;
  for (size_t i = words.size(); i-- > 0;) {
    // "[Kokoro](/.../)'s": its sound comes from the word before.
    if (words[i].text == "'s" && i > 0 && words[i - 1].after.empty()) {
      const std::string& stem = work[i - 1].pronunciation.phonemes;
      const std::string whole = WithS(stem, lexicon_.dialect());
      if (!whole.empty()) work[i].pronunciation.phonemes = whole.substr(stem.size());
    }
    if (HasPause(words[i])) vowel_follows.reset();
    if (work[i].pronunciation.depends_on_next && !work[i].given) {
      const std::string before = i > 0 ? AsciiLower(words[i - 1].text) : "";
      const std::string after = i + 1 < words.size() ? AsciiLower(words[i + 1].text) : "";
      WordContext context = ContextOf(words, i, all_capitals, before, after);
      context.vowel_follows = vowel_follows;
      if (auto pronunciation = pronouncer_.Pronounce(words[i].text, context)) {
        work[i].pronunciation = *std::move(pronunciation);
      }
    }
    if (const auto vowel = BeginsWithVowel(work[i].pronunciation.phonemes)) vowel_follows = vowel;
  }
}

}  // namespace millrace::models
