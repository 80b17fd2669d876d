#include "models/text/sentence_splitter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/sign_names.h"
#include "models/text/splitting_language.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// A longer word before or after a stop decides nothing; a bounded look-ahead keeps the time linear.
constexpr size_t kMaxWordBytes = 48;
// A wrapped line is at least this long.
constexpr size_t kFullLineBytes = 40;
// A shorter line is hardly one that was wrapped.
constexpr size_t kShortLineBytes = 16;
// A sentence that is wrapped ends within so many bytes.
constexpr size_t kWrappedBytes = 400;

// Returns true for stops that occur in no word or abbreviation and need no space after them.
bool IsSureStop(char32_t c) { return c >= 0x80 && IsAmong(U"。！？｡．।॥։۔។៕။።፧", c); }

bool IsStop(char32_t c) {
  return c == '.' || c == '!' || c == '?' || c == U'…' || c == U'‽' || c == U'؟' || IsSureStop(c);
}

bool IsCloser(char32_t c) { return IsAmong(U"\"')]}”’»›」』）】》〉］", c); }

// Returns true for characters that may precede the first letter of a sentence.
bool IsOpener(char32_t c) { return IsAmong(U"\"'([{-*“‘«‹„‚¿¡–—•", c); }

bool IsDash(char32_t c) { return c == '-' || c == U'–' || c == U'—'; }

bool OpensSpanish(char32_t c) { return c == U'¿' || c == U'¡'; }

bool IsWordEdge(char32_t c) { return IsSpace(c) || IsOpener(c) || c == '/'; }

size_t SkipSpace(std::string_view text, size_t at) {
  for (CodePoint c = DecodeAt(text, at); c.bytes > 0 && IsSpace(c.value); c = DecodeAt(text, at)) {
    at += c.bytes;
  }
  return at;
}

// Skips white space up to the first line break, which it leaves.
size_t SkipBlanks(std::string_view text, size_t at) {
  for (CodePoint c = DecodeAt(text, at); c.bytes > 0 && IsSpace(c.value) && !IsLineBreak(c.value);
       c = DecodeAt(text, at)) {
    at += c.bytes;
  }
  return at;
}

// Returns the word that ends at `end`, back to white space or an opening mark; empty when it is too
// long.
std::string_view WordBefore(std::string_view text, size_t begin, size_t end) {
  size_t at = end;
  while (at > begin) {
    const CodePoint c = DecodeBefore(text, at);
    if (IsWordEdge(c.value)) break;
    at -= c.bytes;
    if (end - at > kMaxWordBytes) return {};
  }
  return text.substr(at, end - at);
}

// Returns the letters from `at` on, at most kMaxWordBytes of them.
std::string_view WordAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end - at < kMaxWordBytes) {
    const CodePoint c = DecodeAt(text, end);
    if (c.bytes == 0 || !(IsLower(c.value) || IsUpper(c.value))) break;
    end += c.bytes;
  }
  return text.substr(at, end - at);
}

bool AllDigits(std::string_view word) {
  for (const char c : word) {
    if (!IsDigit(static_cast<unsigned char>(c))) return false;
  }
  return !word.empty();
}

// Returns the position of the first letter, digit or other mark after a stop, past dashes, quotes
// and brackets.
size_t FirstOfNext(std::string_view text, size_t at) {
  for (CodePoint c = DecodeAt(text, at); c.bytes > 0; c = DecodeAt(text, at)) {
    if (!IsOpener(c.value) && (!IsSpace(c.value) || IsLineBreak(c.value))) break;
    at += c.bytes;
  }
  return at;
}

// Returns true for "XII" and "I–III"; a single letter may be a word.
bool IsRomanNumber(std::string_view text, size_t at) {
  const std::string_view word = WordAt(text, at);
  return !word.empty() && word.find_first_not_of("IVXL") == std::string_view::npos &&
         (word.size() > 1 || IsDash(DecodeAt(text, at + 1).value) ||
          (ByteAt(text, at + 1) == ':' && IsAsciiDigit(ByteAt(text, at + 2))));
}

// Returns true for the "I" of "Art. I, section 8", which is no word.
bool IsRomanOne(std::string_view text, size_t at) {
  constexpr std::string_view kBehind = ",;)";
  const char behind = ByteAt(text, at + 1);
  return ByteAt(text, at) == 'I' && (behind == '\0' || kBehind.find(behind) != kBehind.npos);
}

// Returns true for the letter of "Fig. A" and "apt. C", which is no word.
bool IsLetterBehind(std::string_view word, std::string_view text, size_t at) {
  constexpr auto kNumbered = std::to_array<std::string_view>(
      {"App", "Apt", "Ave", "Bldg", "Fig", "Rm", "apt", "bldg", "fig", "rm"});
  if (std::ranges::find(kNumbered, word) == kNumbered.end()) return false;
  const char letter = ByteAt(text, at);
  constexpr std::string_view kBehind = ",.;:)";
  const char behind = ByteAt(text, at + 1);
  if (letter < 'B' || letter > 'H')
    return letter == 'A' && (IsAsciiUpper(word[0]) || kBehind.find(behind) != kBehind.npos);
  return !IsAsciiAlnum(behind) && behind != '\'';
}

// Returns true for the era of "the 1st c. AD".
bool IsEra(std::string_view word) {
  return word == "AD" || word == "BC" || word == "BCE" || word == "CE";
}

// Returns true for "approx. $5".
bool IsSumOfMoney(std::string_view text, size_t at) {
  const CodePoint sign = DecodeAt(text, at);
  return (sign.value == '$' || sign.value == U'£' || sign.value == U'€' || sign.value == U'¥') &&
         IsDigit(static_cast<unsigned char>(ByteAt(text, at + sign.bytes)));
}

// Returns true if a move of chess is at `at`: "2. Nf3", "3. Bxb5", "4. O-O".
bool IsChessMove(std::string_view text, size_t at) {
  if (text.substr(at, 3) == "O-O") return true;
  constexpr std::string_view kPieces = "BKNQR";
  size_t end = at;
  const bool piece = kPieces.find(ByteAt(text, end)) != kPieces.npos;
  if (piece) ++end;
  if (piece && IsAsciiDigit(ByteAt(text, end))) ++end;  // "R1e2"
  const auto is_file = [&](size_t i) { return ByteAt(text, i) >= 'a' && ByteAt(text, i) <= 'h'; };
  if (is_file(end) && (ByteAt(text, end + 1) == 'x' || is_file(end + 1))) ++end;
  if (ByteAt(text, end) == 'x') ++end;
  return is_file(end) && ByteAt(text, end + 1) >= '1' && ByteAt(text, end + 1) <= '8' &&
         !IsAsciiAlnum(ByteAt(text, end + 2));
}

// Returns how the word before begins; 0 if there is none.
char32_t FirstOfPrevious(std::string_view text, size_t begin, std::string_view word) {
  const size_t at = static_cast<size_t>(word.data() - text.data());
  if (at <= begin + 1) return 0;
  return DecodeAt(WordBefore(text, begin, at - 1), 0).value;
}

// Returns true if the word that begins there has a digit in it.
bool HasDigit(std::string_view text, size_t at) {
  const std::string_view word = text.substr(at, std::min(text.find(' ', at), text.size()) - at);
  return std::ranges::any_of(word, [](unsigned char c) { return IsDigit(c); });
}

// Returns true for the series of a reporter of courts, "2 So. 3d 100", and for units and degrees of
// two parts, "long. 0.1° W".
bool IsSeriesOrDegrees(std::string_view word, std::string_view rest) {
  size_t end = 0;
  while (end < rest.size() && (IsDigit(rest[end]) || rest[end] == '.')) ++end;
  if (rest.starts_with("App. ") || rest.starts_with("Rptr. ")) return true;
  // "29.92 in. Hg", "20 deg. C", "Pub. L. 88-352", "Pub. L. No. 88-352".
  if ((word == "in" && rest.starts_with("Hg")) || (word == "Pub" && rest.starts_with("L. ")) ||
      (word == "L" && rest.starts_with("No. ")) ||
      (word == "deg" && (rest.starts_with("C") || rest.starts_with("F"))))
    return true;
  // "12 mi. NW of town".
  const std::string_view compass = WordAt(rest, 0);
  if (!compass.empty() && compass.size() < 4 && rest.substr(compass.size()).starts_with(" of ") &&
      compass.find_first_not_of("NSEW") == std::string_view::npos)
    return true;
  if (end == 0) return false;
  const std::string_view behind = rest.substr(end);
  if (word == "long" || word == "Long") return behind.starts_with("°") || behind.starts_with(" °");
  return end == 1 && (behind.starts_with("d ") || behind.starts_with("th ")) &&
         IsUpper(DecodeAt(word, 0).value) && IsDigit(DecodeAt(behind, behind.find(' ') + 1).value);
}

// Returns true for the catalogue of a composer's works, "K. 545" and "D. 960", and for a bill of
// the Senate, "S. 1241".
bool NumbersWork(std::string_view word, std::string_view rest) {
  return (word == "K" || word == "D" || word == "S") && rest.size() > 1 &&
         IsDigit(static_cast<unsigned char>(rest[1]));
}

// Returns true if the point of the compass is behind the number of a house, or before that of a
// street: "12 E. 5th Ave.", "at N. 5th Ave.". rest: what follows.
bool EndsHouse(std::string_view text, size_t begin, std::string_view word, std::string_view rest) {
  const size_t at = static_cast<size_t>(word.data() - text.data());
  if (std::string_view("NSEW").find(word) == std::string_view::npos) return false;
  if (at > begin + 1 && AllDigits(WordBefore(text, begin, at - 1))) return true;
  const size_t end = DigitsEnd(rest, 0);
  const std::string_view ending = WordAt(rest, end);
  return end > 0 && (ending == "st" || ending == "nd" || ending == "rd" || ending == "th");
}

// Returns true if the single full stop at `stop` only marks an abbreviation, an initial or a number
// in a list.
bool MarksAbbreviation(const SplittingLanguage& language, std::string_view text, size_t begin,
                       size_t stop, size_t next) {
  const std::string_view word = WordBefore(text, begin, stop);
  if (word.empty()) return false;
  const CodePoint follows = DecodeAt(text, next);
  // In "1. Open the box" the number is that of a list item. "In 1999. Then" ends a sentence.
  if (AllDigits(word)) {
    if (word.data() == text.data() + begin && word.size() <= 3) return true;
    if (word.size() <= 2 && IsChessMove(text, next)) return true;
    return language.ordinal_stops && word.size() <= 2 && !language.IsStarter(WordAt(text, next));
  }
  switch (language.Find(word)) {
    case Abbreviation::kAlways:
      // "V." is an initial or a numeral rather than "versus".
      if (word.size() == 1 && IsUpper(DecodeAt(word, 0).value)) break;
      return true;
    case Abbreviation::kUnlessStarter:
      // "On Ave. A near the park", but "at 5th Ave. A friend".
      if (IsLower(FirstOfPrevious(text, begin, word)) && IsLetterBehind(word, text, next))
        return true;
      // "etc." ends a list, and before a capital its sentence, too.
      return word != "etc" && !language.IsStarter(WordAt(text, next));
    case Abbreviation::kBeforeNumber:
      // "Mon. - Fri."
      if (IsDash(DecodeAt(text, SkipBlanks(text, stop + 1)).value)) return true;
      if (word.size() == 1 && IsUpper(DecodeAt(word, 0).value)) break;  // an initial
      // "Djokovic d. Alcaraz", "Sicko Mode ft. Drake".
      if ((word == "d" || word == "ft") && IsUpper(follows.value) &&
          IsUpper(FirstOfPrevious(text, begin, word)))
        return !language.IsStarter(WordAt(text, next));
      // "A Cat. 5 storm", but "I fed the cat. 5 dogs came."
      if (word == "cat" || word == "CAT" || (word == "Cat" && IsAsciiDigit(ByteAt(text, next + 1))))
        break;
      // "Model No. WH-1000", of which the next word is a code.
      if ((word == "No" || word == "no") && HasDigit(text, next)) return true;
      // "Ft. Worth" is a fort.
      return IsDigit(follows.value) || follows.value == '#' || IsRomanNumber(text, next) ||
             (IsUpper(DecodeAt(word, 0).value) && IsRomanOne(text, next)) ||
             IsSumOfMoney(text, next) || IsLetterBehind(word, text, next) ||
             (word == "c" && IsEra(WordAt(text, next))) ||
             ((word == "Ft" || word == "Pt") && IsUpper(follows.value));
    case Abbreviation::kNone:
      break;
  }
  if (IsSeriesOrDegrees(word, text.substr(next))) return true;
  // "A 6-qt. Dutch oven".
  constexpr size_t kMaxUnit = 3;
  const size_t word_begin = static_cast<size_t>(word.data() - text.data());
  if (word_begin > begin + 1 && text[word_begin - 1] == '-' &&
      IsDigit(static_cast<unsigned char>(text[word_begin - 2])) && word.size() <= kMaxUnit)
    return !language.IsStarter(WordAt(text, next));
  const CodePoint first = DecodeAt(word, 0);
  // "J. Smith", but "I." and Portuguese "É." are words.
  const bool initial = word.size() == first.bytes && IsUpper(first.value) && first.value != 'I' &&
                       (first.value < 0x80 || first.value >= 0x400);
  const bool dotted = word.find('.') != std::string_view::npos;  // "U.S.", "a.m."
  if (!initial && !dotted) return false;
  // "Smith, J. (2019)".
  if (initial && text.substr(stop + 1, 2) == " (") return true;
  // A number continues after an initial or a dotted word ("A. 5"); a starter word begins a
  // sentence.
  // The last stop of "Civ. P. 12" follows another.
  const bool second =
      word.data() > text.data() + begin + 1 && word.data()[-1] == ' ' && word.data()[-2] == '.';
  // "7 a.m. No. 22 bus".
  const std::string_view rest = text.substr(next);
  if (dotted && rest.starts_with("No. ") && IsDigit(DecodeAt(rest, 4).value)) return true;
  if (IsDigit(follows.value))
    return dotted || second || NumbersWork(word, rest) || EndsHouse(text, begin, word, rest);
  // "T. J. O'Neill".
  return rest.starts_with("O'") || rest.starts_with("O’") ||
         !language.IsStarter(WordAt(text, next));
}

// Splits off one sentence after another from the front.
// Returns true for words that end no sentence and no line of a list. Sorted by bytes.
bool NeedsNextWord(std::string_view word) {
  constexpr std::array<std::string_view, 31> kWords = {
      "a",   "an",    "and",  "are", "as",   "at",    "because", "but",  "by",  "for",  "from",
      "if",  "in",    "into", "is",  "its",  "my",    "of",      "or",   "our", "than", "that",
      "the", "their", "to",   "was", "were", "which", "who",     "with", "your"};
  static_assert(std::ranges::is_sorted(kWords));
  return std::ranges::binary_search(kWords, word);
}

class Splitter {
 public:
  Splitter(std::string_view text, const SplitOptions& options)
      : text_(text),
        language_(SplittingLanguageOf(options.language)),
        joins_lines_(options.joins_lines || options.joins_short_lines),
        joins_short_lines_(options.joins_short_lines) {}

  std::vector<Sentence> Run() {
    const size_t lead = SkipSpace(text_, 0);
    if (lead > 0) sentences_.push_back({text_.substr(0, 0), text_.substr(0, lead)});
    begin_ = at_ = line_ = lead;
    while (at_ < text_.size()) {
      const CodePoint c = DecodeAt(text_, at_);
      if (IsLineBreak(c.value)) {
        AtLineBreak();
      } else if (Stops(c.value)) {
        AtStop();
      } else {
        at_ += c.bytes;
      }
    }
    if (begin_ < text_.size()) EndAt(TrimmedEnd(text_.size()));
    return std::move(sentences_);
  }

 private:
  bool Stops(char32_t c) const { return IsStop(c) || (c == ';' && language_.semicolon_asks); }

  // Ends the sentence, unless the next line continues it with a lower-case letter, and the line was
  // full or is one of a wrapped text.
  void AtLineBreak() {
    const size_t end = TrimmedEnd(at_);
    const size_t next = at_ + (text_.substr(at_, 2) == "\r\n" ? 2 : 1);
    const size_t length = end - std::min(line_, end);
    const bool joins = joins_lines_ && DecodeBefore(text_, end).value != ':' &&
                       IsLower(DecodeAt(text_, next).value) &&
                       (length >= kFullLineBytes || (joins_short_lines_ && Wraps(end, next)));
    if (!joins) return EndAt(end);
    at_ = line_ = next;
  }

  // Returns true if the line that ends at `end` was wrapped by a program: its sentence began with a
  // capital letter and cannot end there, or ends with a stop after lines that are each as full as
  // the longest of them allows.
  bool Wraps(size_t end, size_t next) const {
    if (!IsUpper(DecodeAt(text_, FirstOfNext(text_, begin_)).value)) return false;
    if (NeedsNextWord(WordBefore(text_, begin_, end))) return true;
    if (end - line_ < kShortLineBytes || DecodeBefore(text_, end).value == ',') return false;
    const std::string_view near = text_.substr(0, next + 2 * kWrappedBytes);
    // Returns the length of a line with the first word of the next one.
    const auto with_next = [near](size_t line, size_t line_end, size_t behind) {
      return line_end - line + 1 + std::min(near.find_first_of(" \t\r\n", behind), near.size()) -
             behind;
    };
    size_t longest = end - line_;
    size_t least = with_next(line_, end, next);
    for (size_t line = next; line - next < kWrappedBytes;) {
      const size_t line_end = std::min(near.find_first_of("\r\n", line), near.size());
      longest = std::max(longest, line_end - line);
      const std::string_view words = near.substr(line, line_end - line);
      if (words.find_first_of(".!?") != std::string_view::npos) return least > longest;
      const size_t behind = line_end + (text_.substr(line_end, 2) == "\r\n" ? 2 : 1);
      if (behind >= near.size() || !IsLower(DecodeAt(text_, behind).value)) return false;
      least = std::min(least, with_next(line, line_end, behind));
      line = behind;
    }
    return false;
  }

  // Takes a run of stops and closing marks; at_ is on the first of them.
  void AtStop() {
    const size_t stop = at_;
    size_t stops = 0;
    bool sure = false;
    CodePoint c = DecodeAt(text_, at_);
    const char32_t first = c.value;
    for (; c.bytes > 0 && Stops(c.value); c = DecodeAt(text_, at_)) {
      sure = sure || IsSureStop(c.value);
      at_ += c.bytes;
      ++stops;
    }
    for (; c.bytes > 0 && IsCloser(c.value); c = DecodeAt(text_, at_)) at_ += c.bytes;
    // French puts a space before its closing mark.
    const size_t behind = SkipBlanks(text_, at_);
    if (behind > at_ && DecodeAt(text_, behind).value == U'»') {
      at_ = behind + DecodeAt(text_, behind).bytes;
    }
    if (sure) return EndAt(at_);
    if (at_ == text_.size()) return;
    // Spanish marks begin a sentence, with a space before them or without.
    if (OpensSpanish(DecodeAt(text_, at_).value)) return EndAt(at_);
    if (!IsSpace(DecodeAt(text_, at_).value)) return;
    const size_t next = FirstOfNext(text_, at_);
    const CodePoint follows = DecodeAt(text_, next);
    // The sign of "5! = 120" is a factorial; "Tues. & Thurs.", "Thurs. @ 2" and "1 lb. = 16 oz." go
    // on.
    const bool joins = IsAmong(U"&=+", follows.value) || text_.substr(next, 2) == "@ ";
    if (IsLower(follows.value) || (stops == 1 && first == '.' && joins) ||
        (first == '!' && follows.value == '='))
      return;
    if (stops == 1 && first == '.' && MarksAbbreviation(language_, text_, begin_, stop, next))
      return;
    EndAt(at_);
  }

  size_t TrimmedEnd(size_t end) const {
    while (end > begin_) {
      const CodePoint c = DecodeBefore(text_, end);
      if (!IsSpace(c.value)) break;
      end -= c.bytes;
    }
    return end;
  }

  // Ends the sentence at `end`; the white space after it belongs to it.
  void EndAt(size_t end) {
    const size_t next = SkipSpace(text_, end);
    sentences_.push_back({text_.substr(begin_, end - begin_), text_.substr(end, next - end)});
    begin_ = at_ = line_ = next;
  }

  const std::string_view text_;
  const SplittingLanguage& language_;
  const bool joins_lines_;
  const bool joins_short_lines_;
  size_t line_ = 0;   // where the current line begins
  size_t begin_ = 0;  // where the current sentence begins
  size_t at_ = 0;
  std::vector<Sentence> sentences_;
};

}  // namespace

std::vector<Sentence> SplitSentences(std::string_view text, const SplitOptions& options) {
  return Splitter(text, options).Run();
}

}  // namespace millrace::models
