#include "models/text/english/math_function.h"

#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/english/letter_run.h"
#include "models/text/english/word_kinds.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxArgumentBytes = 32;
constexpr size_t kMaxVariableLetters = 3;

// Returns what a function is called; nullopt if the word names none.
std::optional<std::string_view> NameOf(std::string_view word) {
  return FindSpoken(word, "function");
}

bool IsMinus(char32_t c) { return c == '-' || c == 0x2212; }

// Returns true for a variable, a number or a function at `at`: what a formula is of.
bool IsOperand(std::string_view text, size_t at) {
  const CodePoint first = DecodeAt(text, at);
  if (IsDigit(first.value) || IsGreek(first.value) || first.value == '|') return true;
  const size_t end = LettersEnd(text, at, kMaxArgumentBytes);
  const std::string_view word = text.substr(at, end - at);
  return word.size() == 1 || NameOf(word);
}

// Returns the bracket that closes the one at `open`; 0 if it is too far, or words stand between.
size_t ClosingBracket(std::string_view text, size_t open) {
  const std::string_view near = text.substr(0, open + kMaxArgumentBytes);
  size_t depth = 0;
  size_t letters = 0;
  for (size_t at = open; at < near.size(); ++at) {
    letters = IsAsciiLetter(near[at]) ? letters + 1 : 0;
    if (letters > kMaxVariableLetters) return 0;
    if (near[at] == '(') ++depth;
    if (near[at] == ')' && --depth == 0) return at;
  }
  return 0;
}

// Returns true for the argument of a function that has no brackets: "sin θ", "cos 2θ", "tan 45°".
bool IsArgument(std::string_view text, size_t at) {
  const CodePoint first = DecodeAt(text, at);
  if (IsGreek(first.value)) return true;
  const size_t end = DigitsEnd(text, at, kMaxArgumentBytes);
  const CodePoint behind = DecodeAt(text, end);
  if (end > at && (behind.value == 0xB0 || IsGreek(behind.value))) return true;
  const char letter = ByteAt(text, end);
  return IsAsciiLower(letter) && letter != 'a' && letter != 'i' &&
         !IsLetter(DecodeAt(text, end + 1).value) && ByteAt(text, end + 1) != '\'';
}

// Returns true for letters that are names of functions: "f(x)", "O(n)".
bool NamesFunction(char letter) {
  return IsAsciiLower(letter) ? letter != 'a' && letter != 'i' : IsAmong("EFGHLOPTV", letter);
}

// Takes the bracket at the end of the reading, and a minus behind it.
MathFunction WithArgument(std::string_view text, Reading reading, size_t close,
                          std::string_view joint = "of") {
  reading.Append(joint);
  ++reading.end;
  const CodePoint sign = DecodeAt(text, reading.end);
  if (IsMinus(sign.value)) {
    reading.Append("minus");
    reading.end += sign.bytes;
  }
  return {std::move(reading), close};
}

}  // namespace

std::optional<MathFunction> ReadMathFunction(std::string_view text, size_t begin, size_t end) {
  const std::string_view word = text.substr(begin, end - begin);
  if (word.size() == 1) {
    size_t open = end;
    while (ByteAt(text, open) == '\'' && open - end < 2) ++open;
    if (ByteAt(text, open) != '(' || !NamesFunction(word[0])) return std::nullopt;
    const size_t close = ClosingBracket(text, open);
    const size_t first =
        open + (IsMinus(DecodeAt(text, open + 1).value) ? 1 + DecodeAt(text, open + 1).bytes : 1);
    const bool plural = text.substr(open, close - open) == "(s";
    if (close == 0 || !IsOperand(text, first) || plural || IsAsciiLetter(ByteAt(text, close + 1)))
      return std::nullopt;
    Reading reading{open, {std::string(word)}};
    if (open > end) reading.AppendEach(open == end + 1 ? "prime" : "double prime");
    // "n(n+1)" is a product.
    const bool product = text[first] == word[0] && close > first + 1;
    return WithArgument(text, std::move(reading), close, product ? "times" : "of");
  }
  const auto name = NameOf(word);
  if (!name) return std::nullopt;
  Reading reading{end, {}};
  reading.AppendEach(*name);
  const size_t base = DigitsEnd(text, end, 3);
  const bool based = word == "log" && base > end;
  if (based) {
    reading.AppendEach("base");
    const std::string_view digits = text.substr(end, base - end);
    if (digits != "2" && digits != "10" && digits != "3") return std::nullopt;
    reading.Append(digits == "2" ? "two" : digits == "3" ? "three" : "ten");
    reading.end = base;
  }
  if (ByteAt(text, reading.end) == '(') {
    const size_t close = ClosingBracket(text, reading.end);
    // "console.log("hi")" calls a program.
    if (close > reading.end + 1 && !IsAmong("\"'`", text[reading.end + 1]))
      return WithArgument(text, std::move(reading), close);
    return std::nullopt;
  }
  const char32_t follows = DecodeAt(text, reading.end).value;
  const bool power = follows == 0xB2 || follows == 0xB3 || follows == 0x207B || follows == '^';
  const size_t space = reading.end + (follows == ' ' ? 1 : 0);
  const bool joined = follows != ' ' && IsGreek(follows);
  const bool only_function = word == "ln" && follows == ' ' && IsOperand(text, space);
  if (only_function || (based && follows == ' ' && IsOperand(text, space))) {
    reading.Append("of");
    return MathFunction{std::move(reading), 0};
  }
  if (power || joined || based || (follows == ' ' && IsArgument(text, space)))
    return MathFunction{std::move(reading), 0};
  return std::nullopt;
}

size_t AbsoluteValueEnd(std::string_view text, size_t at) {
  if (at > 0 && !IsAmong(" (=+-*/", text[at - 1])) return 0;
  const size_t first = at + 1;
  const CodePoint sign = DecodeAt(text, first);
  if (!IsOperand(text, first + (IsMinus(sign.value) ? sign.bytes : 0))) return 0;
  const std::string_view near = text.substr(0, at + kMaxArgumentBytes);
  const size_t close = near.find('|', first);
  if (close == std::string_view::npos || close == first || near[close - 1] == ' ') return 0;
  size_t letters = 0;
  for (size_t i = first; i < close; ++i) {
    letters = IsAsciiLetter(near[i]) ? letters + 1 : 0;
    if (letters > kMaxVariableLetters) return 0;
  }
  const CodePoint behind = DecodeAt(text, close + 1);
  // A row of a table has a cell behind the bar.
  return IsLetter(behind.value) || IsDigit(behind.value) || behind.value == '|' ? 0 : close;
}

std::optional<Reading> ReadOperator(std::string_view text, size_t at) {
  // "(3 + 4) * 2".
  if (at > 0 && ByteAt(text, at) == '*') {
    const bool spaced = text[at - 1] == ' ' && ByteAt(text, at + 1) == ' ';
    const size_t left = at - (spaced ? 2 : 1);
    const size_t right = at + (spaced ? 2 : 1);
    const bool bracketed = ByteAt(text, left) == ')'
                               ? IsOperand(text, right)
                               : IsAsciiDigit(ByteAt(text, left)) && ByteAt(text, right) == '(';
    if (bracketed) return Reading{right, {"times"}};
  }
  // "<= 10" begins a text, where ">" would quote.
  const bool begins = at == 0 && ByteAt(text, 1) == '=' && text[0] != '=';
  // "x<=y".
  const bool joined = at > 0 && IsAsciiAlnum(text[at - 1]) && text[at] != '=' &&
                      IsAmong("<>!", text[at]) && IsAsciiAlnum(ByteAt(text, at + 2));
  if (!begins && !joined && (at == 0 || text[at - 1] != ' ')) return std::nullopt;
  for (const size_t bytes : {3U, 2U}) {
    const size_t end = at + bytes;
    const auto spoken = FindSpoken(text.substr(at, bytes), "comparison");
    const char follows = ByteAt(text, end);
    // ">=18", but "==marked==".
    const bool bound = bytes == 2 && IsAmong("<>", text[at]) && IsAsciiDigit(follows);
    if (spoken && (follows == ' ' || joined || bound)) return ReadAs(end, *spoken);
  }
  return std::nullopt;
}

}  // namespace millrace::models
