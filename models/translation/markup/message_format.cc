#include "models/translation/markup/message_format.h"

#include <algorithm>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

size_t SpaceEnd(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(kSpaces, at), text.size());
}

bool IsWordByte(char c) {
  return models::IsAsciiAlnum(c) || c == '_' || c == '-' || c == '.' || c == '=' || c == ':';
}
size_t WordEnd(std::string_view text, size_t at) {
  while (at < text.size() && IsWordByte(text[at])) ++at;
  return at;
}

// Returns the position behind the } that closes the { at `at`; 0: none does nearby.
size_t BracesEnd(std::string_view text, size_t at) {
  constexpr size_t kLongest = 8 << 10;
  text = text.substr(0, at + kLongest);
  size_t depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return at + 1;
  }
  return 0;
}

// Returns true if a branch has a word of two letters, which a translation may change.
bool HasWords(std::string_view text, const PlainMessage& message) {
  return std::ranges::any_of(message.branches, [&](const PlainMessage::Branch& branch) {
    for (size_t at = branch.begin; at < branch.end; at += models::DecodeAt(text, at).bytes) {
      const models::CodePoint letter = models::DecodeAt(text, at);
      if (models::IsLetter(letter.value) &&
          models::IsLetter(models::DecodeAt(text, at + letter.bytes).value))
        return true;
    }
    return false;
  });
}

}  // namespace

bool IsDoubledApostrophe(std::string_view text, size_t at) {
  return at > 0 && text.substr(at, 2) == "''" &&
         (text[at - 1] == '}' || models::IsLetter(models::DecodeBefore(text, at).value)) &&
         models::IsLetter(models::DecodeAt(text, at + 2).value);
}

PlainMessage ReadMessage(std::string_view text, size_t at) {
  PlainMessage none{at, at};
  PlainMessage message{at, at};
  const auto take = [&](size_t& place, std::string_view what) {
    place = SpaceEnd(text, place);
    if (text.substr(place, what.size()) != what) return false;
    place += what.size();
    return true;
  };
  size_t next = at + 1;
  next = WordEnd(text, SpaceEnd(text, next));
  if (!take(next, ",")) return none;
  next = SpaceEnd(text, next);
  const std::string_view kind = text.substr(next, WordEnd(text, next) - next);
  if (kind != "plural" && kind != "select" && kind != "selectordinal") return none;
  const bool counts = kind != "select";
  next += kind.size();
  if (!take(next, ",")) return none;
  while (!take(next, "}")) {
    next = SpaceEnd(text, next);
    const size_t word = next;
    next = WordEnd(text, next);
    if (next == word) return none;
    const std::string_view selector = text.substr(word, next - word);
    if (selector.starts_with("offset:")) continue;
    next = SpaceEnd(text, next);
    if (models::ByteAt(text, next) != '{') return none;
    const size_t end = BracesEnd(text, next);
    if (end == 0) return none;
    const bool is_one = selector == "one" || selector == "=1";
    message.branches.push_back({next + 1, end - 1, !counts ? "" : is_one ? "1" : "37"});
    next = end;
  }
  message.end = next;
  return message.branches.empty() ? none : message;
}

std::vector<PlainMessage> FindMessages(std::string_view text) {
  constexpr size_t kMostBranches = 6;  // each is translated with the words around the message
  constexpr size_t kLongestLine = 512;
  constexpr size_t kMostTries = 16;  // braces of a line, which bounds the time
  std::vector<PlainMessage> messages;
  for (size_t line = 0; line < text.size();) {
    const size_t first = std::min(text.find_first_not_of(" \t", line), text.size());
    size_t end = std::min(text.find('\n', first), text.size());
    PlainMessage message;
    size_t tries = 0;
    for (size_t at = text.substr(0, end).find('{', first); at < end && tries < kMostTries;
         at = text.substr(0, end).find('{', at + 1), ++tries) {
      PlainMessage found = ReadMessage(text, at);
      if (found.end == at) continue;
      const bool is_second = message.end > 0;
      message = std::move(found);
      end = std::min(text.find('\n', message.end), text.size());
      at = message.end - 1;
      if (is_second) message.branches.clear();
    }
    message.line_begin = first;
    message.line_end = text.substr(0, end).find_last_not_of(" \t\r") + 1;  // npos + 1 is 0
    const bool alone = message.begin == first && message.end == message.line_end;
    const bool few = message.branches.size() <= kMostBranches && end - first <= kLongestLine;
    if (!message.branches.empty() && (alone || (few && HasWords(text, message))))
      messages.push_back(std::move(message));
    line = end + 1;
  }
  return messages;
}

}  // namespace millrace::translation
