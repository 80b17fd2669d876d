#include "models/text/letter_statistics.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/core/embedded_table.h"
#include "models/text/common_words_text.h"
#include "models/text/letter_profiles_text.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr size_t kLanguages = kProfiledLanguages.size();
// The most letters of a sequence. The longest ones are only looked for at the ends of words.
constexpr size_t kLongest = 4;
// The score of a sequence that a profile lacks, by its length.
constexpr std::array<float, kLongest> kUnknown = {-10.8F, -11.5F, -11.5F, -12};
// The weight of a sequence, by its length: longer ones distinguish languages that are alike.
constexpr std::array<float, kLongest> kWeights = {0.75F, 0.75F, 1.5F, 2};
constexpr float kLevelsPerNat = 4;
// Texts of any language have some letters of others, which are rarer.
constexpr float kUsedLetter = -8;
constexpr float kStrangeLetter = -9;
// A word of a language adds this to the score of its letters: an everyday word, which is not a rare
// word of another language as well, and one that only a longer list has.
constexpr std::uint8_t kCommonWord = 16;
constexpr std::uint8_t kListedWord = 8;
// The logarithm of the frequency of a word is counted from here.
constexpr int kRareWord = 18;
// The first languages have lists of everyday words that are longer than what is known of
// frequencies: a word that they share tells them apart only if its frequency in each is known.
constexpr size_t kLongLists = 2;

using Scores = std::array<float, kLanguages>;

// A word for each language: its score if a list has it, else 0, and how much more often it occurs
// than a rare word, as a logarithm; 0: that is not known.
struct Listing {
  std::array<std::uint8_t, kLanguages> scores{};
  std::array<std::uint8_t, kLanguages> frequencies{};

  bool knows_frequencies() const {
    for (size_t i = 0; i < kLongLists; ++i) {
      if (scores.at(i) > 0 && frequencies.at(i) == 0) return false;
    }
    return true;
  }
};

class Statistics {
 public:
  Statistics() {
    ForEachSection(kLetterProfilesText, [this](std::string_view title, std::string_view text) {
      const size_t language = IndexOf(title.substr(0, title.find(' ')));
      if (title.ends_with(" words"))
        AddWords(language, text, kListedWord);
      else
        AddProfile(language, text);
    });
    ForEachSection(kCommonWordsText, [this](std::string_view title, std::string_view text) {
      AddWords(IndexOf(title), text, kCommonWord);
    });
  }

  const Scores* Find(const std::string& sequence) const {
    const auto found = sequences_.find(sequence);
    return found == sequences_.end() ? nullptr : &found->second;
  }
  const Listing* FindWord(const std::string& word) const {
    const auto found = words_.find(word);
    return found == words_.end() ? nullptr : &found->second;
  }

 private:
  // Calls take(title, text) for each part of a file that begins with a line "[title]".
  template <typename Take>
  static void ForEachSection(std::string_view file, const Take& take) {
    for (size_t begin = file.find("\n["); begin != std::string_view::npos;) {
      const size_t title = begin + 2;
      const size_t text = file.find("]\n", title);
      begin = file.find("\n[", text);
      take(file.substr(title, text - title), file.substr(text + 2, begin - text - 2));
    }
  }

  // Returns kLanguages, which no array has, if the language has no profile.
  static size_t IndexOf(std::string_view language) {
    return static_cast<size_t>(std::ranges::find(kProfiledLanguages, language) -
                               kProfiledLanguages.begin());
  }

  static std::optional<int> LevelOf(std::string_view word) {
    int level = 0;
    const char* const end = word.data() + word.size();
    return std::from_chars(word.data(), end, level).ptr == end ? std::optional(level)
                                                               : std::nullopt;
  }

  void AddProfile(size_t language, std::string_view sequences) {
    float score = 0;
    ForEachWord(sequences, [&](std::string_view word) {
      if (const std::optional<int> level = LevelOf(word)) {
        score = static_cast<float>(-*level) / kLevelsPerNat;
        return;
      }
      const size_t length = CountCodePoints(word) - 1;
      const auto [entry, is_new] = sequences_.try_emplace(std::string(word));
      if (is_new) entry->second.fill(kWeights.at(length) * kUnknown.at(length));
      entry->second.at(language) = kWeights.at(length) * score;
    });
  }

  void AddWords(size_t language, std::string_view words, std::uint8_t score) {
    int frequency = 0;
    ForEachWord(words, [&](std::string_view word) {
      if (const std::optional<int> level = LevelOf(word)) {
        frequency = kRareWord - *level;
        return;
      }
      Listing& listing = words_[std::string(word)];
      listing.scores.at(language) = std::max(listing.scores.at(language), score);
      if (frequency > 0) listing.frequencies.at(language) = static_cast<std::uint8_t>(frequency);
    });
  }

  std::unordered_map<std::string, Scores> sequences_;
  std::unordered_map<std::string, Listing> words_;
};

void Add(const Scores& scores, Scores& to) {
  for (size_t i = 0; i < kLanguages; ++i) to[i] += scores[i];
}

// Adds what a word, given as its letters between two '_', says.
void AddWord(const std::vector<std::string>& letters, const Statistics& statistics,
             LetterEvidence& evidence) {
  Scores sequences{};
  for (size_t length = 1; length <= kLongest; ++length) {
    for (size_t begin = 0; begin + length <= letters.size(); ++begin) {
      if (length == 1 && letters[begin] == "_") continue;
      if (length == kLongest && begin > 0 && begin + length < letters.size()) continue;
      std::string sequence;
      for (size_t i = begin; i < begin + length; ++i) sequence += letters[i];
      if (const Scores* scores = statistics.Find(sequence)) {
        Add(*scores, sequences);
        if (length == 1 && std::ranges::max(*scores) > kWeights[0] * kUsedLetter)
          ++evidence.known_letters;
        for (size_t i = 0; length == 1 && i < kLanguages; ++i)
          evidence.strange_letters[i] += (*scores)[i] < kWeights[0] * kStrangeLetter ? 1 : 0;
      }
    }
  }
  std::string word;
  for (size_t i = 1; i + 1 < letters.size(); ++i) word += letters[i];
  const Listing* listing = statistics.FindWord(word);
  // Plurals are not listed.
  if (listing == nullptr && word.ends_with('s')) {
    word.pop_back();
    listing = statistics.FindWord(word);
  }
  if (listing != nullptr) {
    // The letters of a word that several languages have, such as "marketing", say nothing of these.
    float best = -std::numeric_limits<float>::max();
    for (size_t i = 0; i < kLanguages; ++i) {
      if (listing->scores[i] > 0) best = std::max(best, sequences[i]);
    }
    const bool tells = listing->knows_frequencies();
    for (size_t i = 0; i < kLanguages; ++i) {
      const float score = listing->scores[i];
      if (score == 0) continue;
      sequences[i] = std::max(sequences[i], best);
      evidence.scores[i] += score + (tells ? static_cast<float>(listing->frequencies[i]) : 0);
      evidence.listed[i] += score;
      ++evidence.listed_words[i];
    }
  }
  Add(sequences, evidence.scores);
  evidence.letters += letters.size() - 2;
  ++evidence.words;
}

}  // namespace

LetterEvidence ReadLetters(std::string_view text) {
  static const Statistics& statistics = *new Statistics();  // never destroyed: threads may use it
  LetterEvidence evidence;
  std::vector<std::string> letters = {"_"};
  for (size_t at = 0; at <= text.size();) {
    const CodePoint c = DecodeAt(text, at);
    if (c.bytes > 0 && IsLetter(c.value)) {
      letters.push_back(EncodeUtf8(ToLower(c.value)));
    } else if (c.value == U'-' && letters.size() == 2 && IsLetter(DecodeAt(text, at + 1).value)) {
      // A letter before a hyphen is no word: e-mail, T-shirt.
    } else if (letters.size() > 1) {
      letters.emplace_back("_");
      AddWord(letters, statistics, evidence);
      letters.assign(1, "_");
    }
    at += std::max<size_t>(c.bytes, 1);
  }
  return evidence;
}

}  // namespace millrace::models
