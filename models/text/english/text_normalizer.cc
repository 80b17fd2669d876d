#include "models/text/english/text_normalizer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/abbreviation_reader.h"
#include "models/text/english/money_reader.h"
#include "models/text/english/number_joint.h"
#include "models/text/english/roman_numeral.h"
#include "models/text/english/spoken_symbols.h"
#include "models/text/english/web_reader.h"
#include "models/text/english/zip_reader.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// The bytes of marks that are kept between two words; long runs of marks add nothing.
constexpr size_t kMaxMarksBytes = 12;
constexpr size_t kMaxJoinedParts = 6;

bool IsApostrophe(char32_t c) { return c == '\'' || c == 0x2019; }

// Returns true for short forms that begin with an apostrophe.
bool IsClipped(std::string_view word) {
  constexpr std::array<std::string_view, 10> kClipped = {"bout", "cause", "em",  "n",    "round",
                                                         "s",    "til",   "tis", "twas", "tween"};
  return std::ranges::binary_search(kClipped, std::string_view(AsciiLower(word)));
}

// Walks over the text once. Every step takes at least one byte and looks ahead a bounded distance,
// or only as far as it then takes.
class Walk {
 public:
  Walk(const NumberReader& numbers, std::string_view text, size_t offset)
      : numbers_(numbers), text_(text), offset_(offset) {
    for (last_ = text_.size(); last_ > 0;) {
      const CodePoint c = DecodeBefore(text_, last_);
      if (IsLetter(c.value) || IsDigit(c.value) || !SymbolName(c.value, false).empty()) break;
      last_ -= c.bytes;
    }
  }

  std::vector<SpokenWord> Run() {
    while (at_ < text_.size()) Step();
    if (!words_.empty()) {
      std::string& after = words_.back().after;
      while (after.ends_with(' ')) after.pop_back();
    }
    return std::move(words_);
  }

 private:
  void Step() {
    if (at_ == number_end_ && TakeReading(ReadNumberJoint(text_, at_))) {
      joint_end_ = at_;
      return;
    }
    const CodePoint c = DecodeAt(text_, at_);
    if (IsSpace(c.value) || c.value < 0x20) {
      AddSpace();
      at_ += c.bytes;
      return;
    }
    if (AtStart() && TakeReading(ReadWeb(numbers_.numbers(), text_, at_))) return;
    if (TakeNumber(c)) return;
    if (IsLetter(c.value)) return TakeWord();
    if (IsApostrophe(c.value)) return TakeApostrophe(c);
    TakeMark(c);
  }

  // Returns true if no word character is right before.
  bool AtStart() const {
    if (at_ == 0) return true;
    const CodePoint before = DecodeBefore(text_, at_);
    return IsSpace(before.value) || !PauseMark(before.value, true).empty() || before.value == '<';
  }

  // Returns true if a quotation mark here opens a quotation: after a comma or a stop it closes.
  bool AtOpening() const {
    if (at_ == 0) return true;
    const CodePoint before = DecodeBefore(text_, at_);
    const std::string_view mark = PauseMark(before.value, true);
    return IsSpace(before.value) || mark == "(" || mark == "“" || mark == "—";
  }

  std::string Previous() const { return words_.empty() ? "" : AsciiLower(words_.back().text); }

  bool TakeNumber(const CodePoint& c) {
    size_t number = at_;
    bool minus = false;
    if (c.value == '-' || c.value == 0x2212) {
      const bool free =
          at_ == 0 || IsSpace(DecodeBefore(text_, at_).value) || text_[at_ - 1] == '(';
      if (!free) return false;
      minus = true;
      number += c.bytes;
      const char next = ByteAt(text_, number);
      if (!IsAsciiDigit(next) && next != '.' && CurrencySignBytes(text_, number) == 0) return false;
    } else if (c.value == '(' || c.value == '+') {
      if (!AtStart()) return false;
    } else if (c.value == '.' && !AtStart()) {
      return false;
    }
    if (auto sign = ReadFractionSign(text_, number)) {
      DropCountBehindArticle(*sign);
      return TakeReading(std::move(sign));
    }
    if (c.value >= 0x80 && CurrencySignBytes(text_, number) == 0 && !minus) return false;
    if (auto code = ReadCode(c)) return TakeReading(std::move(code));
    auto reading = numbers_.Read(text_, number, Previous());
    if (!reading) return false;
    number_end_ = reading->end;
    DropCountBehindArticle(*reading);
    if (minus) reading->words.insert(reading->words.begin(), "minus");
    return TakeReading(std::move(reading));
  }

  // Drops "one" after an article: "a ½ inch" is half an inch, not one half.
  void DropCountBehindArticle(Reading& reading) const {
    if (reading.words.size() != 2 || reading.words[0] != "one" || Previous() != "a") return;
    const std::string& part = reading.words[1];
    if (part == "half" || part == "quarter" || part == "third" || part.ends_with("th"))
      reading.words.erase(reading.words.begin());
  }

  // Reads three digits or more right after letters as a code: "BA2490".
  std::optional<Reading> ReadCode(const CodePoint& c) const {
    if (!IsDigit(c.value) || at_ == 0 || !IsAsciiLetter(text_[at_ - 1])) return std::nullopt;
    if (at_ == joint_end_) return std::nullopt;
    const size_t end = DigitsEnd(text_, at_);
    if (end - at_ < 3 || IsAsciiAlnum(ByteAt(text_, end))) return std::nullopt;
    return Reading{end, numbers_.numbers().Digits(text_.substr(at_, end - at_))};
  }

  bool TakeReading(std::optional<Reading> reading) {
    if (!reading) return false;
    const size_t begin = at_;
    at_ = reading->end;
    for (std::string& word : reading->words) AddWord(std::move(word), begin, at_);
    KeepLastStop();
    return true;
  }

  // A stop that ended an abbreviation also ends the sentence when nothing is spoken after it.
  void KeepLastStop() {
    if (at_ > 0 && text_[at_ - 1] == '.' && last_ < at_) AddMark(".");
  }

  // Takes letters with apostrophes, and hyphens between them, from at_ on.
  void TakeWord() {
    const size_t begin = at_;
    if (TakeCurrencyWord()) return;
    if (AtStart() && TakeReading(numbers_.dates().ReadMonthDay(text_, at_))) return;
    if (AtStart() && TakeReading(numbers_.dates().ReadNameRange(text_, at_))) return;
    if (AtStart() && TakeReading(ReadStateBeforeZip(text_, at_))) return;
    if (AtStart() && text_[at_] == 'v' && IsAsciiDigit(ByteAt(text_, at_ + 1))) {
      AddWord("version", at_, at_ + 1);
      joint_end_ = ++at_;
      return;
    }
    if (TakeReading(ReadDotted(text_, at_))) return;
    size_t end = at_;
    size_t parts = 1;
    bool plain = true;
    while (end - begin < kMaxSpokenWordBytes) {
      const CodePoint c = DecodeAt(text_, end);
      if (c.bytes == 0 || end + c.bytes - begin > kMaxSpokenWordBytes) break;
      if (IsLetter(c.value)) {
        end += c.bytes;
        continue;
      }
      const bool joins = IsApostrophe(c.value) ||
                         ((c.value == '-' || c.value == 0x2010) && ++parts <= kMaxJoinedParts);
      const size_t next = end + c.bytes;
      if (!joins || next - begin >= kMaxSpokenWordBytes || !IsLetter(DecodeAt(text_, next).value)) {
        break;
      }
      plain = false;
      end = next;
    }
    std::string word = Written(begin, end);
    if (plain && TakeAbbreviation(end)) return;
    // "AD 500" and "500 AD" are no advertisements.
    if (word == "AD" && ((number_end_ < begin && number_end_ + 1 == begin) ||
                         (ByteAt(text_, end) == ' ' && IsAsciiDigit(ByteAt(text_, end + 1))))) {
      word = "A.D.";
    }
    const char follows = ByteAt(text_, end);
    if (const std::string previous = words_.empty() ? "" : words_.back().text;
        word.size() <= 8 && IsAsciiUpper(word[0]) && words_.size() > 0 &&
        words_.back().after == " ") {
      const bool possessive = word.ends_with("'s");
      const std::string numeral = word.substr(0, word.size() - (possessive ? 2 : 0));
      Reading reading{end, ReadRomanNumeral(numbers_.numbers(), numeral, previous, follows)};
      if (!reading.words.empty()) {
        if (possessive) reading.words.back() += "'s";
        TakeReading(std::move(reading));
        return;
      }
    }
    // An initial: "J. Smith".
    if (word.size() == 1 && IsAsciiUpper(word[0]) && word != "I" && follows == '.' &&
        ByteAt(text_, end + 1) == ' ' && IsAsciiUpper(ByteAt(text_, end + 2))) {
      AddWord(word + ".", begin, end + 1);
      at_ = end + 1;
      return;
    }
    AddWord(std::move(word), begin, end);
    at_ = end;
  }

  // Reads sums as "US$5", to which the letters belong.
  bool TakeCurrencyWord() {
    if (CurrencySignBytes(text_, at_) == 0 || !AtStart()) return false;
    return TakeReading(numbers_.Read(text_, at_, Previous()));
  }

  // Returns the text with typographic apostrophes and hyphens made plain.
  std::string Written(size_t begin, size_t end) const {
    std::string word;
    for (size_t at = begin; at < end;) {
      const CodePoint c = DecodeAt(text_, at);
      if (c.value == 0x2019) {
        word += '\'';
      } else if (c.value == 0x2010) {
        word += '-';
      } else {
        word += text_.substr(at, c.bytes);
      }
      at += c.bytes;
    }
    return word;
  }

  // Takes an abbreviation, initials or "w/" at at_ and returns true if there is one. end: one past
  // the word.
  bool TakeAbbreviation(size_t end) {
    const bool adjacent = !words_.empty() && words_.back().after == " ";
    const std::string_view previous =
        adjacent
            ? text_.substr(words_.back().begin - offset_, words_.back().end - words_.back().begin)
            : std::string_view();
    return TakeReading(ReadAbbreviation(text_, at_, end, previous, last_ <= end));
  }

  void TakeApostrophe(const CodePoint& c) {
    const size_t next = at_ + c.bytes;
    const size_t letters = LettersEnd(text_.substr(0, next + 6), next);
    if (letters > next && !IsAsciiAlnum(ByteAt(text_, letters)) && AtStart() &&
        IsClipped(text_.substr(next, letters - next))) {
      // "rock 'n' roll" has an apostrophe after the n, too.
      const CodePoint behind = DecodeAt(text_, letters);
      const bool both = letters == next + 1 && text_[next] == 'n' && IsApostrophe(behind.value);
      const size_t end = letters + (both ? behind.bytes : 0);
      // "U.K.'s": no space before it.
      if (at_ > 0 && text_[at_ - 1] == '.' && ByteAt(text_, next) == 's' && !words_.empty() &&
          words_.back().after.empty()) {
        words_.push_back({"'s", at_ + offset_, end + offset_, ""});
        at_ = end;
        return;
      }
      AddWord("'" + std::string(text_.substr(next, letters - next)) + (both ? "'" : ""), at_, end);
      at_ = end;
      return;
    }
    at_ = next;  // a single quotation mark
  }

  void TakeMark(const CodePoint& c) {
    size_t run = at_;
    size_t count = 0;
    for (CodePoint next = c; next.bytes > 0 && next.value == c.value; next = DecodeAt(text_, run)) {
      run += next.bytes;
      ++count;
    }
    const bool opens = AtOpening();
    const char follows = ByteAt(text_, run);
    if (c.value == '-') {
      TakeHyphens(run, count);
      return;
    }
    if (c.value == '.' && count == 1 && TakeInnerDot(run)) return;
    // "$5/page", "3/week".
    if (c.value == '/' && at_ == number_end_ && IsAsciiLetter(follows)) {
      AddWord("per", at_, run);
      at_ = run;
      return;
    }
    if (c.value == ':' && count == 1 && IsAsciiDigit(follows) && at_ > 0 &&
        IsAsciiDigit(text_[at_ - 1])) {
      AddWord("to", at_, run);
      at_ = run;
      return;
    }
    if (const std::string_view mark = PauseMark(c.value, opens); !mark.empty()) {
      const bool spaced_dash = mark == "—" && at_ > 0 && text_[at_ - 1] == ' ';
      if (spaced_dash) AddSpace();
      for (size_t i = 0; i < std::min<size_t>(count, 3); ++i) AddMark(mark);
    } else if (count < 3) {
      // Rulers of "====" say nothing.
      const std::string_view words = SymbolName(c.value, IsAsciiDigit(follows));
      Reading reading{run, {}};
      for (size_t i = 0; i < count; ++i) reading.AppendEach(words);
      if (!reading.words.empty()) {
        TakeReading(std::move(reading));
        return;
      }
    }
    at_ = run;
  }

  // Reads hyphens as a dash if they stand alone or doubled; otherwise they only join words.
  void TakeHyphens(size_t run, size_t count) {
    const bool free = (at_ == 0 || text_[at_ - 1] == ' ') && ByteAt(text_, run) == ' ';
    if (count == 2 || count == 3 || (free && count == 1)) AddMark("—");
    at_ = run;
  }

  // Reads the dot of "file.txt" aloud; "end.Begin" lacks a space.
  bool TakeInnerDot(size_t run) {
    constexpr size_t kMaxExtension = 4;
    if (at_ == 0 || !IsAsciiAlnum(text_[at_ - 1])) return false;
    size_t end = run;
    while (end - run <= kMaxExtension && IsAsciiAlnum(ByteAt(text_, end)) &&
           !IsAsciiUpper(text_[end])) {
      ++end;
    }
    if (end == run || end - run > kMaxExtension || IsAsciiAlnum(ByteAt(text_, end))) return false;
    AddWord("dot", at_, run);
    at_ = run;
    return true;
  }

  void AddWord(std::string text, size_t begin, size_t end) {
    if (!words_.empty() && words_.back().after.empty() && !words_.back().text.empty()) {
      words_.back().after = " ";
    }
    words_.push_back({std::move(text), begin + offset_, end + offset_, ""});
  }

  void AddSpace() {
    if (!words_.empty() && !words_.back().after.ends_with(' ')) words_.back().after += ' ';
  }

  void AddMark(std::string_view mark) {
    if (words_.empty()) words_.push_back({"", at_ + offset_, at_ + offset_, ""});
    std::string& after = words_.back().after;
    if (after.size() + mark.size() <= kMaxMarksBytes) after += mark;
  }

  const NumberReader& numbers_;
  const std::string_view text_;
  const size_t offset_;
  size_t at_ = 0;
  size_t last_ = 0;                             // one past the last byte that is spoken
  size_t number_end_ = std::string_view::npos;  // of the last number
  size_t joint_end_ = std::string_view::npos;   // where what leads to a number ends
  std::vector<SpokenWord> words_;
};

}  // namespace

std::vector<SpokenWord> TextNormalizer::Normalize(std::string_view text, size_t offset) const {
  return Walk(numbers_, text, offset).Run();
}

}  // namespace millrace::models
