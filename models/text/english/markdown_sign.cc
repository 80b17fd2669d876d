#include "models/text/english/markdown_sign.h"

#include <algorithm>
#include <string>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/web_reader.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// How lines of a program in C begin behind their sign.
constexpr std::string_view kDirectives = "define |ifdef |ifndef |include <|include \"|pragma ";
constexpr std::string_view kInclude = "#include ";

// Returns true if the line of `at` begins with a bar, as a row of a table does.
bool BeginsWithBar(std::string_view text, size_t at) {
  constexpr size_t kFarthest = 256;
  const size_t begin = at > kFarthest ? at - kFarthest : 0;
  const size_t line = text.substr(begin, at - begin).rfind('\n');
  return ByteAt(text, line == std::string_view::npos ? begin : begin + line + 1) == '|';
}

}  // namespace

std::optional<MarkdownSign> ReadMarkdown(std::string_view text, size_t at, size_t run, size_t count,
                                         std::span<const SpokenWord> words, size_t last) {
  const char32_t c = DecodeAt(text, at).value;
  const char follows = ByteAt(text, run);
  // A quotation may be within another: "> > yes".
  const size_t line = text.substr(0, at).ends_with("> ") && c == '>' && words.empty() ? 0 : at;
  const bool begins_line = line == 0 || IsLineBreak(DecodeBefore(text, line).value);
  if (begins_line && (c == '#' || c == '>') && count <= 6 &&
      (follows == ' ' || (c == '>' && !IsAsciiDigit(follows)))) {
    return MarkdownSign{run, "", ""};
  }
  // The sign of "#include <stdio.h>" and "#define MAX 10".
  if (begins_line && c == '#' && count == 1 && BeginsWithOne(text.substr(run), kDirectives))
    return MarkdownSign{run, "", ""};
  // The language behind "```".
  if (begins_line && c == '`' && count >= 3) {
    size_t end = run;
    while (end < text.size() && text[end] != '\n') ++end;
    return MarkdownSign{end, "", ""};
  }
  // The cells of a table: "| A | B |".
  if (c == '|' && count == 1 && follows == ' ' && at > 1 && text[at - 1] == ' ' &&
      !IsAmong(",.;:!?|", text[at - 2]) && last > run && BeginsWithBar(text, at)) {
    return MarkdownSign{run, ",", ""};
  }
  // A number below the line: "H~2~O".
  if (c == '~' && count == 1 && at > 0 && IsAsciiAlnum(text[at - 1])) {
    return MarkdownSign{run, "", ""};
  }
  // An address in angle brackets: "<https://example.com>", "Bob <bob@example.com>".
  if (c == '<' && count == 1 && IsAsciiAlnum(follows)) {
    const std::string_view near = text.substr(run, kMaxWebBytes);
    const std::string_view inner = near.substr(0, near.find('>'));
    const bool address =
        inner.size() < near.size() && inner.find(' ') == std::string_view::npos &&
        (text.substr(0, at).ends_with(kInclude) || inner.find("://") != std::string_view::npos ||
         (inner.find('@') != std::string_view::npos && inner.find('.') != std::string_view::npos));
    if (address) return MarkdownSign{run, "", ""};
  }
  // The end of such an address.
  if (c == '>' && count == 1 && at > 0 && IsAsciiAlnum(text[at - 1])) {
    const size_t begin = at - std::min(at, kMaxWebBytes);
    const std::string_view near = text.substr(begin, at - begin);
    const size_t open = near.find_last_of("< ");
    if (open != std::string_view::npos && near[open] == '<' &&
        (near.substr(open).find_first_of("@:") != std::string_view::npos ||
         near.substr(0, open).ends_with(kInclude)))
      return MarkdownSign{run, "", ""};
  }
  if (c == '=' && count == 2) {
    const bool inner = IsAsciiAlnum(follows) || (at > 0 && IsAsciiAlnum(text[at - 1]));
    const bool spaced = follows == ' ' && at > 0 && text[at - 1] == ' ';
    // "numpy==1.26" marks nothing.
    const bool compares = IsAsciiDigit(follows) && at > 0 && IsAsciiAlnum(text[at - 1]);
    if (inner && !spaced && !compares) {
      return MarkdownSign{run, "", ""};
    }
  }
  if (c == ']' && count == 1 && follows == '(') {
    const size_t close = text.substr(0, run + kMaxWebBytes).find(')', run);
    const std::string_view target =
        close == std::string_view::npos ? "" : text.substr(run + 1, close - run - 1);
    if (target.find_first_of(" \n") == std::string_view::npos &&
        target.find_first_of("/#.@") != std::string_view::npos) {
      return MarkdownSign{close + 1, ")", ""};
    }
  }
  if (c == 0x2022 || c == 0x25E6 || c == 0x25AA) {
    const bool divides =
        !words.empty() && words.back().after.find_first_of(",.;:!?") == std::string::npos;
    return MarkdownSign{run, divides ? "," : "", ""};
  }
  // The box of a task: "- [x] Buy milk".
  if (c == '[' && count == 1 && at >= 2 && text[at - 1] == ' ' &&
      (text[at - 2] == '-' || text[at - 2] == '*') && words.size() <= 1 &&
      (text.substr(at, 4) == "[x] " || text.substr(at, 4) == "[X] " ||
       text.substr(at, 4) == "[ ] ")) {
    return MarkdownSign{at + 3, "", ""};
  }
  // An image: "![image](a.png)".
  if (c == '!' && count == 1 && follows == '[') {
    return MarkdownSign{run, "", ""};
  }
  // The steps of a menu: "Settings > Privacy".
  if (c == '>' && count == 1 && at > 1 && text[at - 1] == ' ' && IsAsciiLower(text[at - 2]) &&
      follows == ' ' && IsAsciiUpper(ByteAt(text, run + 1)) &&
      IsAsciiLower(ByteAt(text, run + 2)) && !words.empty()) {
    return MarkdownSign{run, ",", ""};
  }
  // The arrow of "<->" has another head.
  if (c == '<' && count == 1 && follows == '-' && ByteAt(text, run + 1) == '>') {
    return MarkdownSign{run, "", ""};
  }
  const bool arrow = (c == '-' || c == '=') && count <= 2 && follows == '>';
  if (arrow || c == 0x2192 || c == 0x21D2) {
    const size_t end = run + (arrow ? 1 : 0);
    return MarkdownSign{end, "", !words.empty() && last > end ? "to" : ""};
  }
  // "<3", "<333".
  const size_t threes = std::min(text.find_first_not_of('3', run), text.size());
  const bool typed = c == '<' && count == 1 && threes > run &&
                     !IsAsciiAlnum(ByteAt(text, threes)) && ByteAt(text, threes) != '.';
  if (typed || c == U'❤' || c == U'♥') {
    const size_t end = typed ? threes : run;
    const bool person = !words.empty() && IsOneOf(AsciiLower(words.back().text), "i", "we", "they");
    const bool loves =
        person || (words.empty() && ByteAt(text, end) == ' ' &&
                   IsOneOf(LettersAt(text, end + 1), "it", "my", "this", "u", "ya", "you"));
    const size_t more = end + (ByteAt(text, end) == ' ' ? 1 : 0);
    if (typed && !loves && last > end && ByteAt(text, more) != '<') return std::nullopt;
    return MarkdownSign{end, "", loves ? "love" : ""};
  }
  return std::nullopt;
}

}  // namespace millrace::models
