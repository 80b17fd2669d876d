#include "models/text/chinese/chinese_g2p.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "models/core/errors.h"
#include "models/text/ascii.h"
#include "models/text/chinese/chinese_heteronyms.h"
#include "models/text/chinese/chinese_text.h"
#include "models/text/chinese/chinese_words.h"
#include "models/text/chinese/pinyin.h"
#include "models/text/chinese/tone_sandhi.h"
#include "models/text/sign_names.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// The names of Latin letters in misaki's symbols of English.
constexpr std::array<std::string_view, 26> kLetterPhonemes = {
    "ˈA",  "bˈi", "sˈi", "dˈi", "ˈi",       "ˈɛf",  "ʤˈi", "ˈAʧ",  "ˈI",
    "ʤˈA", "kˈA", "ˈɛl", "ˈɛm", "ˈɛn",      "ˈO",   "pˈi", "kjˈu", "ˈɑɹ",
    "ˈɛs", "tˈi", "jˈu", "vˈi", "dˈʌbᵊlju", "ˈɛks", "wˈI", "zˈi"};

struct ChineseMark {
  std::string_view spoken;
  bool opens = false;
  bool attached = false;  // to the words beside it, without a space
};

constexpr SignName<ChineseMark> kChineseMarks[] = {{U"，、,", {","}},
                                                   {U"。．.", {"."}},
                                                   {U"！!", {"!"}},
                                                   {U"？?", {"?"}},
                                                   {U"：:", {":"}},
                                                   {U"；;", {";"}},
                                                   {U"…", {"…"}},
                                                   {U"—–", {"—", false, true}},
                                                   {U"“", {"“", true, true}},
                                                   {U"”", {"”", false, true}},
                                                   {U"«《「『【", {"“", true}},
                                                   {U"»》」』】", {"”"}},
                                                   {U"（(", {"(", true}},
                                                   {U"）)", {")"}}};

ChineseMark MarkOfChinese(char32_t c) { return NameOfSign(kChineseMarks, c); }

bool IsLatin(char32_t c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// English words and their phonemes.
using EnglishWords = std::map<std::string, std::string, std::less<>>;

// Returns the words of the text that are no abbreviations, without their phonemes: "iPhone", but
// not "APP", "km" and "x". All of them are at most kMaxWordBytes long.
EnglishWords FindEnglishWords(std::u32string_view text) {
  constexpr size_t kMaxWordBytes = 64;
  constexpr size_t kMinWordBytes = 3;
  EnglishWords words;
  for (size_t at = 0; at < text.size(); ++at) {
    std::string word;
    while (at < text.size() && IsLatin(text[at])) word += static_cast<char>(text[at++]);
    const bool spoken = word.find_first_of("aeiouyAEIOUY") != std::string::npos &&
                        std::ranges::any_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
    if (spoken && word.size() >= kMinWordBytes && word.size() <= kMaxWordBytes)
      words.try_emplace(std::move(word));
  }
  return words;
}

class ChineseSpeaker {
 public:
  ChineseSpeaker(const PlacedText& text, const ChineseLexicon& lexicon, const EnglishWords& english)
      : text_(text), lexicon_(lexicon), english_(english) {}

  PhonemeText Speak() {
    for (size_t i = 0; i < text_.text.size();) {
      const char32_t c = text_.text[i];
      if (IsChineseCharacter(c)) {
        i = SpeakCharacters(i);
      } else if (const size_t end = SpeakPinyin(i); end > i) {
        i = end;
      } else if (IsLatin(c)) {
        i = SpeakLetters(i);
      } else {
        SpeakMark(MarkOfChinese(c));
        ++i;
      }
    }
    while (result_.phonemes.ends_with(' ')) result_.phonemes.pop_back();
    return std::move(result_);
  }

 private:
  void Divide(char divider = ' ') {
    std::string& phonemes = result_.phonemes;
    if (!phonemes.empty() && !phonemes.ends_with(' ') && !phonemes.ends_with("“") &&
        !phonemes.ends_with('('))
      phonemes += divider;
  }

  void SpeakMark(const ChineseMark& mark) {
    if (mark.spoken.empty()) return Divide();
    if (mark.opens) {
      if (!mark.attached) Divide();
      result_.phonemes += mark.spoken;
      return;
    }
    while (result_.phonemes.ends_with(' ')) result_.phonemes.pop_back();
    result_.phonemes += mark.spoken;
    if (!mark.attached) result_.phonemes += ' ';
  }

  // Adds a word of the characters from `begin` to `end`. Words that stand for one number are one.
  void AddWord(size_t begin, size_t end, std::string_view spoken, char divider) {
    if (spoken.empty()) return;
    if (!result_.phonemes.ends_with("”") && !result_.phonemes.ends_with("—")) Divide(divider);
    PhonemeWord word{text_.begins[begin], text_.ends[end - 1], result_.phonemes.size(), 0};
    result_.phonemes += spoken;
    word.phonemes_end = result_.phonemes.size();
    if (!result_.words.empty() && word.begin < result_.words.back().end) {
      result_.words.back().end = std::max(result_.words.back().end, word.end);
      result_.words.back().phonemes_end = word.phonemes_end;
    } else {
      result_.words.push_back(word);
    }
  }

  // Adds a word in pinyin and returns its end; `begin` if there is none.
  size_t SpeakPinyin(size_t begin) {
    if (begin > 0 && IsLatin(text_.text[begin - 1])) return begin;
    const PinyinWord word = ReadPinyin(text_.text, begin, [this](std::string_view syllable) {
      return !Phonemes(std::string(syllable)).empty();
    });
    if (word.syllables.empty()) return begin;
    std::string phonemes;
    for (const std::string& syllable : word.syllables) phonemes += Phonemes(syllable);
    AddWord(begin, word.end, phonemes, ' ');
    return word.end;
  }

  size_t SpeakLetters(size_t begin) {
    size_t end = begin;
    std::string word;
    while (end < text_.text.size() && IsLatin(text_.text[end]))
      word += static_cast<char>(text_.text[end++]);
    const auto known = english_.find(word);
    std::string spoken = known == english_.end() ? "" : known->second;
    for (size_t i = 0; i < word.size() && (known == english_.end() || known->second.empty()); ++i) {
      if (i > 0) spoken += ' ';
      spoken += kLetterPhonemes[static_cast<size_t>(AsciiLower(word[i]) - 'a')];
    }
    AddWord(begin, end, spoken, ' ');
    return end;
  }

  size_t SpeakCharacters(size_t begin) {
    std::string run;
    size_t end = begin;
    for (; end < text_.text.size() && IsChineseCharacter(text_.text[end]); ++end)
      run += EncodeUtf8(text_.text[end]);
    std::vector<ChineseReading> words;
    for (const std::string_view word : DivideChinese(run, lexicon_))
      words.push_back({word, Syllables(word), FirstPart(word)});
    ChooseReadings(lexicon_, words);
    if (lexicon_.marks_spoken_tones()) ChangeTones(words);
    // The symbols of version 1.1 have a sign between words that nothing divides.
    char divider = ' ';
    for (const ChineseReading& word : words) {
      std::string phonemes;
      for (const std::string& syllable : word.syllables) phonemes += Phonemes(syllable);
      if (lexicon_.marks_spoken_tones()) JoinEnding(word, phonemes);
      AddWord(begin, begin + word.word.size() / kChineseCharacterBytes, phonemes, divider);
      if (lexicon_.marks_spoken_tones()) divider = '/';
      begin += word.word.size() / kChineseCharacterBytes;
    }
    return end;
  }

  // Makes the ending 儿, which has no tone of its own, a part of the syllable before it.
  void JoinEnding(const ChineseReading& word, std::string& phonemes) const {
    constexpr std::string_view kEnding = "er5";
    const size_t ending = Phonemes(std::string(kEnding)).size();
    if (word.syllables.size() < 2 || word.syllables.back() != kEnding || ending == 0 ||
        phonemes.size() <= ending)
      return;
    phonemes.resize(phonemes.size() - ending);
    phonemes.insert(phonemes.size() - 1, "R");
  }

  // Returns the phonemes of a syllable, also with a tone that no word of the lexicon has in it.
  std::string Phonemes(std::string syllable) const {
    std::string phonemes(lexicon_.Phonemes(syllable));
    if (!phonemes.empty() || syllable.empty() || !lexicon_.marks_spoken_tones()) return phonemes;
    const char spoken = syllable.back();
    for (char tone = '1'; tone <= '5' && phonemes.empty(); ++tone) {
      syllable.back() = tone;
      phonemes = lexicon_.Phonemes(syllable);
    }
    if (!phonemes.empty()) phonemes.back() = spoken;
    return phonemes;
  }

  // Returns how many characters of a word of three are a word with or before the other ones.
  size_t FirstPart(std::string_view word) const {
    constexpr size_t kTwo = 2 * kChineseCharacterBytes;
    if (word.size() != kTwo + kChineseCharacterBytes) return 0;
    const auto is_word = [this](std::string_view part) {
      const auto found = lexicon_.Find(part);
      return found && found->frequency > 0;
    };
    if (is_word(word.substr(0, kTwo))) return 2;
    return is_word(word.substr(kChineseCharacterBytes)) ? 1 : 0;
  }

  // Returns the syllables of a word: of the longest parts that have a reading of their own.
  std::vector<std::string> Syllables(std::string_view word) const {
    std::vector<std::string> syllables;
    for (size_t at = 0; at < word.size();) {
      size_t end = at;
      std::string_view pinyin;
      for (size_t to = at + 3; to <= word.size(); to += 3) {
        const std::string_view part = word.substr(at, to - at);
        if (const auto found = lexicon_.Find(part); found && !found->pinyin.empty()) {
          pinyin = found->pinyin;
          end = to;
        }
        if (!lexicon_.HasPrefix(part)) break;
      }
      for (const absl::string_view syllable :
           absl::StrSplit(absl::string_view(pinyin.data(), pinyin.size()), ' '))
        syllables.emplace_back(syllable.data(), syllable.size());
      at = std::max(end, at + 3);
    }
    return syllables;
  }

  const PlacedText& text_;
  const ChineseLexicon& lexicon_;
  const EnglishWords& english_;
  PhonemeText result_;
};

}  // namespace

ChineseG2p::ChineseG2p(ChineseLexicon lexicon, std::shared_ptr<const WordFallback> english)
    : lexicon_(std::move(lexicon)), english_(std::move(english)) {}

absl::StatusOr<PhonemeText> ChineseG2p::Phonemize(std::string_view text) const {
  MILLRACE_ASSIGN_OR_RETURN(const auto written, WriteChineseOut(text));
  EnglishWords english;
  if (english_ != nullptr) english = FindEnglishWords(written.text);
  if (!english.empty()) {
    std::vector<std::string> words;
    words.reserve(english.size());
    for (const auto& [word, phonemes] : english) words.push_back(word);
    MILLRACE_ASSIGN_OR_RETURN(auto spoken, english_->Phonemize(words));
    size_t i = 0;
    for (auto& [word, phonemes] : english) phonemes = std::move(spoken[i++]);
  }
  return ChineseSpeaker(written, lexicon_, english).Speak();
}

}  // namespace millrace::models
