#include "models/text/sentence_splitter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "models/text/abbreviations.h"
#include "models/text/splitting_language.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// A longer word before or after a stop decides nothing; a bounded look-ahead keeps the time linear.
constexpr size_t kMaxWordBytes = 48;
// A wrapped line is at least this long.
constexpr size_t kFullLineBytes = 40;

// Returns true for stops that occur in no word or abbreviation and need no space after them.
bool IsSureStop(char32_t c) {
  switch (c) {
    case U'。':
    case U'！':
    case U'？':
    case U'｡':
    case U'．':
    case U'।':  // Hindi
    case U'॥':
    case U'։':  // Armenian
    case U'۔':  // Urdu
    case U'។':  // Khmer
    case U'៕':
    case U'။':  // Burmese
    case U'።':  // Amharic
    case U'፧':
      return true;
    default:
      return false;
  }
}

bool IsStop(char32_t c) {
  return c == '.' || c == '!' || c == '?' || c == U'…' || c == U'‽' || c == U'؟' || IsSureStop(c);
}

bool IsCloser(char32_t c) {
  switch (c) {
    case '"':
    case '\'':
    case ')':
    case ']':
    case '}':
    case U'”':
    case U'’':
    case U'»':
    case U'›':
    case U'」':
    case U'』':
    case U'）':
    case U'】':
    case U'》':
    case U'〉':
    case U'］':
      return true;
    default:
      return false;
  }
}

// Returns true for characters that may precede the first letter of a sentence.
bool IsOpener(char32_t c) {
  switch (c) {
    case '"':
    case '\'':
    case '(':
    case '[':
    case '{':
    case '-':
    case '*':
    case U'“':
    case U'‘':
    case U'«':
    case U'‹':
    case U'„':
    case U'‚':
    case U'¿':
    case U'¡':
    case U'–':
    case U'—':
    case U'•':
      return true;
    default:
      return false;
  }
}

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
    return language.ordinal_stops && word.size() <= 2 && !language.IsStarter(WordAt(text, next));
  }
  switch (language.Find(word)) {
    case Abbreviation::kAlways:
      return true;
    case Abbreviation::kUnlessStarter:
      return !language.IsStarter(WordAt(text, next));
    case Abbreviation::kBeforeNumber:
      return IsDigit(follows.value);
    case Abbreviation::kNone:
      break;
  }
  const CodePoint first = DecodeAt(word, 0);
  // "J. Smith", but "I." and Portuguese "É." are words.
  const bool initial = word.size() == first.bytes && IsUpper(first.value) && first.value != 'I' &&
                       (first.value < 0x80 || first.value >= 0x400);
  const bool dotted = word.find('.') != std::string_view::npos;  // "U.S.", "a.m."
  if (!initial && !dotted) return false;
  // A number continues after an initial or a dotted word ("A. 5"); a starter word begins a
  // sentence.
  return IsDigit(follows.value) ? dotted : !language.IsStarter(WordAt(text, next));
}

// Splits off one sentence after another from the front.
class Splitter {
 public:
  Splitter(std::string_view text, const SplitOptions& options)
      : text_(text),
        language_(SplittingLanguageOf(options.language)),
        joins_lines_(options.joins_lines) {}

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

  // Ends the sentence, unless the line was full and the next one continues with a lower-case
  // letter.
  void AtLineBreak() {
    const size_t end = TrimmedEnd(at_);
    const size_t next = at_ + (text_.substr(at_, 2) == "\r\n" ? 2 : 1);
    const bool full = end - std::min(line_, end) >= kFullLineBytes;
    if (!joins_lines_ || !full || DecodeBefore(text_, end).value == ':' ||
        !IsLower(DecodeAt(text_, next).value)) {
      return EndAt(end);
    }
    at_ = line_ = next;
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
    if (IsLower(follows.value)) return;
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
