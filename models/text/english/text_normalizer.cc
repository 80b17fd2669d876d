#include "models/text/english/text_normalizer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/abbreviation_reader.h"
#include "models/text/english/attributive.h"
#include "models/text/english/bible_reference.h"
#include "models/text/english/chat_words.h"
#include "models/text/english/command_option.h"
#include "models/text/english/emoticon.h"
#include "models/text/english/formula.h"
#include "models/text/english/fraction_reader.h"
#include "models/text/english/hardware_address.h"
#include "models/text/english/html_entity.h"
#include "models/text/english/html_tag.h"
#include "models/text/english/ipv6_address.h"
#include "models/text/english/letter_a.h"
#include "models/text/english/letter_word.h"
#include "models/text/english/markdown_sign.h"
#include "models/text/english/measure_reader.h"
#include "models/text/english/money_reader.h"
#include "models/text/english/number_context.h"
#include "models/text/english/number_joint.h"
#include "models/text/english/one_of.h"
#include "models/text/english/powers.h"
#include "models/text/english/roman_numeral.h"
#include "models/text/english/spoken_symbols.h"
#include "models/text/english/units.h"
#include "models/text/english/web_reader.h"
#include "models/text/english/word_range.h"
#include "models/text/english/zip_reader.h"
#include "models/text/folded_text.h"
#include "models/text/foreign_script.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// The bytes of marks that are kept between two words; long runs of marks add nothing.
constexpr size_t kMaxMarksBytes = 12;
constexpr size_t kMaxJoinedParts = 6;

bool IsApostrophe(char32_t c) { return c == '\'' || c == 0x2019; }

bool IsGreek(char32_t c) { return c >= 0x370 && c < 0x400; }

// Returns true for short forms that begin with an apostrophe.
bool IsClipped(std::string_view word) {
  return IsOneOf(AsciiLower(word), "bout", "cause", "em", "n", "round", "s", "til", "tis", "twas",
                 "tween");
}

bool IsTimeZone(std::string_view word) {
  return IsOneOf(word, "bst", "cest", "cet", "cst", "edt", "est", "gmt", "ist", "mst", "pdt", "pst",
                 "utc");
}

// Returns true for words that speak of a telephone.
bool SpeaksOfCalling(std::string_view word) {
  return IsOneOf(word, "call", "called", "calling", "calls", "dial", "dialed", "dialing", "phone",
                 "text");
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
    MarkLetterA(text_, offset_, words_);
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
    if (AtStart() && (TakeReading(ReadBibleReference(numbers_.numbers(), text_, at_)) ||
                      TakeReading(ReadHardwareAddress(numbers_.numbers(), text_, at_)) ||
                      TakeReading(ReadIpv6Address(numbers_.numbers(), text_, at_)) ||
                      TakeReading(ReadWeb(numbers_.numbers(), text_, at_)))) {
      return;
    }
    if (TakeNumber(c)) return;
    if (const std::string_view script = ForeignScript(c.value); !script.empty())
      return TakeForeign(script);
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
    if (c.value >= 0x80 && CurrencySignBytes(text_, number) == 0 && !minus &&
        !ReadFractionSign(text_, number)) {
      return false;
    }
    if (auto code = ReadCode(c)) return TakeReading(std::move(code));
    const std::string previous = Previous();
    auto reading = numbers_.Read(text_, number, Context(previous));
    if (!reading) return false;
    number_end_ = reading->end;
    DropCountBehindArticle(*reading);
    if (minus)
      reading->words.insert(reading->words.begin(), IsCommand(previous) ? "dash" : "minus");
    return TakeReading(std::move(reading));
  }

  NumberContext Context(const std::string& previous) const {
    return FindNumberContext(text_, at_, words_, previous, at_ == number_end_, so_far_);
  }

  // Drops "one" after an article: "a ½ inch" is half an inch, not one half.
  void DropCountBehindArticle(Reading& reading) const {
    if (reading.words.size() < 2 || reading.words[0] != "one" || Previous() != "a") return;
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

  // Names the script of text that cannot be read, once for all of it in a row.
  void TakeForeign(std::string_view script) {
    size_t end = at_;
    for (size_t at = at_; at < text_.size();) {
      const CodePoint c = DecodeAt(text_, at);
      const std::string_view name = ForeignScript(c.value);
      if (name.empty() && (c.value < 0x80 ? c.value != ' ' && c.value != '-' : IsLetter(c.value)))
        break;
      at += c.bytes;
      if (!name.empty()) end = at;
      // Japanese has Chinese characters, too.
      if (name == "Japanese characters") script = name;
    }
    Reading reading{end, {}};
    reading.AppendEach(script);
    TakeReading(std::move(reading));
  }

  // Takes letters with apostrophes, and hyphens between them, from at_ on.
  void TakeWord() {
    const size_t begin = at_;
    if (AtStart() && TakeReading(numbers_.dates().ReadFiscalYear(text_, at_))) return;
    if (TakeCurrencyWord()) return;
    if (AtStart() && TakeReading(numbers_.dates().ReadMonthDay(text_, at_))) return;
    if (AtStart() && TakeReading(numbers_.dates().ReadNameRange(text_, at_))) return;
    if (AtStart() && TakeReading(ReadWordRange(text_, at_))) return;
    if (AtStart() && TakeReading(ReadStateBeforeZip(text_, at_))) return;
    if (AtStart() && text_[at_] == 'v' && IsAsciiDigit(ByteAt(text_, at_ + 1))) {
      if (Previous() != "version") AddWord("version", at_, at_ + 1);
      joint_end_ = ++at_;
      return;
    }
    if (TakeReading(ReadDotted(text_, at_))) return;
    if (AtStart() && TakeReading(ReadUnitAlone(text_, at_))) return;
    size_t end = at_;
    size_t parts = 1;
    bool plain = true;
    while (end - begin < kMaxSpokenWordBytes) {
      const CodePoint c = DecodeAt(text_, end);
      if (c.bytes == 0 || end + c.bytes - begin > kMaxSpokenWordBytes) break;
      if (IsLetter(c.value)) {
        // "ΔT" are two letters.
        if (end > begin && c.value < 0x80 && IsGreek(DecodeBefore(text_, end).value)) break;
        end += c.bytes;
        continue;
      }
      const bool joins = IsApostrophe(c.value) ||
                         ((c.value == '-' || c.value == 0x2010) && ++parts <= kMaxJoinedParts);
      const size_t next = end + c.bytes;
      // The hyphen of "44 BC-AD 14" is no part of a word.
      if (plain && c.value == '-' && IsOneOf(text_.substr(begin, end - begin), "BC", "BCE", "CE"))
        break;
      if (!joins || next - begin >= kMaxSpokenWordBytes || !IsLetter(DecodeAt(text_, next).value)) {
        break;
      }
      plain = false;
      end = next;
    }
    std::string word = Written(begin, end);
    if (plain && TakeAbbreviation(end)) return;
    if (plain && IsFormula(text_, begin, end) && TakeReading(Reading{end, {Dotted(word)}})) return;
    if (plain &&
        TakeReading(ReadLetterWord(numbers_.numbers(), text_, begin, end, word, Previous()))) {
      return;
    }
    const bool has_eight = ByteAt(text_, end) == '8' && !IsAsciiAlnum(ByteAt(text_, end + 1));
    if (plain && has_eight && TakeReading(ReadChatWord(word + '8', end + 1))) return;
    if (plain && TakeReading(ReadChatWord(word, end))) return;
    // "AD 500" and "500 AD" are no advertisements.
    if (word == "AD" && ((number_end_ < begin && number_end_ + 1 == begin) ||
                         (ByteAt(text_, end) == ' ' && IsAsciiDigit(ByteAt(text_, end + 1))))) {
      word = "A.D.";
    }
    if (word == "AM" && IsRadioBand(end)) word = "A.M.";
    if (plain && IsLetterInPlural(word) && !IsAsciiDigit(ByteAt(text_, end + 1))) {
      TakeReading(Reading{end, {std::string(1, word[0]) + "'s"}});
      return;
    }
    Reading numeral{end, ReadRomanNumeral(numbers_.numbers(), text_, end, word, words_)};
    if (!numeral.words.empty()) {
      TakeReading(std::move(numeral));
      return;
    }
    // An initial: "J. Smith".
    if (word.size() == 1 && IsAsciiUpper(word[0]) && word != "I" && ByteAt(text_, end) == '.' &&
        ByteAt(text_, end + 1) == ' ' && IsAsciiUpper(ByteAt(text_, end + 2))) {
      AddWord(word + ".", begin, end + 1);
      at_ = end + 1;
      return;
    }
    AddWord(std::move(word), begin, end);
    at_ = end;
  }

  // Returns true if "AM" up to `end` is a band of the radio.
  bool IsRadioBand(size_t end) const {
    constexpr std::array<std::string_view, 6> kBehind = {" or FM", " and FM",  "/FM",
                                                         " radio", " station", " band"};
    const std::string_view rest = text_.substr(end);
    if (std::ranges::any_of(kBehind, [&](auto words) { return rest.starts_with(words); }))
      return true;
    const std::string previous = Previous();
    return (previous == "or" || previous == "and") && words_.size() > 1 &&
           words_[words_.size() - 2].text == "FM";
  }

  // Reads sums as "US$5", to which the letters belong.
  bool TakeCurrencyWord() {
    if (CurrencySignBytes(text_, at_) == 0 || !AtStart()) return false;
    const std::string previous = Previous();
    auto reading = numbers_.Read(text_, at_, Context(previous));
    if (reading) number_end_ = reading->end;
    return TakeReading(std::move(reading));
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
    // "COVID-19's".
    if (at_ == number_end_ && !words_.empty() && text_.substr(next, letters - next) == "s" &&
        !IsAsciiAlnum(ByteAt(text_, letters))) {
      words_.back().text += "'s";
      words_.back().end = letters + offset_;
      at_ = letters;
      return;
    }
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
    if (const auto sign = ReadMarkdown(text_, at_, run, count, words_, last_)) {
      if (!sign->mark.empty()) AddMarkBehind(sign->mark);
      if (!sign->word.empty()) AddWord(std::string(sign->word), at_, sign->end);
      at_ = sign->end;
      return;
    }
    if (const size_t end = EmoticonEnd(text_, at_); end > at_) {
      at_ = end;
      return;
    }
    if (const size_t end = HtmlTagEnd(text_, at_); end > at_) {
      at_ = end;
      return;
    }
    if (TakeReading(ReadHtmlEntity(text_, at_))) return;
    if (TakeReading(ReadSuperscript(numbers_.numbers(), text_, at_))) return;
    if (TakeReading(ReadCaret(numbers_.numbers(), text_, at_))) return;
    if (c.value == '(' && TakePluralBrackets()) return;
    // "C#" and "F♯" are a half-tone higher, "B♭" is one lower.
    if ((c.value == '#' || c.value == U'♯' || c.value == U'♭') && count == 1 && at_ > 0 &&
        text_[at_ - 1] >= 'A' && text_[at_ - 1] <= 'G' &&
        (at_ == 1 || !IsAsciiAlnum(text_[at_ - 2])) && !IsAsciiAlnum(follows)) {
      AddWord(c.value == U'♭' ? "flat" : "sharp", at_, run);
      at_ = run;
      return;
    }
    // ".NET", ".env".
    if (c.value == '.' && count == 1 && IsAsciiLetter(follows) &&
        (at_ == 0 || IsSpace(DecodeBefore(text_, at_).value))) {
      const bool net = text_.substr(run, 3) == "NET" && !IsAsciiAlnum(ByteAt(text_, run + 3));
      AddWord("dot", at_, run);
      at_ = run;
      if (net) {
        AddWord("net", run, run + 3);
        at_ = run + 3;
      }
      return;
    }
    if (c.value == '"') {
      // "A 12\" pizza", unless it closes a quotation.
      if (at_ > 0 && at_ == number_end_ && !quoting_) {
        const std::string_view rest = text_.substr(run);
        const bool sides = (rest.starts_with(" by ") && IsAsciiDigit(ByteAt(rest, 4))) ||
                           (rest.starts_with(" x ") && IsAsciiDigit(ByteAt(rest, 3)));
        size_t number = words_.size();
        while (number > 0 && words_[number - 1].begin == words_.back().begin) --number;
        const bool counted = number > 0 && IsArticle(words_[number - 1].text, false);
        const bool pointed = number > 0 && IsArticle(words_[number - 1].text, true);
        const bool one = Previous() == "one" || (sides && counted) ||
                         ((Context("").article || pointed) && NounFollows(text_, run));
        AddWord(one ? "inch" : "inches", at_, run);
        at_ = run;
        number_end_ = run;
        return;
      }
      quoting_ = !quoting_;
    }
    if ((c.value == '-' || c.value == 0x2212) && count == 1 && IsAsciiDigit(follows) &&
        IsTimeZone(Previous())) {
      AddWord("minus", at_, run);
      at_ = run;
      return;
    }
    if (c.value == '&' && count > 1) count = 1;
    // "n! = 120".
    if (c.value == '!' && count == 1 && Previous().size() == 1 &&
        text_.substr(run).starts_with(" =")) {
      AddWord("factorial", at_, run);
      at_ = run;
      return;
    }
    // "200 BC–AD 300".
    if ((c.value == '-' || c.value == 0x2013) && count == 1 &&
        IsOneOf(Previous(), "bc", "bce", "ad", "ce", "a.d.") &&
        EraOrNumberFollows(run + (follows == ' ' ? 1 : 0))) {
      AddWord("to", at_, run);
      at_ = run;
      return;
    }
    if (c.value == '-') {
      TakeHyphens(run, count);
      return;
    }
    if (c.value == '.' && count == 1 && TakeInnerDot(run)) return;
    // "7 L/100 km".
    if (c.value == '/' && at_ == number_end_ && IsAsciiLetter(text_[at_ - 1]) &&
        text_.substr(run).starts_with("100")) {
      AddWord("per", at_, run);
      at_ = run;
      return;
    }
    // "$5/page", "3/week".
    if (c.value == '/' && at_ == number_end_ && IsAsciiLetter(follows)) {
      TakeReading(ReadPer(text_, run));
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
      // "#A12" is a number, too.
      const bool code = IsAsciiUpper(follows) && IsAsciiDigit(ByteAt(text_, run + 1));
      const std::string_view words =
          SymbolName(c.value, IsAsciiDigit(follows) || (c.value == '#' && code));
      Reading reading{run, {}};
      for (size_t i = 0; i < count; ++i) reading.AppendEach(words);
      // "∑ of all terms" has its "of" already.
      if ((c.value == 0x2211 || c.value == 0x222B) && last_ > run &&
          !text_.substr(run).starts_with(" of ")) {
        reading.Append("of");
      }
      if (!reading.words.empty()) {
        TakeReading(std::move(reading));
        return;
      }
    }
    at_ = run;
  }

  // Reads "friend(s)" as "friends".
  bool TakePluralBrackets() {
    if (at_ == 0 || !IsAsciiLower(text_[at_ - 1]) || words_.empty()) return false;
    for (const std::string_view ending : {"(s)", "(es)"}) {
      if (!text_.substr(at_).starts_with(ending)) continue;
      words_.back().text += ending.substr(1, ending.size() - 2);
      at_ += ending.size();
      words_.back().end = at_ + offset_;
      return true;
    }
    return false;
  }

  bool EraOrNumberFollows(size_t at) const {
    const std::string_view rest = text_.substr(at);
    return IsAsciiDigit(ByteAt(rest, 0)) || rest.starts_with("AD ") || rest.starts_with("CE ");
  }

  // Reads hyphens as a dash if they stand alone or doubled; otherwise they only join words.
  void TakeHyphens(size_t run, size_t count) {
    // A grade: "an A-".
    if (count == 1 && at_ > 0 && text_[at_ - 1] >= 'A' && text_[at_ - 1] <= 'F' &&
        (at_ == 1 || !IsAsciiAlnum(text_[at_ - 2])) && !IsAsciiAlnum(ByteAt(text_, run))) {
      AddWord("minus", at_, run);
      at_ = run;
      return;
    }
    if (IsCommandOption(text_, at_, count, Previous())) {
      Reading reading{run, std::vector<std::string>(count, "dash")};
      constexpr size_t kMaxLetters = 3;  // "-rf" are letters, "-name" is a word
      const size_t end = LettersEnd(text_.substr(0, run + kMaxLetters + 1), run);
      if (count == 1 && end - run <= kMaxLetters) {
        reading.Append(Dotted(text_.substr(run, end - run)));
        reading.end = end;
      }
      TakeReading(std::move(reading));
      return;
    }
    // "seats 10A-10C".
    if (count == 1 && at_ > 1 && IsAsciiUpper(text_[at_ - 1]) && IsAsciiDigit(text_[at_ - 2])) {
      const size_t digits = DigitsEnd(text_.substr(0, run + 4), run);
      if (digits > run && IsAsciiUpper(ByteAt(text_, digits)) &&
          !IsAsciiAlnum(ByteAt(text_, digits + 1)))
        AddWord("to", at_, run);
    }
    // "Blood type O-".
    if (count == 1 && !words_.empty() && IsOneOf(words_.back().text, "O", "AB") &&
        words_.back().after.empty() && !IsAsciiAlnum(ByteAt(text_, run))) {
      AddWord("negative", at_, run);
      at_ = run;
      return;
    }
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
    const std::string lower = AsciiLower(text);
    so_far_.calling = so_far_.calling || SpeaksOfCalling(lower);
    so_far_.isotopes = so_far_.isotopes || lower == "carbon" || lower == "radiocarbon" ||
                       lower.starts_with("isotop") || lower == "dating";
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

  // Adds a mark right behind the last word, without spaces between.
  void AddMarkBehind(std::string_view mark) {
    while (!words_.empty() && words_.back().after.ends_with(' ')) words_.back().after.pop_back();
    AddMark(mark);
  }

  const NumberReader& numbers_;
  const std::string_view text_;
  const size_t offset_;
  size_t at_ = 0;
  size_t last_ = 0;                             // one past the last byte that is spoken
  size_t number_end_ = std::string_view::npos;  // the end of the last number
  size_t joint_end_ = std::string_view::npos;   // where what leads to a number ends
  ContextSoFar so_far_;
  bool quoting_ = false;  // within straight quotation marks
  std::vector<SpokenWord> words_;
};

}  // namespace

std::vector<SpokenWord> TextNormalizer::Normalize(std::string_view text, size_t offset) const {
  const auto folded = FoldText(text);
  if (!folded) return Walk(numbers_, text, offset).Run();
  std::vector<SpokenWord> words = Walk(numbers_, folded->text, 0).Run();
  for (SpokenWord& word : words) {
    word.begin = folded->origins[word.begin] + offset;
    word.end = folded->origins[word.end] + offset;
  }
  return words;
}

}  // namespace millrace::models
