#include <algorithm>
#include <array>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/translation/markup/block_builder.h"
#include "models/translation/markup/html_entities.h"
#include "models/translation/markup/html_tag.h"

namespace millrace::translation {
namespace {

// Elements within a sentence; every other element separates blocks.
constexpr std::array<std::string_view, 37> kInline = {
    "a",      "abbr",   "acronym", "b",    "bdi",  "bdo", "big",   "cite",  "code",   "data",
    "del",    "dfn",    "em",      "font", "i",    "img", "input", "ins",   "kbd",    "label",
    "mark",   "output", "picture", "q",    "ruby", "s",   "samp",  "small", "source", "span",
    "strike", "strong", "sub",     "sup",  "time", "u",   "var"};
constexpr std::array<std::string_view, 4> kInlineWithoutEnd = {"img", "input", "source", "wbr"};
constexpr std::array<std::string_view, 4> kInlineCode = {"code", "kbd", "samp", "var"};
constexpr std::array<std::string_view, 9> kUntouched = {
    "script", "style", "pre", "textarea", "svg", "math", "iframe", "noscript", "template"};
constexpr std::array<std::string_view, 11> kWithoutEnd = {
    "area", "base", "br", "col", "embed", "hr", "link", "meta", "param", "track", "wbr"};

bool Among(std::string_view name, const auto& names) {
  return std::ranges::find(names, name) != names.end();
}

// Returns true for the elements by which translation tools stand for what they took out of a
// sentence, such as b0, x1 or g12, which HTML does not know.
bool IsPlaceholder(std::string_view name) {
  return name.size() > 1 && name[0] != 'h' && name.find_first_not_of("0123456789", 1) == name.npos;
}

class HtmlReader {
 public:
  explicit HtmlReader(std::string_view text) : text_(text), tags_(text) {}

  std::vector<MarkedBlock> Run() {
    while (at_ < text_.size()) {
      const size_t next = std::min(text_.find_first_of("<&", at_), text_.size());
      if (next > at_) out_.Text(text_.substr(at_, next - at_));
      at_ = next;
      if (at_ == text_.size()) break;
      if (text_[at_] == '&') {
        Entity();
      } else {
        Markup();
      }
    }
    return out_.TakeBlocks();
  }

 private:
  std::string_view Taken(size_t end) {
    const std::string_view taken = text_.substr(at_, end - at_);
    at_ += taken.size();
    return taken;
  }

  void Entity() {
    std::string character;
    const std::string_view rest = text_.substr(at_);
    if (const size_t escaped = EscapedTagBytes(rest); escaped > 0) {
      out_.Keep(Taken(at_ + escaped));
    } else if (const size_t bytes = ReadEntity(rest, character); bytes > 0) {
      out_.Character(character, Taken(at_ + bytes));
    } else if (const size_t unknown = EntityBytes(rest); unknown > 0) {
      out_.Keep(Taken(at_ + unknown));
    } else {
      out_.Text(Taken(at_ + 1));
    }
  }

  void Markup() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("<!--")) return out_.Alone(Taken(tags_.Behind("-->", at_ + 4)));
    if (rest.starts_with("<!") || rest.starts_with("<?"))
      return out_.Divide(Taken(tags_.Behind(">", at_)));
    HtmlTag tag;
    if (!tags_.Read(at_, tag)) {
      const size_t unfinished = tags_.UnfinishedEnd(at_);
      return unfinished > at_ ? out_.Alone(Taken(unfinished)) : out_.Text(Taken(at_ + 1));
    }
    const bool is_inline =
        Among(tag.name, kInline) || Among(tag.name, kInlineWithoutEnd) || IsPlaceholder(tag.name);
    const bool opens = !tag.closes && !tag.is_empty && !Among(tag.name, kInlineWithoutEnd) &&
                       !Among(tag.name, kWithoutEnd);
    const bool code = Among(tag.name, kInlineCode);
    if (opens && (code || tag.untranslated || Among(tag.name, kUntouched)))
      return Untouched(tag, is_inline);
    if (opens && IsPlaceholder(tag.name)) {
      if (const size_t end = EmptyEnd(tag); end > 0) return out_.Alone(Taken(end));
    }
    const std::string_view markup = Taken(tag.end);
    if (!is_inline) return out_.Divide(markup);
    if (opens) return out_.Open(tag.name, markup);
    if (tag.closes) return out_.Close(tag.name, markup);
    out_.Alone(markup);
  }

  // Returns where an element without content ends; 0: it has content.
  size_t EmptyEnd(const HtmlTag& opening) {
    HtmlTag tag;
    const bool closed = text_.substr(opening.end).starts_with("</") &&
                        tags_.Read(opening.end, tag) && tag.closes && tag.name == opening.name;
    return closed ? tag.end : 0;
  }

  // Keeps an element as it is; without an end tag it is the rest of the text, as in browsers.
  void Untouched(const HtmlTag& tag, bool is_inline) {
    const size_t content_end = ContentEnd(tag);
    const size_t end = content_end == text_.size() ? content_end : tags_.Behind(">", content_end);
    const bool blank = models::Trim(text_.substr(tag.end, content_end - tag.end)).empty();
    const std::string_view element = Taken(end);
    if (!is_inline) return out_.Divide(element);
    if (blank) return out_.Alone(element);
    out_.Keep(element);
  }

  // Returns where the end tag of an element begins.
  size_t ContentEnd(const HtmlTag& opening) {
    const bool raw =
        opening.name == "script" || opening.name == "style" || opening.name == "textarea";
    size_t depth = 1;
    for (size_t at = text_.find('<', opening.end); at != std::string_view::npos;
         at = text_.find('<', at)) {
      HtmlTag tag;
      if (!raw && text_.substr(at, 4) == "<!--") {
        at = tags_.Behind("-->", at);
        continue;
      }
      if (!tags_.Read(at, tag)) {
        ++at;
        continue;
      }
      if (tag.name == opening.name && !tag.is_empty) {
        if (!tag.closes) {
          depth += raw ? 0 : 1;
        } else if (--depth == 0) {
          return at;
        }
      }
      at = raw ? at + 1 : tag.end;
    }
    return text_.size();
  }

  const std::string_view text_;
  HtmlTagReader tags_;
  size_t at_ = 0;
  BlockBuilder out_{{.is_html = true, .crosses_blocks = true}};
};

}  // namespace

std::vector<MarkedBlock> ReadHtml(std::string_view text) { return HtmlReader(text).Run(); }

}  // namespace millrace::translation
