#include "models/translation/markup/plain_tags.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::translation {
namespace {

// The number of innermost open tags among which the counterpart of a closing tag is searched.
constexpr size_t kMaxOpenTags = 32;

// Returns the end of `code` that begins at `at`, in one line; `at` if none does.
size_t CodeEnd(std::string_view text, size_t at) {
  constexpr size_t kLongest = 256;
  const size_t inner = std::min(text.find_first_not_of('`', at), text.size());
  const std::string_view window =
      text.substr(0, std::min(text.find('\n', inner), inner + kLongest));
  const size_t close = window.find(text.substr(at, inner - at), inner);
  return close == std::string_view::npos ? at : close + inner - at;
}

// Reads a tag of a forum whose [ is at `at`: [b], [url=address], [/b]. Returns false if there is
// none.
bool ReadForumTag(std::string_view text, size_t at, HtmlTag& tag) {
  constexpr size_t kLongest = 256;
  const std::string_view window = text.substr(0, at + kLongest);
  tag.closes = models::ByteAt(text, at + 1) == '/';
  const size_t name = at + (tag.closes ? 2 : 1);
  size_t end = name;
  while (end < window.size() && models::IsAsciiAlnum(window[end])) ++end;
  if (end == name || !models::IsAsciiLetter(window[name])) return false;
  tag.name = "[" + models::AsciiLower(window.substr(name, end - name));
  tag.untranslated = tag.name == "[code" || tag.name == "[img";
  if (models::ByteAt(window, end) == '=' && !tag.closes)
    end = std::min(window.find_first_of("]\n", end), window.size());
  tag.end = end + 1;
  return models::ByteAt(window, end) == ']';
}

// Returns the end of a comment or a declaration: <!-- note -->, <!DOCTYPE html>; `at` if there is
// none.
size_t CommentEnd(std::string_view text, size_t at) {
  constexpr size_t kLongest = 1024;
  const bool is_comment = text.substr(at).starts_with("<!--");
  if (!is_comment && !text.substr(at).starts_with("<!DOCTYPE")) return at;
  const std::string_view closing = is_comment ? "-->" : ">";
  const size_t close = text.substr(0, at + kLongest).find(closing, at);
  return close == std::string_view::npos ? at : close + closing.size();
}

}  // namespace

std::vector<PlainTag> FindTags(std::string_view text) {
  constexpr std::string_view kSigns = "<`[";
  std::vector<PlainTag> found;
  std::vector<size_t> open;
  HtmlTagReader reader(text);
  for (size_t at = text.find_first_of(kSigns); at != std::string_view::npos;) {
    if (text[at] == '`') {
      const size_t end = CodeEnd(text, at);
      at = text.find_first_of(kSigns, end > at ? end : text.find_first_not_of('`', at));
      continue;
    }
    PlainTag tag{at, {}};
    if (const size_t comment = CommentEnd(text, at); comment > at) {
      tag.tag.end = comment;
      tag.paired = tag.untranslated = true;
      found.push_back(std::move(tag));
      at = text.find_first_of(kSigns, comment);
      continue;
    }
    // <<name>>, [[name]], %<name>s
    const bool is_doubled =
        models::ByteAt(text, at + 1) == text[at] || (at > 0 && text[at - 1] == '%');
    if (is_doubled ||
        !(text[at] == '[' ? ReadForumTag(text, at, tag.tag) : reader.Read(at, tag.tag))) {
      at = text.find_first_of(kSigns, at + (is_doubled ? 2 : 1));
      continue;
    }
    if (!tag.tag.closes && !tag.tag.is_empty) {
      open.push_back(found.size());
    } else if (tag.tag.closes) {
      const size_t deepest = open.size() - std::min(open.size(), kMaxOpenTags);
      for (size_t i = open.size(); i-- > deepest;) {
        if (found[open[i]].tag.name != tag.tag.name) continue;
        tag.paired = found[open[i]].paired = true;
        if (found[open[i]].tag.untranslated) {
          found[open[i]].untranslated = true;
          found[open[i]].tag.end = tag.tag.end;
          found.resize(open[i] + 1);
        }
        open.resize(i);
        break;
      }
    }
    at = text.find_first_of(kSigns, tag.tag.end);
    const bool within = !found.empty() && found.back().tag.end == tag.tag.end;
    if (!within) found.push_back(std::move(tag));
  }
  // Without its counterpart it is a placeholder or a remark in brackets.
  std::erase_if(found,
                [text](const PlainTag& tag) { return text[tag.begin] == '[' && !tag.paired; });
  return found;
}

bool IsPlaceholderName(std::string_view text, size_t begin, size_t end) {
  constexpr size_t kMostSpaces = 2;
  constexpr size_t kFewestLetters = 2;  // the letters of each word
  constexpr std::string_view kJoints = " and or e ou ";
  const std::string_view words = text.substr(begin + 1, end - begin - 2);
  const bool touches =
      (begin > 0 && models::IsWordCharacter(models::DecodeBefore(text, begin).value)) ||
      models::IsWordCharacter(models::DecodeAt(text, end).value);
  if (touches || static_cast<size_t>(std::ranges::count(words, ' ')) > kMostSpaces) return false;
  for (size_t at = 0; at <= words.size();) {
    const size_t next = std::min(words.find(' ', at), words.size());
    const std::string_view word = words.substr(at, next - at);
    if (word.size() < kFewestLetters || !std::ranges::all_of(word, models::IsAsciiLetter) ||
        kJoints.find(" " + std::string(word) + " ") != std::string_view::npos)
      return false;
    at = next + 1;
  }
  return true;
}

size_t TypeBegin(std::string_view text, size_t limit, const PlainTag& found) {
  constexpr size_t kLongest = 64;
  const auto is_name = [text](size_t at) {
    return models::IsAsciiAlnum(text[at]) || text[at] == '_' || text[at] == ':';
  };
  const std::string_view name = text.substr(found.begin + 1, found.tag.name.size());
  constexpr std::array<std::string_view, 8> kSmallTypes = {"any", "bool",   "boolean", "char",
                                                           "int", "number", "string",  "void"};
  const bool is_type = std::ranges::find(kSmallTypes, name) != kSmallTypes.end() ||
                       (models::IsAsciiUpper(name.front()) &&
                        (name.size() == 1 || !std::ranges::all_of(name, models::IsAsciiUpper)));
  if (found.tag.closes || found.tag.is_empty || !is_type) return found.begin;
  size_t begin = found.begin;
  while (begin > limit && is_name(begin - 1) && found.begin - begin < kLongest) --begin;
  return begin;
}

}  // namespace millrace::translation
