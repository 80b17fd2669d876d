#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::server {

// The markup of a paragraph, numbered in the order in which it was written. The writer's user keeps
// what each number stands for.
struct InlineToken {
  enum class Kind : unsigned char {
    kText,
    kOpen,     // a span begins
    kClose,    // the innermost span ends
    kAlone,    // something within a sentence, such as a picture
    kDivider,  // something that divides sentences, such as a line break
  };

  Kind kind = Kind::kText;
  size_t mark = 0;        // the number; of kOpen and kClose, that of the span
  std::string text = {};  // for kText
};

// Writes a paragraph as HTML, in which all markup is elements that stand for it.
class InlineWriter {
 public:
  void Text(std::string_view text);
  // Adds text in which &, < and > are already written as HTML has them.
  void Html(std::string_view html);
  // These return the number of what they write.
  size_t Open();
  void Close(size_t mark);
  size_t Alone();
  // Writes something within a sentence that is read as a word, such as the number of a page.
  size_t Word();
  size_t Divider();

  // Returns the last character's byte; 0: there is no text yet.
  char last() const { return last_; }
  // Returns true if there is text besides spaces.
  bool has_text() const { return has_text_; }
  const std::string& html() const { return html_; }
  const std::vector<InlineToken::Kind>& marks() const { return marks_; }

 private:
  size_t Add(InlineToken::Kind kind);

  std::string html_;
  std::vector<InlineToken::Kind> marks_;  // kOpen, kAlone or kDivider
  char last_ = 0;
  bool has_text_ = false;
};

// Reads the translation of such HTML. The tokens have each mark exactly once, and their spans nest:
// where those of the translation do not, spans are left out, and marks that are missing are at the
// end. `marks`: the writer's. Texts are as HTML has them.
std::vector<InlineToken> ReadInline(std::string_view html,
                                    const std::vector<InlineToken::Kind>& marks);

// Returns HTML that has no tags as text.
std::string Unescaped(std::string_view html);

}  // namespace millrace::server
