#include "models/text/japanese/unit_builder.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/core/errors.h"
#include "models/text/ascii.h"
#include "models/text/japanese/counters.h"
#include "models/text/japanese/japanese_characters.h"
#include "models/text/japanese/kana_phonemes.h"
#include "models/text/japanese/kanji_number.h"
#include "models/text/japanese/latin_reading.h"
#include "models/text/japanese/morpheme_reading.h"
#include "models/text/japanese/reading_in_context.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

bool IsAllKatakana(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeAt(text, at);
    if (!IsKatakana(point.value)) return false;
    at += point.bytes;
  }
  return !text.empty();
}

// The units of one text.
class UnitBuilder {
 public:
  UnitBuilder(const MorphologicalAnalyzer& analyzer, const PreparedText& prepared)
      : analyzer_(analyzer), prepared_(prepared), text_(prepared.text) {}

  absl::StatusOr<std::vector<SpokenUnit>> Build() {
    MILLRACE_RETURN_IF_ERROR(Analyze(0));
    size_t reading = 0;
    for (size_t i = 0; i < morphemes_.size();) {
      while (reading < prepared_.readings.size() &&
             prepared_.readings[reading].begin < morphemes_[i].begin)
        ++reading;
      if (reading < prepared_.readings.size() &&
          prepared_.readings[reading].begin == morphemes_[i].begin) {
        const PreparedText::Reading& known = prepared_.readings[reading];
        size_t last = i;
        while (last < morphemes_.size() && morphemes_[last].end < known.end) ++last;
        // A longer word of the dictionary is known better: 一日中.
        if (last < morphemes_.size() && morphemes_[last].end == known.end) {
          units_.push_back({known.begin, known.end, Utf8(known.pronunciation), false, false});
          i = last + 1;
          ++reading;
          continue;
        }
      }
      MILLRACE_ASSIGN_OR_RETURN(const auto name, AddName(i));
      if (name > 0) {
        i += name;
        continue;
      }
      size_t taken = AddNumber(i);
      if (taken == 0) taken = AddQuestion(i);
      if (taken == 0) taken = AddLoanWord(i);
      if (taken == 0) taken = AddKanaWord(i);
      if (taken > 0) {
        i += taken;
        continue;
      }
      MILLRACE_ASSIGN_OR_RETURN(const auto behind, AddDividedKanaWord(i));
      if (behind) continue;
      MILLRACE_RETURN_IF_ERROR(AddMorpheme(morphemes_[i++]));
    }
    return std::move(units_);
  }

 private:
  // Divides the text from the character `begin` on, in place of what was there. The places of the
  // morphemes are characters from here on.
  absl::Status Analyze(size_t begin) {
    std::string utf8;
    std::vector<size_t> characters;  // the character of each byte
    for (size_t i = begin; i < text_.size(); ++i) {
      utf8 += EncodeUtf8(text_[i]);
      characters.resize(utf8.size(), i);
    }
    characters.push_back(text_.size());
    MILLRACE_ASSIGN_OR_RETURN(auto morphemes, analyzer_.Analyze(utf8));
    while (!morphemes_.empty() && morphemes_.back().end > begin) morphemes_.pop_back();
    for (Morpheme& morpheme : morphemes) {
      morpheme.begin = characters[morpheme.begin];
      morpheme.end = characters[morpheme.end];
      // A dictionary has the 分の of fractions also in 5分の休憩.
      if (Written(morpheme) == U"分の" &&
          (morpheme.end == text_.size() || !IsNumeral(text_[morpheme.end]))) {
        morphemes_.push_back(morpheme);
        morphemes_.back().pronunciation = "フン";
        morpheme.begin = --morphemes_.back().end;
        morpheme.pronunciation = "ノ";
      }
      morphemes_.push_back(std::move(morpheme));
    }
    return absl::OkStatus();
  }

  std::u32string_view Written(const Morpheme& morpheme) const {
    return text_.substr(morpheme.begin, morpheme.end - morpheme.begin);
  }

  static bool IsNumeral(char32_t c) {
    return std::u32string_view(U"〇零一二三四五六七八九十百千万億兆").find(c) !=
           std::u32string_view::npos;
  }

  bool IsNumeral(size_t i) const {
    if (i >= morphemes_.size()) return false;
    const std::u32string_view written = Written(morphemes_[i]);
    // The dictionary may have 八百 as a name.
    constexpr size_t kHundreds = 2;
    const bool name = morphemes_[i].kind != Morpheme::Kind::kNumeral;
    return (!name || (written.size() == kHundreds && written.back() == U'百')) &&
           std::ranges::all_of(written, [](char32_t c) { return IsNumeral(c); });
  }

  // Adds the number in kanji that begins with the morpheme, and its counter. Returns the number of
  // its morphemes; 0 if there is none whose reading the dictionary does not know.
  size_t AddNumber(size_t i) {
    size_t end = i;
    // The longest number, 9999兆9999億9999万9999, has 31 characters.
    constexpr size_t kMostMorphemes = 32;
    while (end - i <= kMostMorphemes && IsNumeral(end) &&
           (end == i || morphemes_[end].begin == morphemes_[end - 1].end))
      ++end;
    if (end == i || end - i > kMostMorphemes) return 0;
    const size_t begin = morphemes_[i].begin;
    const size_t number_end = morphemes_[end - 1].end;
    const auto value = ParseKanjiNumber(text_.substr(begin, number_end - begin));
    if (!value) return 0;
    size_t counter = CounterLength(text_.substr(number_end));
    const std::u32string_view rest = text_.substr(number_end);
    if (rest.starts_with(U"分の") && rest.size() > 2 && IsNumeral(rest[2])) counter = 0;
    size_t last = end;
    while (counter > 0 && last < morphemes_.size() && morphemes_[last].end < number_end + counter)
      ++last;
    if (counter > 0 && (last >= morphemes_.size() || morphemes_[last].end != number_end + counter))
      counter = 0;
    if (counter == 0 && number_end - begin == 1) return 0;
    std::u32string pronunciation =
        CountedNumber(*value, rest.substr(0, counter), text_.substr(0, begin));
    units_.push_back({begin, number_end + counter, Utf8(pronunciation), false, true});
    return (counter == 0 ? end : last + 1) - i;
  }

  // Adds 何 and the counter behind it, which it changes as 3 does: 何本 is ナンボン. Returns the
  // number of their morphemes; 0 if there are none.
  size_t AddQuestion(size_t i) {
    if (Written(morphemes_[i]) != U"何") return 0;
    constexpr std::u32string_view kThree = U"サン";
    const std::u32string_view rest = text_.substr(morphemes_[i].end);
    std::u32string_view counter = rest.substr(0, CounterLength(rest));
    if (const auto known =
            ReadingInContext(text_, morphemes_[i].begin, morphemes_[i].end + counter.size(), {});
        !known.empty())
      return AddUnit(i, morphemes_[i].end + counter.size(), Utf8(known));
    std::u32string kana;
    if (rest.starts_with(U"百") || rest.starts_with(U"千")) {
      counter = rest.substr(0, 1);
      kana = CountedNumber(counter == U"百" ? 300 : 3000, U"", {});
    } else if (!counter.empty()) {
      kana = CountedNumber(3, counter, {});
    }
    if (!kana.starts_with(kThree)) return 0;
    kana.replace(0, kThree.size(), U"ナン");
    return AddUnit(i, morphemes_[i].end + counter.size(), Utf8(kana));
  }

  // Adds a known word in Latin letters. Returns the number of its morphemes; 0 if there is none.
  size_t AddLoanWord(size_t i) {
    constexpr size_t kLongest = 16;
    const size_t begin = morphemes_[i].begin;
    if (!IsWideLatin(text_[begin]) || (begin > 0 && IsWideLatin(text_[begin - 1]))) return 0;
    // The longest one, in which a hyphen became a space: "Wi-Fi".
    std::string word;
    std::u32string kana;
    size_t end = begin;
    for (size_t at = begin; at < text_.size() && word.size() <= kLongest; ++at) {
      if (IsWideLatin(text_[at])) {
        word += static_cast<char>(text_[at] - 0xFF01 + '!');
      } else if (text_[at] != ' ') {
        break;
      }
      if (at + 1 < text_.size() && IsWideLatin(text_[at + 1])) continue;
      std::u32string found = LoanWordReading(AsciiLower(word));
      if (found.empty() || text_[at] == ' ') continue;
      kana = std::move(found);
      end = at + 1;
    }
    return kana.empty() ? 0 : AddUnit(i, end, Utf8(kana));
  }

  // Adds a word in kana that the dictionary divided. Returns the number of its morphemes; 0 if
  // there is none.
  size_t AddKanaWord(size_t i) {
    const Morpheme& first = morphemes_[i];
    if (!IsHiragana(text_[first.begin])) return 0;
    const KanaWord word = FindKanaWord(text_, first.begin);
    const size_t end = first.begin + word.written.size();
    if (word.written.empty() || end < first.end) return 0;
    // The dictionary may have the last kana and a particle as a word: ひらが なで.
    for (size_t last = i; last < morphemes_.size() && morphemes_[last].begin < end; ++last) {
      Morpheme& morpheme = morphemes_[last];
      if (morpheme.end <= end || morpheme.end != end + 1) continue;
      const std::u32string_view particle = SpokenParticle(text_[end]);
      if (particle.empty()) continue;
      units_.push_back({first.begin, end, Utf8(word.spoken), false, true});
      units_.push_back({end, end + 1, Utf8(particle), false, true});
      return last + 1 - i;
    }
    return AddUnit(i, end, Utf8(word.spoken));
  }

  // Adds a word in kana whose end and particle the dictionary has within another word, as in
  // ぎゅうにゅうをかった, and divides what is behind them anew. Returns true if there is one.
  absl::StatusOr<bool> AddDividedKanaWord(size_t i) {
    constexpr size_t kMostPerText = 8;  // each divides all that is behind it
    const size_t begin = morphemes_[i].begin;
    if (divided_again_ == kMostPerText || !IsHiragana(text_[begin])) return false;
    if (i > 0 && text_[begin] == U'は' && morphemes_[i].end > begin + 1 &&
        Pointer(Written(morphemes_[i - 1])) && !FindKanaWord(text_, begin + 1).written.empty()) {
      // これはにわです is not これ, はにわ, です.
      ++divided_again_;
      units_.push_back({begin, begin + 1, "ワ", false, true});
      morphemes_.resize(i);
      MILLRACE_RETURN_IF_ERROR(Analyze(begin + 1));
      return true;
    }
    const KanaWord word = FindKanaWord(text_, begin);
    const size_t end = begin + word.written.size();
    if (word.written.empty() || end <= morphemes_[i].begin || end + 1 >= text_.size()) return false;
    if (end == morphemes_[i].end) return false;
    const std::u32string_view particle = SpokenParticle(text_[end]);
    if (particle.empty()) return false;
    ++divided_again_;
    morphemes_.resize(i);
    units_.push_back({begin, end, Utf8(word.spoken), false, true});
    units_.push_back({end, end + 1, Utf8(particle), false, true});
    MILLRACE_RETURN_IF_ERROR(Analyze(end + 1));
    return true;
  }

  // Adds the name of a person or a place that the dictionary lacks. Returns the number of its
  // morphemes, which are divided anew where its end is within one; 0 if there is none.
  absl::StatusOr<size_t> AddName(size_t i) {
    constexpr size_t kMostPerText = 8;  // as in AddDividedKanaWord
    const KanaWord name = FindName(text_, morphemes_[i].begin);
    if (name.written.empty()) return 0;
    const size_t end = morphemes_[i].begin + name.written.size();
    if (const size_t taken = AddUnit(i, end, Utf8(name.spoken)); taken > 0) return taken;
    if (divided_again_ == kMostPerText) return 0;
    ++divided_again_;
    units_.push_back({morphemes_[i].begin, end, Utf8(name.spoken), false, true});
    // The name stays as one morpheme, so that those behind it keep their places.
    morphemes_.resize(i + 1);
    morphemes_[i].end = end;
    MILLRACE_RETURN_IF_ERROR(Analyze(end));
    return 1;
  }

  // Returns true for words that は follows as a particle.
  static bool Pointer(std::u32string_view word) {
    return word == U"これ" || word == U"それ" || word == U"あれ" || word == U"ここ" ||
           word == U"そこ" || word == U"わたし" || word == U"ぼく";
  }

  static std::u32string_view SpokenParticle(char32_t c) {
    constexpr std::u32string_view kWritten = U"でがはにのともをへや";
    constexpr std::u32string_view kSpoken = U"デガワニノトモオエヤ";
    const size_t found = kWritten.find(c);
    return found == kWritten.npos ? std::u32string_view() : kSpoken.substr(found, 1);
  }

  // Adds one unit for the morphemes from `i` up to the character `end`. Returns their number; 0 if
  // none ends there.
  size_t AddUnit(size_t i, size_t end, std::string kana) {
    size_t last = i;
    while (last < morphemes_.size() && morphemes_[last].end < end) ++last;
    if (last == morphemes_.size() || morphemes_[last].end != end) return 0;
    units_.push_back({morphemes_[i].begin, end, std::move(kana), false, true});
    return last + 1 - i;
  }

  absl::Status AddMorpheme(const Morpheme& morpheme) {
    if (const std::string ending = EndingOfLast(text_, units_, morpheme); !ending.empty()) {
      units_.back().kana += ending;
      units_.back().end = morpheme.end;
      return absl::OkStatus();
    }
    // Letters that the dictionary reads one by one are one word.
    if (IsAllKatakana(morpheme.pronunciation) && morpheme.begin > 0 && !units_.empty() &&
        units_.back().end == morpheme.begin && IsWideLatin(text_[morpheme.begin]) &&
        IsWideLatin(text_[morpheme.begin - 1])) {
      units_.back().kana += morpheme.pronunciation;
      units_.back().end = morpheme.end;
      return absl::OkStatus();
    }
    if (IsAllKatakana(morpheme.pronunciation)) {
      units_.push_back({morpheme.begin, morpheme.end, Pronunciation(text_, morpheme), false, true});
      return absl::OkStatus();
    }
    // Without a reading: what its characters are.
    for (size_t at = morpheme.begin; at < morpheme.end;) {
      const char32_t c = text_[at];
      size_t end = at + 1;
      if (IsKatakana(c) || IsHiragana(c)) {
        std::string kana;
        for (end = at; end < morpheme.end && (IsKatakana(text_[end]) || IsHiragana(text_[end]));
             ++end)
          kana += EncodeUtf8(IsHiragana(text_[end]) ? text_[end] + 0x60 : text_[end]);
        units_.push_back({at, end, std::move(kana), false, true});
      } else if (IsWideLatin(c)) {
        std::string word;
        for (end = at; end < morpheme.end && IsWideLatin(text_[end]); ++end)
          word += static_cast<char>(text_[end] - 0xFF01 + '!');
        units_.push_back({at, end, Utf8(LatinReading(word)), false, false});
      } else if (c == U'々' && !units_.empty() && units_.back().end == at) {
        units_.push_back({at, end, units_.back().kana, false, true});
      } else if (IsLetter(c)) {
        MILLRACE_RETURN_IF_ERROR(AddLetter(at));
      } else {
        const std::string mark = EncodeUtf8(c);
        units_.push_back({at, end, CheckKana(mark).ok() ? mark : "", true, false});
      }
      at = end;
    }
    return absl::OkStatus();
  }

  // Adds the reading that a kanji has alone; nothing if the dictionary has none.
  absl::Status AddLetter(size_t at) {
    MILLRACE_ASSIGN_OR_RETURN(const auto alone, analyzer_.Analyze(EncodeUtf8(text_[at])));
    if (alone.size() == 1 && IsAllKatakana(alone.front().pronunciation))
      units_.push_back({at, at + 1, alone.front().pronunciation, false, true});
    return absl::OkStatus();
  }

  const MorphologicalAnalyzer& analyzer_;
  const PreparedText& prepared_;
  const std::u32string_view text_;
  std::vector<Morpheme> morphemes_;
  size_t divided_again_ = 0;  // times that the end of the text was
  std::vector<SpokenUnit> units_;
};

}  // namespace

absl::StatusOr<std::vector<SpokenUnit>> BuildUnits(const MorphologicalAnalyzer& analyzer,
                                                   const PreparedText& prepared) {
  return UnitBuilder(analyzer, prepared).Build();
}

}  // namespace millrace::models
