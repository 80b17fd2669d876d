#include "models/text/english/text_normalizer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/abbreviation_reader.h"
#include "models/text/english/attributive.h"
#include "models/text/english/chat_words.h"
#include "models/text/english/command_option.h"
#include "models/text/english/emoticon.h"
#include "models/text/english/formula.h"
#include "models/text/english/hardware_address.h"
#include "models/text/english/html_entity.h"
#include "models/text/english/html_tag.h"
#include "models/text/english/letter_a.h"
#include "models/text/english/money_reader.h"
#include "models/text/english/number_joint.h"
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

// Returns the letters of an abbreviation with stops, as which they are spelled.
std::string Dotted(std::string_view word) {
  std::string letters;
  for (const char c : word) {
    letters += static_cast<char>(IsAsciiLower(c) ? c - 'a' + 'A' : c);
    letters += '.';
  }
  return letters;
}

bool IsGreek(char32_t c) { return c >= 0x370 && c < 0x400; }

// Returns true for short forms that begin with an apostrophe.
bool IsClipped(std::string_view word) {
  constexpr std::array<std::string_view, 10> kClipped = {"bout", "cause", "em",  "n",    "round",
                                                         "s",    "til",   "tis", "twas", "tween"};
  return std::ranges::binary_search(kClipped, std::string_view(AsciiLower(word)));
}

// Returns true for words after which a number with a letter is a name: "seat 12A".
bool NamesPlaces(std::string_view word) {
  constexpr std::array<std::string_view, 60> kWords = {
      "aisle",    "apartment", "appendix", "apt",      "bay",      "bed",      "berth",    "bin",
      "block",    "booth",     "bus",      "building", "cabin",    "carriage", "cell",     "class",
      "coach",    "counter",   "desk",     "door",     "exhibit",  "exit",     "figure",   "flat",
      "floor",    "form",      "gate",     "grade",    "hall",     "house",    "lane",     "level",
      "line",     "locker",    "lot",      "number",   "pier",     "platform", "plot",     "pump",
      "question", "room",      "route",    "row",      "schedule", "seat",     "section",  "slot",
      "space",    "spot",      "stall",    "stand",    "suite",    "table",    "terminal", "track",
      "unit",     "ward",      "year",     "zone"};
  return std::ranges::find(kWords, word) != kWords.end();
}

// Returns true for capitals whose plural is no word, as "As", "Is" and "Us" are.
bool NamesLetterInPlural(char c) {
  return IsAsciiUpper(c) && std::string_view("AHIMSU").find(c) == std::string_view::npos;
}

// Returns true for books before a chapter and a verse: "Genesis 1:1".
bool NamesBook(std::string_view word) {
  constexpr std::array<std::string_view, 44> kBooks = {
      "acts",        "amos",         "chronicles", "colossians",  "corinthians", "daniel",
      "deuteronomy", "ecclesiastes", "ephesians",  "esther",      "exodus",      "ezekiel",
      "ezra",        "galatians",    "genesis",    "hebrews",     "hosea",       "isaiah",
      "james",       "jeremiah",     "job",        "joel",        "john",        "joshua",
      "judges",      "kings",        "leviticus",  "luke",        "mark",        "matthew",
      "micah",       "nehemiah",     "peter",      "philippians", "proverbs",    "psalm",
      "psalms",      "quran",        "revelation", "romans",      "ruth",        "samuel",
      "surah",       "timothy"};
  static_assert(std::ranges::is_sorted(kBooks));
  return std::ranges::binary_search(kBooks, word);
}

bool IsTimeZone(std::string_view word) {
  constexpr std::array<std::string_view, 12> kWords = {"bst", "cest", "cet", "cst", "edt", "est",
                                                       "gmt", "ist",  "mst", "pdt", "pst", "utc"};
  return std::ranges::binary_search(kWords, word);
}

// Returns true for words that speak of a telephone.
bool SpeaksOfCalling(std::string_view word) {
  constexpr std::array<std::string_view, 9> kWords = {
      "call", "called", "calling", "calls", "dial", "dialed", "dialing", "phone", "text"};
  return std::ranges::find(kWords, word) != kWords.end();
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
    if (AtStart() && (TakeReading(ReadHardwareAddress(numbers_.numbers(), text_, at_)) ||
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
    auto reading = numbers_.Read(text_, number, ContextOf(previous));
    if (!reading) return false;
    number_end_ = reading->end;
    DropCountBehindArticle(*reading);
    if (minus)
      reading->words.insert(reading->words.begin(), IsCommand(previous) ? "dash" : "minus");
    return TakeReading(std::move(reading));
  }

  NumberContext ContextOf(const std::string& previous) const {
    NumberContext context{.previous = previous};
    context.label = (at_ > 0 && at_ != number_end_ && IsAsciiLetter(text_[at_ - 1])) ||
                    NamesPlaces(previous) || InCode() || NamesLetter();
    constexpr size_t kFarthest = 3;
    size_t steps = 0;
    for (size_t i = words_.size(); i-- > 0 && steps < kFarthest; ++steps) {
      const std::string& after = words_[i].after;
      if (after.find_first_of(",.;:!?") != std::string::npos) break;
      if (IsArticle(words_[i].text, steps == 0)) context.article = true;
    }
    // "24h service" begins a heading.
    if (words_.empty() && ByteAt(text_, DigitsEnd(text_.substr(0, at_ + 3), at_)) == 'h')
      context.article = true;
    context.telephone = calling_;
    context.code = words_.size() > 1 && (previous == "is" || previous == "was") &&
                   NamesCode(AsciiLower(words_[words_.size() - 2].text));
    return context;
  }

  // Returns true if a hyphen joins the number to letters: "B-52s", "Q7-19X".
  bool InCode() const {
    if (at_ < 2 || text_[at_ - 1] != '-') return false;
    size_t begin = at_ - 1;
    constexpr size_t kMaxCode = 12;
    bool letters = false;
    while (begin > 0 && at_ - begin < kMaxCode && IsAsciiAlnum(text_[begin - 1])) {
      letters = letters || IsAsciiUpper(text_[begin - 1]);
      --begin;
    }
    return letters;
  }

  // Returns true if the number is followed by one capital that is no unit there: "45A Elm Road",
  // "the 38C", an isotope as "14C".
  bool NamesLetter() const {
    constexpr size_t kMaxDigits = 4;
    const size_t letter = DigitsEnd(text_.substr(0, at_ + kMaxDigits), at_);
    if (letter == at_ || !IsAsciiUpper(ByteAt(text_, letter)) ||
        IsAsciiAlnum(ByteAt(text_, letter + 1))) {
      return false;
    }
    const bool address = ByteAt(text_, letter + 1) == ' ' &&
                         IsAsciiUpper(ByteAt(text_, letter + 2)) &&
                         IsAsciiLower(ByteAt(text_, letter + 3));
    if (address) return true;
    constexpr std::array<std::string_view, 5> kLines = {"bus", "flight", "line", "train", "tram"};
    const size_t noun = std::min(letter + 2, text_.size());
    const std::string_view word =
        text_.substr(noun, LettersEnd(text_.substr(0, noun + 8), noun) - noun);
    const bool line = std::ranges::find(kLines, word) != kLines.end();
    if (Previous() == "the" && (line || !NounFollows(text_, letter + 1))) return true;
    return text_[letter] == 'C' && isotopes_;
  }

  static bool IsArticle(std::string_view written, bool adjacent) {
    const std::string word = AsciiLower(written);
    if (word == "a" || word == "an" || word == "another" || word == "every") return true;
    constexpr std::array<std::string_view, 15> kDeterminers = {
        "each", "five", "four", "her",   "his",  "its",   "my", "our",
        "six",  "that", "the",  "their", "this", "three", "two"};
    return adjacent &&
           std::ranges::find(kDeterminers, std::string_view(word)) != kDeterminers.end();
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

  // Reads a unit without a number: "measured in km/h".
  std::optional<Reading> ReadUnitAlone() const {
    size_t end = LettersEnd(text_.substr(0, at_ + 3), at_);
    if (end == at_ || ByteAt(text_, end) != '/') return std::nullopt;
    end = LettersEnd(text_.substr(0, end + 3), end + 1);
    const auto unit = FindUnit(text_.substr(at_, end - at_), false, EnglishDialect::kUs);
    if (!unit || IsAsciiAlnum(ByteAt(text_, end))) return std::nullopt;
    Reading reading{end, {}};
    reading.AppendEach(unit->plural);
    return reading;
  }

  // Reads "FY2024", "FY 25", "CY2024", "FY2024-25".
  std::optional<Reading> ReadFiscalYear() const {
    const bool fiscal = text_.substr(at_, 2) == "FY";
    if (!fiscal && text_.substr(at_, 2) != "CY") return std::nullopt;
    const size_t digits = at_ + (ByteAt(text_, at_ + 2) == ' ' ? 3 : 2);
    const size_t end = DigitsEnd(text_.substr(0, digits + 5), digits);
    if ((end != digits + 2 && end != digits + 4) || IsAsciiAlnum(ByteAt(text_, end)))
      return std::nullopt;
    const auto year = static_cast<unsigned>(ParseDigits(text_.substr(digits, end - digits)));
    Reading reading{end, {fiscal ? "fiscal" : "calendar", "year"}};
    reading.Append(end == digits + 2 ? numbers_.numbers().Whole(text_.substr(digits, 2))
                                     : numbers_.numbers().Year(year));
    const CodePoint dash = DecodeAt(text_, end);
    const size_t second = end + dash.bytes;
    const size_t second_end = DigitsEnd(text_.substr(0, second + 3), second);
    if ((dash.value == '-' || dash.value == U'–') && second_end == second + 2 &&
        !IsAsciiAlnum(ByteAt(text_, second_end))) {
      reading.Append("to");
      reading.Append(numbers_.numbers().Whole(text_.substr(second, 2)));
      reading.end = second_end;
    }
    return reading;
  }

  // Takes letters with apostrophes, and hyphens between them, from at_ on.
  void TakeWord() {
    const size_t begin = at_;
    if (AtStart() && TakeReading(ReadFiscalYear())) return;
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
    if (AtStart() && TakeReading(ReadUnitAlone())) return;
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
      if (!joins || next - begin >= kMaxSpokenWordBytes || !IsLetter(DecodeAt(text_, next).value)) {
        break;
      }
      plain = false;
      end = next;
    }
    std::string word = Written(begin, end);
    if (plain && TakeAbbreviation(end)) return;
    if (plain && IsFormula(text_, begin, end) && TakeReading(Reading{end, {Dotted(word)}})) return;
    if (plain && TakeLetters(begin, end, word)) return;
    const bool has_eight = ByteAt(text_, end) == '8' && !IsAsciiAlnum(ByteAt(text_, end + 1));
    if (plain && has_eight && TakeReading(ReadChatWord(word + '8', end + 1))) return;
    if (plain && TakeReading(ReadChatWord(word, end))) return;
    // "AD 500" and "500 AD" are no advertisements.
    if (word == "AD" && ((number_end_ < begin && number_end_ + 1 == begin) ||
                         (ByteAt(text_, end) == ' ' && IsAsciiDigit(ByteAt(text_, end + 1))))) {
      word = "A.D.";
    }
    if (word == "AM" && IsRadioBand(end)) word = "A.M.";
    // "Ps and Qs".
    if (plain && word.size() == 2 && word[1] == 's' && NamesLetterInPlural(word[0]) &&
        !IsAsciiDigit(ByteAt(text_, end + 1))) {
      TakeReading(Reading{end, {std::string(1, word[0]) + "'s"}});
      return;
    }
    const char follows = ByteAt(text_, end);
    if (const std::string previous = words_.empty() ? "" : words_.back().text;
        word.size() <= 8 && IsAsciiUpper(word[0]) && !words_.empty() &&
        words_.back().after == " ") {
      const bool possessive = word.ends_with("'s");
      const std::string numeral = word.substr(0, word.size() - (possessive ? 2 : 0));
      // "Elizabeth I was queen" has no "I".
      const bool reigns = numeral == "I" && IsRuler(previous) && RulerSpeaks(end);
      Reading reading{
          end, ReadRomanNumeral(numbers_.numbers(), numeral, previous, reigns ? '.' : follows)};
      if (reading.words.empty() && word.size() > 1 && CenturyFollows(end))
        reading.words = ReadRomanOrdinal(numbers_.numbers(), word);
      if (!reading.words.empty()) {
        if (possessive) reading.words.back() += "'s";
        TakeReading(std::move(reading));
        return;
      }
    }
    // "page xii", "Scene iv".
    if (const unsigned value = LowerRomanValue(word);
        value > 0 && plain && !words_.empty() && words_.back().after == " " &&
        CountsInRoman(Previous()) && !IsAsciiAlnum(follows)) {
      TakeReading(Reading{end, numbers_.numbers().Cardinal(value)});
      return;
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

  // Returns true if the ruler before is the subject: at the start or behind a title, before a verb.
  bool RulerSpeaks(size_t at) const {
    constexpr std::array<std::string_view, 10> kTitles = {"emperor", "empress", "kaiser", "king",
                                                          "pope",    "prince",  "queen",  "saint",
                                                          "sultan",  "tsar"};
    const bool titled = words_.size() > 1 &&
                        std::ranges::binary_search(
                            kTitles, std::string_view(AsciiLower(words_[words_.size() - 2].text)));
    if (words_.size() != 1 && !titled) return false;
    constexpr std::array<std::string_view, 9> kVerbs = {"became",  "came",    "died",  "had", "is",
                                                        "married", "reigned", "ruled", "was"};
    if (ByteAt(text_, at) != ' ') return false;
    const std::string_view word =
        text_.substr(at + 1, LettersEnd(text_.substr(0, at + 10), at + 1) - at - 1);
    return std::ranges::binary_search(kVerbs, word);
  }

  bool CenturyFollows(size_t at) const {
    const std::string_view rest = text_.substr(at);
    return rest.starts_with(" century") || rest.starts_with(" Century") ||
           rest.starts_with(" dynasty") || rest.starts_with(" Dynasty");
  }

  // Reads words that are letters where they stand: "AT&T", "mc²", "(iii)", "heading NW".
  bool TakeLetters(size_t begin, size_t end, std::string_view word) {
    constexpr size_t kMaxLetters = 3;
    const auto is = [](bool (*test)(char)) {
      return [test](std::string_view letters) { return std::ranges::all_of(letters, test); };
    };
    const auto capitals = is(IsAsciiUpper);
    const char before = begin > 0 ? text_[begin - 1] : '\0';
    if (word.size() > kMaxLetters + 1) return false;
    // "M&Ms" are two letters, of which the second one is a plural.
    const bool joined = before == '&' && begin > 1 && IsAsciiLetter(text_[begin - 2]);
    if (joined && word.size() == 2 && IsAsciiUpper(word[0]) && word[1] == 's') {
      return TakeReading(Reading{end, {std::string(1, word[0]) + "'s"}});
    }
    if (word.size() > kMaxLetters) return false;
    const bool joins = ByteAt(text_, end) == '&' && IsAsciiUpper(ByteAt(text_, end + 1));
    if (word == "A" && (joins || joined)) return TakeReading(Reading{end, {Dotted(word)}});
    const auto power = ReadSuperscript(numbers_.numbers(), text_, end);
    const bool powers = word.size() > 1 && power && power->words.back() != "plus" &&
                        power->words.back() != "minus" &&
                        !FindUnit(word, true, EnglishDialect::kUs) && is(IsAsciiLetter)(word) &&
                        word != "sin" && word != "cos" && word != "tan";
    if ((word.size() > 1 && capitals(word) && (joins || joined)) || powers) {
      return TakeReading(Reading{end, {Dotted(word)}});
    }
    if (before == '(' && ByteAt(text_, end) == ')') {
      const unsigned value = LowerRomanValue(word);
      if (value > 0) return TakeReading(Reading{end, numbers_.numbers().Cardinal(value)});
      if (word.size() == 1 && IsAsciiLower(word[0])) {
        return TakeReading(Reading{end, {{static_cast<char>(word[0] - 'a' + 'A'), '.'}}});
      }
    }
    if (word.size() == 2 && capitals(word)) {
      constexpr std::array<std::string_view, 16> kTurns = {
          "due",  "facing", "from", "head",   "heading", "mph",  "toward", "towards",
          "wind", "winds",  "hour", "avenue", "street",  "road", "drive",  "boulevard"};
      const bool turns = std::ranges::find(kTurns, std::string_view(Previous())) != kTurns.end();
      if (turns && (word[0] == 'N' || word[0] == 'S') && (word[1] == 'E' || word[1] == 'W')) {
        return TakeReading(Reading{end,
                                   {std::string(word[0] == 'N' ? "north" : "south") +
                                    (word[1] == 'E' ? "east" : "west")}});
      }
    }
    return false;
  }

  // Reads sums as "US$5", to which the letters belong.
  bool TakeCurrencyWord() {
    if (CurrencySignBytes(text_, at_) == 0 || !AtStart()) return false;
    const std::string previous = Previous();
    auto reading = numbers_.Read(text_, at_, ContextOf(previous));
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
    if (TakeMarkdown(c, run, count)) return;
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
                         ((ContextOf("").article || pointed) && NounFollows(text_, run));
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
    if (c.value == '-') {
      TakeHyphens(run, count);
      return;
    }
    if (c.value == '.' && count == 1 && TakeInnerDot(run)) return;
    // "$5/page", "3/week".
    if (c.value == '/' && at_ == number_end_ && IsAsciiLetter(follows)) {
      TakeReading(ReadPer(run));
      return;
    }
    if (c.value == ':' && count == 1 && IsAsciiDigit(follows) && at_ > 0 &&
        IsAsciiDigit(text_[at_ - 1])) {
      // The words of one number begin at one place.
      size_t chapter = words_.size();
      while (chapter > 0 && words_[chapter - 1].begin == words_.back().begin) --chapter;
      const bool verse = chapter > 0 && NamesBook(AsciiLower(words_[chapter - 1].text));
      if (!verse) AddWord("to", at_, run);
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

  // Reads what a price is for: "/page", "/kg", "/mo.".
  Reading ReadPer(size_t word) const {
    size_t end = LettersEnd(text_.substr(0, word + 6), word);
    if (text_.substr(end, 2) == "²" || text_.substr(end, 2) == "³") end += 2;
    const std::string_view symbol = text_.substr(word, end - word);
    const bool stop = ByteAt(text_, end) == '.';
    if (symbol == "ea") return {end + (stop ? 1 : 0), {"each"}};
    const auto unit = FindUnit(symbol, false, EnglishDialect::kUs);
    if (!unit || IsAsciiAlnum(ByteAt(text_, end))) return {word, {"per"}};
    Reading reading{end + (stop && symbol.size() > 1 ? 1 : 0), {"per"}};
    reading.AppendEach(unit->singular);
    return reading;
  }

  // Skips the signs of Markdown: headings, quotations, highlighted text, addresses of links, items.
  // Reads arrows.
  bool TakeMarkdown(const CodePoint& c, size_t run, size_t count) {
    const char follows = ByteAt(text_, run);
    const bool begins_line = at_ == 0 || IsLineBreak(DecodeBefore(text_, at_).value);
    if (begins_line && (c.value == '#' || c.value == '>') && count <= 6 &&
        (follows == ' ' || (c.value == '>' && !IsAsciiDigit(follows)))) {
      at_ = run;
      return true;
    }
    if (c.value == '=' && count == 2) {
      const bool inner = IsAsciiAlnum(follows) || (at_ > 0 && IsAsciiAlnum(text_[at_ - 1]));
      const bool spaced = follows == ' ' && at_ > 0 && text_[at_ - 1] == ' ';
      if (inner && !spaced) {
        at_ = run;
        return true;
      }
    }
    if (c.value == ']' && count == 1 && follows == '(') {
      const size_t close = text_.substr(0, run + kMaxWebBytes).find(')', run);
      const std::string_view target =
          close == std::string_view::npos ? "" : text_.substr(run + 1, close - run - 1);
      if (target.find_first_of(" \n") == std::string_view::npos &&
          target.find_first_of("/#.@") != std::string_view::npos) {
        AddMark(")");
        at_ = close + 1;
        return true;
      }
    }
    if (c.value == 0x2022 || c.value == 0x25E6 || c.value == 0x25AA) {
      if (!words_.empty() && words_.back().after.find_first_of(",.;:!?") == std::string::npos) {
        while (words_.back().after.ends_with(' ')) words_.back().after.pop_back();
        AddMark(",");
      }
      at_ = run;
      return true;
    }
    // The box of a task: "- [x] Buy milk".
    if (c.value == '[' && count == 1 && at_ >= 2 && text_[at_ - 1] == ' ' &&
        (text_[at_ - 2] == '-' || text_[at_ - 2] == '*') && words_.size() <= 1 &&
        (text_.substr(at_, 4) == "[x] " || text_.substr(at_, 4) == "[X] " ||
         text_.substr(at_, 4) == "[ ] ")) {
      at_ += 3;
      return true;
    }
    // An image: "![image](a.png)".
    if (c.value == '!' && count == 1 && follows == '[') {
      at_ = run;
      return true;
    }
    // The steps of a menu: "Settings > Privacy".
    if (c.value == '>' && count == 1 && at_ > 1 && text_[at_ - 1] == ' ' &&
        IsAsciiLower(text_[at_ - 2]) && follows == ' ' && IsAsciiUpper(ByteAt(text_, run + 1)) &&
        IsAsciiLower(ByteAt(text_, run + 2)) && !words_.empty()) {
      while (words_.back().after.ends_with(' ')) words_.back().after.pop_back();
      AddMark(",");
      at_ = run;
      return true;
    }
    // The arrow of "<->" has another head.
    if (c.value == '<' && count == 1 && follows == '-' && ByteAt(text_, run + 1) == '>') {
      at_ = run;
      return true;
    }
    const bool arrow = (c.value == '-' || c.value == '=') && count <= 2 && follows == '>';
    if (arrow || c.value == 0x2192 || c.value == 0x21D2) {
      const size_t end = run + (arrow ? 1 : 0);
      if (!words_.empty() && last_ > end) AddWord("to", at_, end);
      at_ = end;
      return true;
    }
    if (c.value == '<' && count == 1 && follows == '3' && !IsAsciiAlnum(ByteAt(text_, run + 1)) &&
        ByteAt(text_, run + 1) != '.') {
      const std::string previous = Previous();
      const bool person = previous == "i" || previous == "we" || previous == "they";
      if (!person && last_ > run + 1) return false;
      at_ = run + 1;
      if (person) AddWord("love", run - 1, at_);
      return true;
    }
    return false;
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
    calling_ = calling_ || SpeaksOfCalling(lower);
    isotopes_ = isotopes_ || lower == "carbon" || lower == "radiocarbon" ||
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

  const NumberReader& numbers_;
  const std::string_view text_;
  const size_t offset_;
  size_t at_ = 0;
  size_t last_ = 0;                             // one past the last byte that is spoken
  size_t number_end_ = std::string_view::npos;  // the end of the last number
  size_t joint_end_ = std::string_view::npos;   // where what leads to a number ends
  bool calling_ = false;                        // a word before speaks of a telephone
  bool isotopes_ = false;                       // a word before speaks of isotopes
  bool quoting_ = false;                        // within straight quotation marks
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

bool IsSpelledInCapitals(std::string_view word) {
  constexpr std::array<std::string_view, 16> kWords = {"AI", "API", "BBC", "CEO", "CIA", "CPU",
                                                       "EU", "FBI", "GPU", "ID",  "UFO", "UK",
                                                       "UN", "USA", "USB", "VIP"};
  return std::ranges::binary_search(kWords, word);
}

bool IsShouted(std::span<const SpokenWord> words) {
  size_t capitals = 0;
  for (const SpokenWord& word : words) {
    for (const char c : word.text) {
      if (IsAsciiLower(c)) return false;
    }
    if (word.text.size() > 1) ++capitals;
  }
  return capitals > 1;
}

}  // namespace millrace::models
