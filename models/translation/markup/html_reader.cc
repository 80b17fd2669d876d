#include <algorithm>
#include <string>
#include <vector>

#include "models/core/strings.h"
#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "models/translation/markup/block_builder.h"
#include "models/translation/markup/html_elements.h"
#include "models/translation/markup/html_entities.h"
#include "models/translation/markup/html_tag.h"
#include "models/translation/markup/message_format.h"
#include "models/translation/markup/written_escapes.h"

namespace millrace::translation {
namespace {

class HtmlReader {
 public:
  explicit HtmlReader(std::string_view text) : text_(text), tags_(text) {}

  std::vector<MarkedBlock> Run() {
    ReadUntil(text_.size(), /*number=*/"");
    return out_.TakeBlocks();
  }

 private:
  // Reads up to `end`. number: what # stands for in the branches of a plural; empty: it is a
  // sign like others.
  void ReadUntil(size_t end, std::string_view number) {
    while (at_ < end) {
      PlainMessage message;
      const size_t next = NextMarkup(end, number.empty() ? "<&{\\" : "<&{\\#", message);
      if (next > at_) out_.Text(Taken(next));
      if (at_ == end) break;
      switch (text_[at_]) {
        case '&':
          Entity();
          break;
        case '{':
          Message(message);
          break;
        case '#':
          out_.Keep(Taken(at_ + 1), number);
          break;
        case '\\':
          LineBreak();
          break;
        default:
          Markup();
      }
    }
  }

  // Returns where the next of these marks or messages begins, or `end`. `message` is that message.
  size_t NextMarkup(size_t end, std::string_view marks, PlainMessage& message) const {
    for (size_t at = text_.find_first_of(marks, at_); at < end;
         at = text_.find_first_of(marks, at + 1)) {
      if (text_[at] == '\\') {
        if (models::ByteAt(text_, at + 1) == 'N' && FindWrittenBreak(text_, at).end > at) return at;
        continue;
      }
      if (text_[at] != '{') return at;
      message = ReadMessage(text_, at);
      if (message.end > at) return at;
    }
    return end;
  }

  // Reads a message. The branches of one that is all of the words between two tags are translated;
  // one in a sentence stays as it is.
  void Message(const PlainMessage& message) {
    const auto bounds = [](char c) { return c == '<' || c == '>' || c == '{' || c == '}'; };
    const std::string_view before = models::TrimRight(text_.substr(0, at_));
    const std::string_view behind = models::TrimLeft(text_.substr(message.end));
    if ((!before.empty() && !bounds(before.back())) || (!behind.empty() && !bounds(behind.front())))
      return out_.Keep(Taken(message.end));
    // A tag may go on behind the end of a branch.
    for (const PlainMessage::Branch& branch : message.branches) {
      out_.Divide(Taken(std::max(at_, branch.begin)));
      ReadUntil(branch.end, branch.number);
    }
    out_.Divide(Taken(std::max(at_, message.end)));
  }

  // Reads the line break of a subtitle's style: \N
  void LineBreak() {
    const WrittenBreak found = FindWrittenBreak(text_, at_);
    if (!found.within_sentence) return out_.Divide(Taken(found.end));
    out_.Text(" ");
    out_.Alone(Taken(found.end));
  }

  std::string_view Taken(size_t end) {
    const std::string_view taken = text_.substr(at_, end - at_);
    at_ += taken.size();
    return taken;
  }

  void Entity() {
    std::string character;
    const std::string_view rest = text_.substr(at_);
    // A type with its parameters is no tag: List&lt;String&gt;
    const bool is_type = at_ > 0 && models::IsAsciiAlnum(text_[at_ - 1]) &&
                         models::IsAsciiUpper(models::ByteAt(rest, 4));
    if (const size_t escaped = EscapedTagBytes(rest); escaped > 0 && !is_type) {
      EscapedTag(escaped);
    } else if (const size_t bytes = ReadEntity(rest, character); bytes > 0) {
      out_.Character(character, Taken(at_ + bytes));
    } else if (const size_t unknown = EntityBytes(rest); unknown > 0) {
      out_.Keep(Taken(at_ + unknown));
    } else {
      out_.Text(Taken(at_ + 1));
    }
  }

  // Reads an escaped tag. One of an element with words, as in the texts of a site that are pieces
  // of HTML, is markup; any other is the name of an element, in a sentence about it.
  void EscapedTag(size_t bytes) {
    constexpr size_t kNear = 1024;
    constexpr std::string_view kOpens = "&lt;";
    const std::string_view markup = text_.substr(at_, bytes);
    const bool closes = models::ByteAt(markup, kOpens.size()) == '/';
    const size_t begin = kOpens.size() + (closes ? 1 : 0);
    const std::string name =
        models::AsciiLower(markup.substr(begin, markup.find_first_of("& \t\r\n/", begin) - begin));
    const std::string mark = StrCat(kOpens, name);
    if (closes && out_.IsOpen(mark)) return out_.Close(mark, Taken(at_ + bytes));
    const std::string_view near = text_.substr(at_ + bytes, kNear);
    const bool has_words =
        !closes && IsInlineElement(name) && near.find(StrCat("&lt;/", name, "&gt;")) != near.npos;
    const std::string_view taken = Taken(at_ + bytes);
    has_words ? out_.Open(mark, taken) : out_.Keep(taken);
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
    if (IsRubyAnnotation(tag.name) && !tag.closes && !tag.is_empty)
      return out_.Alone(Taken(ElementEnd(tag)));
    const bool is_inline =
        IsInlineElement(tag.name) || IsPlaceholderElement(tag.name) || IsUnknownInline(tag);
    const bool opens = !tag.closes && !tag.is_empty && !HasNoEndTag(tag.name);
    if (StaysAsItIs(tag)) return Untouched(tag, is_inline);
    if (const size_t end = tags_.NoteMarkEnd(at_, tag); end > 0) return out_.Alone(Taken(end));
    if (opens && !IsInlineElement(tag.name)) {
      if (const size_t end = is_inline ? EmptyEnd(tag) : 0; end > 0) {
        if (!inline_open_.empty() && inline_open_.back() == tag.name) inline_open_.pop_back();
        return StandsForWord(tag.name, end) ? out_.Keep(Taken(end)) : out_.Alone(Taken(end));
      }
    }
    const bool is_word = is_inline && tag.is_empty && StandsForWord(tag.name, tag.end);
    const std::string_view markup = Taken(tag.end);
    if (is_word) return out_.Keep(markup);
    if (!is_inline) return out_.Divide(markup);
    if (opens) return out_.Open(tag.name, markup);
    if (tag.closes) return out_.Close(tag.name, markup);
    out_.Alone(markup);
  }

  // Returns true if a tag that HTML does not know stands within a sentence: words that end no
  // sentence are before the element, and words or a sign behind it.
  bool IsUnknownInline(const HtmlTag& tag) {
    if (IsBlockElement(tag.name)) return false;
    if (tag.closes) {
      if (inline_open_.empty() || inline_open_.back() != tag.name) return false;
      inline_open_.pop_back();
      return true;
    }
    const bool after_words = at_ > 0 && IsWithinSentence(at_);
    const size_t end = tag.is_empty ? tag.end : UnknownEnd(tag);
    if (end == 0) return false;
    const size_t next = std::min(text_.find_first_not_of(' ', end), text_.size());
    const models::CodePoint behind = models::DecodeAt(text_, next);
    constexpr std::u32string_view kSigns = U".,;:!?)'\"%&";
    const bool before_words = models::IsWordCharacter(behind.value) ||
                              (behind.bytes > 0 && kSigns.find(behind.value) != kSigns.npos);
    // At the beginning of a block, what goes on with a small letter is the same sentence.
    const bool begins = !after_words && models::IsLower(behind.value);
    if (!before_words || !(after_words || begins)) return false;
    if (!tag.is_empty) inline_open_.push_back(tag.name);
    return true;
  }

  // Returns true if an empty element that HTML does not know stands where a word would: <name/>,
  // but not one of those that stand for markup which was taken out.
  bool StandsForWord(std::string_view name, size_t end) const {
    if (IsInlineElement(name) || IsPlaceholderElement(name)) return false;
    return (at_ == 0 || !models::IsWordCharacter(models::DecodeBefore(text_, at_).value)) &&
           !models::IsWordCharacter(models::DecodeAt(text_, end).value);
  }

  // Returns true if the text before a place is words of a sentence that has not ended.
  bool IsWithinSentence(size_t at) const {
    while (at > 0 && text_[at - 1] == ' ') --at;
    if (at == 0) return false;
    const char32_t before = models::DecodeBefore(text_, at).value;
    constexpr std::u32string_view kSigns = U",;('\"-&%";
    if (models::IsWordCharacter(before) || kSigns.find(before) != kSigns.npos) return true;
    // Behind another element of the same sentence.
    return before == '>' && !inline_open_.empty();
  }

  // Returns where an element that HTML does not know ends, if that is near; else 0.
  size_t UnknownEnd(const HtmlTag& opening) {
    constexpr size_t kNear = 512;
    const std::string_view near = text_.substr(0, opening.end + kNear);
    HtmlTag tag;
    for (size_t at = near.find("</", opening.end); at != std::string_view::npos;
         at = near.find("</", at + 2)) {
      if (tags_.Read(at, tag) && tag.name == opening.name) return tag.end;
    }
    return 0;
  }

  // Returns where an element ends; without an end tag it is the rest of the text, as in browsers.
  size_t ElementEnd(const HtmlTag& tag) {
    const size_t end = tags_.ElementEnd(tag);
    return end > 0 ? end : text_.size();
  }

  // Returns where an element without content ends; 0: it has content.
  size_t EmptyEnd(const HtmlTag& opening) {
    HtmlTag tag;
    const bool closed = text_.substr(opening.end).starts_with("</") &&
                        tags_.Read(opening.end, tag) && tag.closes && tag.name == opening.name;
    return closed ? tag.end : 0;
  }

  // Keeps an element as it is.
  void Untouched(const HtmlTag& tag, bool is_inline) {
    const size_t end = ElementEnd(tag);
    const std::string_view content = text_.substr(tag.end, end - tag.end);
    const bool blank = models::Trim(content.substr(0, content.rfind("</"))).empty();
    const std::string_view element = Taken(end);
    if (!inline_open_.empty() && inline_open_.back() == tag.name) inline_open_.pop_back();
    if (!is_inline) return out_.Divide(element);
    if (blank) return out_.Alone(element);
    out_.Keep(element);
  }

  const std::string_view text_;
  HtmlTagReader tags_;
  size_t at_ = 0;
  std::vector<std::string> inline_open_;  // elements within a sentence that HTML does not know
  BlockBuilder out_{{.is_html = true, .crosses_blocks = true}};
};

}  // namespace

std::vector<MarkedBlock> ReadHtml(std::string_view text) { return HtmlReader(text).Run(); }

}  // namespace millrace::translation
