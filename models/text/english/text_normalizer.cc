#include "models/text/english/text_normalizer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/abbreviation_reader.h"
#include "models/text/english/bible_reference.h"
#include "models/text/english/chat_words.h"
#include "models/text/english/chess_move.h"
#include "models/text/english/chord_reader.h"
#include "models/text/english/command_option.h"
#include "models/text/english/emoticon.h"
#include "models/text/english/formula.h"
#include "models/text/english/fraction_reader.h"
#include "models/text/english/hex_code.h"
#include "models/text/english/html_entity.h"
#include "models/text/english/html_tag.h"
#include "models/text/english/hyphen_reader.h"
#include "models/text/english/key_reader.h"
#include "models/text/english/letter_a.h"
#include "models/text/english/letter_run.h"
#include "models/text/english/letter_word.h"
#include "models/text/english/markdown_sign.h"
#include "models/text/english/math_function.h"
#include "models/text/english/measure_reader.h"
#include "models/text/english/money_reader.h"
#include "models/text/english/number_context.h"
#include "models/text/english/number_joint.h"
#include "models/text/english/one_of.h"
#include "models/text/english/powers.h"
#include "models/text/english/roman_numeral.h"
#include "models/text/english/sign_reader.h"
#include "models/text/english/spoken_code.h"
#include "models/text/english/spoken_symbols.h"
#include "models/text/english/spoken_text.h"
#include "models/text/english/tex_text.h"
#include "models/text/english/units.h"
#include "models/text/english/version_reader.h"
#include "models/text/english/weather_report.h"
#include "models/text/english/web_reader.h"
#include "models/text/english/word_kinds.h"
#include "models/text/english/word_range.h"
#include "models/text/english/zip_reader.h"
#include "models/text/folded_text.h"
#include "models/text/foreign_script.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Walks over the text once. Every step takes at least one byte and looks ahead a bounded distance,
// or only as far as it then takes.
class Walk {
 public:
  Walk(const NumberReader& numbers, std::string_view text)
      : numbers_(numbers), text_(text), spoken_(text.size()) {
    for (last_ = text_.size(); last_ > 0;) {
      const CodePoint c = DecodeBefore(text_, last_);
      if (IsLetter(c.value) || IsDigit(c.value) || !SymbolName(c.value, false).empty()) break;
      last_ -= c.bytes;
    }
  }

  std::vector<SpokenWord> Run() {
    while (at_ < text_.size()) Step();
    std::vector<SpokenWord> words = std::move(spoken_).Take();
    MarkLetterA(text_, words);
    return words;
  }

 private:
  void Step() {
    if (at_ == number_end_ && TakeReading(ReadNumberJoint(text_, at_))) {
      joint_end_ = at_;
      return;
    }
    const CodePoint c = DecodeAt(text_, at_);
    if (IsSpace(c.value) || c.value < 0x20) {
      spoken_.AddSpace();
      at_ += c.bytes;
      return;
    }
    const size_t common_end = CommonWordEnd();
    if (common_end == 0 && AtStart() &&
        (TakeReading(ReadBibleReference(numbers_.numbers(), text_, at_)) ||
         TakeReading(ReadHexCode(numbers_.numbers(), text_, at_)) ||
         TakeReading(ReadIpv6Address(numbers_.numbers(), text_, at_)) ||
         TakeReading(ReadWeb(numbers_.numbers(), text_, at_)))) {
      return;
    }
    if (spoken_.so_far().report && AtStart() &&
        TakeReading(ReadReportGroup(numbers_.numbers(), text_, at_))) {
      return;
    }
    if (common_end > 0) return TakeWord(common_end);
    if (TakeNumber(c)) return;
    if (!ForeignScript(c.value).empty()) return TakeForeign();
    if (IsLetter(c.value) && SymbolName(c.value, false).empty()) return TakeWord(0);
    if (IsApostrophe(c.value)) return TakeApostrophe(c);
    TakeMark(c);
  }

  // Returns the end of small letters at at_ with a space, a comma or nothing behind them, as most
  // words are written, or 0: what has other signs in it or around it is not looked for there.
  size_t CommonWordEnd() const {
    size_t end = at_;
    const size_t limit = std::min(text_.size(), at_ + kMaxSpokenWordBytes);
    while (end < limit && IsAsciiLower(text_[end])) ++end;
    const char behind = ByteAt(text_, end);
    const bool ends = end == text_.size() || behind == ' ' || behind == ',';
    return end > at_ + 1 && ends ? end : 0;
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

  const std::vector<SpokenWord>& words() const { return spoken_.words(); }
  std::string Previous() const { return spoken_.Previous(); }

  bool TakeNumber(const CodePoint& c) {
    // "US$5" is taken as a word.
    if (c.value < 0x80 && IsAsciiLetter(static_cast<char>(c.value))) return false;
    size_t number = at_;
    bool minus = false;
    // "–5 °C" has a dash, but "5 –10" is a range.
    const bool dash = c.value == U'–' && (at_ < 2 || !IsAsciiDigit(text_[at_ - 2]));
    if (c.value == '-' || c.value == 0x2212 || dash) {
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
    if (at_ != joint_end_ && TakeReading(ReadCodeBehindLetters(numbers_.numbers(), text_, at_)))
      return true;
    if (TakeChatNumber()) return true;
    const std::string previous = Previous();
    const NumberContext context = Context(previous);
    auto reading = numbers_.Read(text_, number, context);
    if (!reading) return false;
    // "From 31E to 8A": no unit is written so.
    const char letter = ByteAt(text_, reading->end);
    const bool named = IsAmong("BDEGHK", letter) && !IsAsciiAlnum(ByteAt(text_, reading->end + 1));
    if (IsAsciiUpper(letter) && (context.label || named)) spoken_.NoteLabel();
    if (IsVersioned(previous)) spoken_.NoteVersion();
    number_end_ = reading->end;
    DropCountOfPart(*reading);
    if (minus)
      reading->words.insert(reading->words.begin(), IsCommand(previous) ? "dash" : "minus");
    return TakeReading(std::move(reading));
  }

  NumberContext Context(const std::string& previous) const {
    return FindNumberContext(text_, at_, words(), previous, at_ == number_end_, spoken_.so_far());
  }

  // Drops "one" after an article, "a ½ inch" is half an inch, and of "½ price".
  void DropCountOfPart(Reading& reading) const {
    if (reading.words.size() < 2 || reading.words[0] != "one") return;
    const std::string& part = reading.words[1];
    const bool half = part == "half" &&
                      IsOneOf(LettersAt(text_, reading.end + 1), "off", "price", "term", "time");
    if (half) reading.words.erase(reading.words.begin());
    if (half || Previous() != "a") return;
    if (part == "half" || part == "quarter" || part == "third" || part.ends_with("th"))
      reading.words.erase(reading.words.begin());
  }

  bool TakeReading(std::optional<Reading>&& reading) {
    if (!reading) return false;
    const size_t begin = at_;
    at_ = reading->end;
    const bool from_digits = std::ranges::any_of(text_.substr(begin, at_ - begin), IsAsciiDigit);
    for (std::string& word : reading->words)
      spoken_.AddWord(std::move(word), begin, at_, from_digits);
    KeepLastStop();
    return true;
  }

  // A stop that ended an abbreviation also ends the sentence when nothing is spoken after it.
  void KeepLastStop() {
    if (at_ > 0 && text_[at_ - 1] == '.' && last_ < at_) spoken_.AddMark(".", at_);
  }

  // Names the script of text that cannot be read, once for all of it in a row.
  void TakeForeign() {
    const ForeignRun run = FindForeignRun(text_, at_);
    Reading reading{run.end, {}};
    reading.AppendEach(run.script);
    TakeReading(std::move(reading));
  }

  // Takes letters with apostrophes, and hyphens between them, from at_ on. common_end: the end of a
  // common word, 0 if it is none.
  void TakeWord(size_t common_end) {
    const size_t begin = at_;
    if (TakeCurrencyWord()) return;
    const bool starts = common_end == 0 && AtStart();
    if (starts && (TakeReading(numbers_.dates().ReadFiscalYear(text_, at_)) ||
                   TakeReading(numbers_.dates().ReadMonthDay(text_, at_)) ||
                   TakeReading(numbers_.dates().ReadNameRange(text_, at_)) ||
                   TakeReading(ReadWordRange(text_, at_)) ||
                   TakeReading(ReadKeys(numbers_.numbers(), text_, at_)) ||
                   TakeReading(ReadEpisode(numbers_.numbers(), text_, at_)) ||
                   TakeReading(ReadStateBeforeZip(text_, at_)) ||
                   TakeReading(ReadChessMove(numbers_.numbers(), text_, at_)) ||
                   TakeReading(ReadChord(numbers_.numbers(), text_, at_)) ||
                   TakeReading(ReadRomanRange(numbers_.numbers(), text_, at_, words())))) {
      return;
    }
    if (starts && BeginsVersion(text_, at_)) {
      if (Previous() != "version") spoken_.AddWord("version", at_, at_ + 1);
      joint_end_ = ++at_;
      return;
    }
    if (common_end == 0 && TakeReading(ReadDotted(text_, at_))) return;
    if (starts && (TakeReading(ReadUnitAlone(text_, at_)) ||
                   TakeReading(ReadDosing(numbers_.numbers(), text_, at_, Previous())))) {
      return;
    }
    auto [end, plain, word] =
        common_end > 0
            ? LetterRun{common_end, true, std::string(text_.substr(at_, common_end - at_))}
            : FindLetterRun(text_, at_);
    if (plain && TakeAbbreviation(end)) return;
    if (plain) {
      if (auto function = ReadMathFunction(text_, begin, end)) {
        TakeReading(std::move(function->reading));
        if (function->close > 0) closers_.push_back(function->close);
        return;
      }
    }
    if (plain && IsFormula(text_, begin, end) && TakeReading(Reading{end, {Dotted(word)}})) return;
    if (plain &&
        TakeReading(ReadLetterWord(numbers_.numbers(), text_, begin, end, word, Previous()))) {
      return;
    }
    if (plain && TakeChatWord(end, word)) return;
    if (AreLetters(text_, end, word, words(),
                   number_end_ != text_.npos && number_end_ + 1 == begin))
      word = Dotted(word);
    if (plain && word.size() == 2 && IsLetterInPlural(word, Previous()) &&
        !IsAsciiDigit(ByteAt(text_, end + 1))) {
      TakeReading(Reading{end, {std::string(1, word[0]) + "'s"}});
      return;
    }
    Reading numeral{end, ReadRomanNumeral(numbers_.numbers(), text_, end, word, words())};
    if (!numeral.words.empty()) {
      TakeReading(std::move(numeral));
      return;
    }
    if (IsInitial(text_, end, word)) {
      spoken_.AddWord(word + ".", begin, end + 1);
      at_ = end + 1;
      return;
    }
    spoken_.AddWord(std::move(word), begin, end);
    at_ = end;
  }

  // Takes a word as people write it in chats, perhaps with digits in it: "l8r", "pls".
  bool TakeChatWord(size_t end, const std::string& word) {
    // "np.array" is no chat.
    if (ByteAt(text_, end) == '.' && IsAsciiLetter(ByteAt(text_, end + 1))) return false;
    if (IsAsciiDigit(ByteAt(text_, end))) {
      const size_t chat_end = ChatWordEnd(text_, at_);
      if (!TakeReading(ReadChatWord(text_.substr(at_, chat_end - at_), chat_end))) return false;
    } else if (!TakeReading(ReadChatLetter(text_, at_, end, Previous())) &&
               !TakeReading(ReadChatWord(word, end))) {
      return false;
    }
    chat_end_ = at_;
    return true;
  }

  // Takes a number that stands for a word: "2moro", the "4" of "thx 4 ur help".
  bool TakeChatNumber() {
    if ((text_[at_] != '2' && text_[at_] != '4') || !AtStart()) return false;
    if (IsAsciiLower(ByteAt(text_, at_ + 1))) {
      const size_t end = ChatWordEnd(text_, at_);
      return TakeReading(ReadChatWord(text_.substr(at_, end - at_), end));
    }
    const std::string_view behind = text_.substr(at_ + 1);
    if (text_[at_] == '2' && StandsForToo(text_, at_, Previous(), chat_end_ != text_.npos))
      return TakeReading(Reading{at_ + 1, {"too"}});
    // "Works 4 me", "tickets 4 u", in a chat "r u coming 2 the party".
    const std::string_view next = LettersAt(behind, 1);
    const bool given =
        IsOneOf(next, "me", "u") ||
        (chat_end_ != std::string_view::npos &&
         IsListed(next, "a be come do get go her him it my see that the them this ur us work"));
    // "Brb 2 min" counts.
    if (FindUnit(next, true, EnglishDialect::kUs)) return false;
    if ((!given && (chat_end_ == std::string_view::npos || at_ != chat_end_ + 1)) ||
        ByteAt(behind, 0) != ' ' || !IsAsciiLower(ByteAt(behind, 1)))
      return false;
    return TakeReading(Reading{at_ + 1, {text_[at_] == '2' ? "to" : "for"}});
  }

  // Reads sums as "US$5", to which the letters belong.
  bool TakeCurrencyWord() {
    if (CurrencySignBytes(text_, at_) == 0 || !AtStart()) return false;
    const std::string previous = Previous();
    auto reading = numbers_.Read(text_, at_, Context(previous));
    if (reading) number_end_ = reading->end;
    return TakeReading(std::move(reading));
  }

  // Takes an abbreviation, initials or "w/" at at_ and returns true if there is one. end: one past
  // the word.
  bool TakeAbbreviation(size_t end) {
    const bool adjacent = !words().empty() && words().back().after == " ";
    const std::string_view previous =
        adjacent ? text_.substr(words().back().begin, words().back().end - words().back().begin)
                 : std::string_view();
    return TakeReading(ReadAbbreviation(text_, at_, end, previous, last_ <= end));
  }

  void TakeApostrophe(const CodePoint& c) {
    const size_t next = at_ + c.bytes;
    const size_t letters = LettersEnd(text_, next, 6);
    const std::string_view word = text_.substr(next, letters - next);
    // "COVID-19's".
    if (at_ == number_end_ && !words().empty() && word == "s" &&
        !IsAsciiAlnum(ByteAt(text_, letters))) {
      spoken_.Extend("'s", letters);
      at_ = letters;
      return;
    }
    if (letters > next && !IsAsciiAlnum(ByteAt(text_, letters)) && AtStart() &&
        IsOfKind(AsciiLower(word), "clipped")) {
      // "rock 'n' roll" has an apostrophe after the n, too.
      const CodePoint behind = DecodeAt(text_, letters);
      const bool both = word == "n" && IsApostrophe(behind.value);
      const size_t end = letters + (both ? behind.bytes : 0);
      // "U.K.'s": no space before it.
      if (at_ > 0 && text_[at_ - 1] == '.' && word[0] == 's' && !words().empty() &&
          words().back().after.empty()) {
        spoken_.AddJoined("'s", at_, end);
      } else {
        spoken_.AddWord("'" + std::string(word) + (both ? "'" : ""), at_, end);
      }
      at_ = end;
      return;
    }
    at_ = next;  // a single quotation mark
  }

  // Takes the brackets and bars of a formula, which are no pauses. Returns true if there is one.
  bool TakeFormulaMark(const CodePoint& c) {
    if (!closers_.empty() && at_ == closers_.back()) {
      closers_.pop_back();
      ++at_;
      // "sin(x)/x".
      if (ByteAt(text_, at_) == '/' && IsAsciiAlnum(ByteAt(text_, at_ + 1)))
        TakeReading(Reading{at_ + 1, {"over"}});
      return true;
    }
    if (c.value == '|') {
      const size_t close = AbsoluteValueEnd(text_, at_);
      // "P(A|B)".
      if (close == 0 && !closers_.empty() && at_ < closers_.back())
        return TakeReading(Reading{at_ + 1, {"given"}});
      if (close == 0) return TakeReading(ReadOperator(text_, at_));
      closers_.push_back(close);
      TakeReading(Reading{at_ + 1, {"the", "absolute", "value", "of"}});
      const CodePoint sign = DecodeAt(text_, at_);
      if (sign.value == '-' || sign.value == 0x2212)
        TakeReading(Reading{at_ + sign.bytes, {"minus"}});
      return true;
    }
    if (c.value == '(') {
      const size_t close = FormulaGroupEnd(text_, at_);
      if (close == 0) return false;
      closers_.push_back(close);
      ++at_;
      return true;
    }
    return TakeReading(ReadOperator(text_, at_));
  }

  void TakeMark(const CodePoint& c) {
    if (TakeFormulaMark(c)) return;
    Sign sign{c.value, at_, at_, 0};
    for (CodePoint next = c; next.bytes > 0 && next.value == c.value;
         next = DecodeAt(text_, sign.end)) {
      sign.end += next.bytes;
      ++sign.count;
    }
    if (c.value == '!') sign.end = ShoutEnd(text_, sign.end, sign.count);
    const bool opens = AtOpening();
    if (const auto markdown = ReadMarkdown(text_, at_, sign.end, sign.count, words(), last_)) {
      if (!markdown->mark.empty()) spoken_.AddMarkBehind(markdown->mark, at_);
      if (!markdown->word.empty()) spoken_.AddWord(std::string(markdown->word), at_, markdown->end);
      at_ = markdown->end;
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
    if (TakeReading(ReadHtmlEntity(text_, at_)) ||
        TakeReading(ReadSuperscript(numbers_.numbers(), text_, at_)) ||
        TakeReading(ReadCaret(numbers_.numbers(), text_, at_))) {
      return;
    }
    if (c.value == '(' && TakePluralBrackets()) return;
    const SignContext context{words(), number_end_, last_, quoting_};
    if (auto reading = ReadSign(text_, sign, context)) {
      if (c.value == '"') number_end_ = sign.end;
      TakeReading(std::move(reading));
      return;
    }
    if (c.value == '"') quoting_ = !quoting_;
    if (c.value == '-') {
      if (TakeReading(ReadHyphens(text_, at_, sign.end, sign.count, words()))) return;
      if (StandForDash(text_, at_, sign.end, sign.count)) spoken_.AddMark("—", at_);
    } else if (const std::string_view mark = PauseMark(c.value, opens); !mark.empty()) {
      const bool spaced_dash = mark == "—" && at_ > 0 && text_[at_ - 1] == ' ';
      if (spaced_dash) spoken_.AddSpace();
      for (size_t i = 0; i < std::min<size_t>(sign.count, 3); ++i) spoken_.AddMark(mark, at_);
    } else if (TakeReading(ReadSignName(text_, sign, context))) {
      return;
    }
    at_ = sign.end;
  }

  // Reads "friend(s)" as "friends".
  bool TakePluralBrackets() {
    if (at_ == 0 || !IsAsciiLower(text_[at_ - 1]) || words().empty()) return false;
    for (const std::string_view ending : {"(s)", "(es)"}) {
      if (!text_.substr(at_).starts_with(ending)) continue;
      at_ += ending.size();
      spoken_.Extend(ending.substr(1, ending.size() - 2), at_);
      return true;
    }
    return false;
  }

  const NumberReader& numbers_;
  const std::string_view text_;
  SpokenText spoken_;
  size_t at_ = 0;
  size_t last_ = 0;                             // one past the last byte that is spoken
  size_t number_end_ = std::string_view::npos;  // the end of the last number
  size_t chat_end_ = std::string_view::npos;    // the end of the last word of a chat
  size_t joint_end_ = std::string_view::npos;   // where what leads to a number ends
  // Where the brackets and bars of formulas close that are open.
  std::vector<size_t> closers_;
  bool quoting_ = false;  // within straight quotation marks
};

}  // namespace

std::vector<SpokenWord> TextNormalizer::Normalize(std::string_view text, size_t offset) const {
  const auto folded = FoldText(text);
  const std::string_view whole = folded ? folded->text : text;
  const auto plain = PlainTex(whole);
  std::vector<SpokenWord> words = Walk(numbers_, plain ? plain->text : whole).Run();
  const auto origin = [&](size_t at) {
    if (plain) at = plain->origins[at];
    return (folded ? folded->origins[at] : at) + offset;
  };
  for (SpokenWord& word : words) {
    word.begin = origin(word.begin);
    word.end = std::max(origin(word.end), word.begin + (plain ? 1 : 0));
  }
  return words;
}

}  // namespace millrace::models
