#include "models/translation/markup/html_tag.h"

#include <algorithm>

#include "models/core/strings.h"
#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "models/translation/markup/html_elements.h"
#include "models/translation/markup/word_lists.h"

namespace millrace::translation {
namespace {

bool IsNameByte(char c) { return models::IsAsciiAlnum(c) || c == '-' || c == ':' || c == '_'; }

bool SaysUntranslated(std::string_view attribute, std::string_view value) {
  const std::string name = models::AsciiLower(attribute);
  if (name == "translate") return models::AsciiLower(value) == "no";
  return name == "class" && HasWord(value, "notranslate");
}

// Returns the end of what is in braces from `at` on, if they are balanced and near; else `at` + 1.
size_t ExpressionEnd(std::string_view text, size_t at) {
  constexpr size_t kLongest = 1024;
  size_t depth = 0;
  const std::string_view near = text.substr(0, at + kLongest);
  for (size_t next = at; next < near.size(); ++next) {
    if (near[next] == '{') ++depth;
    if (near[next] == '}' && --depth == 0) return next + 1;
  }
  return at + 1;
}

}  // namespace

bool StaysAsItIs(const HtmlTag& tag) {
  return !tag.closes && !tag.is_empty && !HasNoEndTag(tag.name) &&
         (tag.untranslated || IsInlineCode(tag.name) || IsUntouchedElement(tag.name));
}

size_t HtmlTagReader::Behind(std::string_view mark, size_t at) const {
  const size_t found = text_.find(mark, at);
  return found == std::string_view::npos ? found : found + mark.size();
}

bool HtmlTagReader::Read(size_t at, HtmlTag& tag) {
  tag = {};
  size_t next = at + 1;
  tag.closes = models::ByteAt(text_, next) == '/';
  if (tag.closes) ++next;
  const size_t name = next;
  while (IsNameByte(models::ByteAt(text_, next))) ++next;
  if (next == name) return false;
  tag.name = models::AsciiLower(text_.substr(name, next - name));
  // In Android's strings it holds what stays as it is.
  tag.untranslated = tag.name == "xliff:g";
  size_t attribute = next;      // where its name begins
  size_t attribute_end = next;  // 0 bytes: none yet
  bool equals = false;
  while (next < text_.size()) {
    const char c = text_[next];
    if (c == '>') {
      tag.is_empty = text_[next - 1] == '/';
      tag.end = next + 1;
      return true;
    }
    if (c == '<') return false;
    if (c == '{' && equals) {  // an expression of JSX
      next = ExpressionEnd(text_, next);
      equals = false;
      continue;
    }
    if (c == '"' || c == '\'') {
      size_t& none = c == '"' ? no_double_quote_ : no_single_quote_;
      const size_t close = next + 1 >= none ? std::string_view::npos : text_.find(c, next + 1);
      if (close == std::string_view::npos) {
        none = next + 1 < none ? next + 1 : none;
        return false;
      }
      if (equals) {
        tag.untranslated =
            tag.untranslated || SaysUntranslated(text_.substr(attribute, attribute_end - attribute),
                                                 text_.substr(next + 1, close - next - 1));
      }
      next = close + 1;
      equals = false;
      continue;
    }
    if (c == '=') {
      equals = true;
    } else if (equals && IsNameByte(c)) {  // a value without quotes
      const size_t value = next;
      while (IsNameByte(models::ByteAt(text_, next + 1))) ++next;
      tag.untranslated =
          tag.untranslated || SaysUntranslated(text_.substr(attribute, attribute_end - attribute),
                                               text_.substr(value, next + 1 - value));
      equals = false;
    } else if (IsNameByte(c)) {
      attribute = next;
      while (IsNameByte(models::ByteAt(text_, next + 1))) ++next;
      attribute_end = next + 1;
    }
    ++next;
  }
  return false;
}

size_t HtmlTagReader::ElementEnd(const HtmlTag& opening) {
  // The cost of searches in vain is bounded.
  constexpr size_t kMostInVain = size_t{4} << 20;
  if (searched_in_vain_ > kMostInVain) return 0;
  const bool raw =
      opening.name == "script" || opening.name == "style" || opening.name == "textarea";
  size_t depth = 1;
  for (size_t at = text_.find('<', opening.end); at != std::string_view::npos;
       at = text_.find('<', at)) {
    HtmlTag tag;
    if (!raw && text_.substr(at, 4) == "<!--") {
      at = Behind("-->", at);
      continue;
    }
    if (!Read(at, tag)) {
      ++at;
      continue;
    }
    if (tag.name == opening.name && !tag.is_empty) {
      if (!tag.closes) {
        depth += raw ? 0 : 1;
      } else if (--depth == 0) {
        return tag.end;
      }
    }
    at = raw ? at + 1 : tag.end;
  }
  searched_in_vain_ += text_.size() - opening.end;
  return 0;
}

size_t HtmlTagReader::NoteMarkEnd(size_t at, const HtmlTag& opening) const {
  constexpr size_t kLongest = 256;
  constexpr std::u32string_view kSigns = U".,;:!?\"')\u2019\u201D\u00BB\u2026";
  if (opening.closes || opening.is_empty) return 0;
  const char32_t before = at > 0 ? models::DecodeBefore(text_, at).value : 0;
  const bool is_link =
      opening.name == "a" && (models::IsLetter(before) || kSigns.find(before) != kSigns.npos);
  if (opening.name != "sup" && !is_link) return 0;
  const std::string end_tag = StrCat("</", opening.name, ">");
  const std::string_view near = text_.substr(opening.end, kLongest);
  const size_t close = near.find(end_tag);
  if (close == std::string_view::npos) return 0;
  bool has_sign = false;
  bool in_tag = false;
  for (size_t next = 0; next < close;) {
    const models::CodePoint c = models::DecodeAt(near, next);
    next += c.bytes;
    if (c.value == '<' || c.value == '>') {
      in_tag = c.value == '<';
    } else if (!in_tag) {
      if (models::IsLetter(c.value)) return 0;
      has_sign = has_sign || c.value > ' ';
    }
  }
  const size_t end = opening.end + close + end_tag.size();
  return has_sign && !models::IsWordCharacter(models::DecodeAt(text_, end).value) ? end : 0;
}

size_t HtmlTagReader::UnfinishedEnd(size_t at) const {
  constexpr size_t kLongest = 4096;
  const std::string_view text = text_.substr(0, at + kLongest);
  const auto name_end = [text](size_t from) {
    while (IsNameByte(models::ByteAt(text, from))) ++from;
    return from;
  };
  const auto space_end = [text](size_t from) {
    return std::min(text.find_first_not_of(models::kAsciiSpace, from), text.size());
  };
  const size_t name = at + (models::ByteAt(text, at + 1) == '/' ? 2 : 1);
  if (!models::IsAsciiLetter(models::ByteAt(text, name))) return at;
  size_t end = name_end(name);
  for (size_t next = space_end(end); next > end; next = space_end(end)) {
    const size_t equals = space_end(name_end(next));
    if (equals == next || models::ByteAt(text, equals) != '=') break;
    size_t value = space_end(equals + 1);
    const char quote = models::ByteAt(text, value);
    if (quote == '"' || quote == '\'') {
      end = text.find(quote, value + 1);
      if (end == std::string_view::npos)
        end = std::min(text.find_first_of("<>\n", value + 1), text.size());
      if (models::ByteAt(text, end) == quote || models::ByteAt(text, end) == '>') ++end;
      if (text[end - 1] == '>') break;
    } else {
      while (value < text.size() &&
             models::kAsciiSpace.find(text[value]) == std::string_view::npos &&
             text[value] != '<') {
        ++value;
      }
      end = value;
    }
  }
  return end;
}

}  // namespace millrace::translation
