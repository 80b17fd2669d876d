#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pugixml.hpp"
#include "server/documents/inline_text.h"

namespace millrace::server {

// A part of a paragraph of an office document.
struct OfficeItem {
  enum class Kind : unsigned char {
    kText,
    kSpan,     // an element with items inside, such as a link
    kAlone,    // elements within a sentence that stay as they are
    kDivider,  // the same between sentences
  };

  Kind kind = Kind::kText;
  std::string text = {};
  pugi::xml_node properties = {};          // of the run of a text or an element; may be null
  std::vector<pugi::xml_node> nodes = {};  // a span's element; the elements that stay
  bool in_run = false;                     // those elements are inside of a run
  std::vector<OfficeItem> inner = {};
};

// Returns the parts of a paragraph of WordprocessingML (w:p) and of OpenDocument (text:p, text:h).
std::vector<OfficeItem> ReadWordItems(pugi::xml_node paragraph);
std::vector<OfficeItem> ReadOpenDocumentItems(pugi::xml_node paragraph);

// A paragraph, as text with a span for each part that looks different from most of its text. Its
// document must outlive it.
class OfficeParagraph {
 public:
  // has_runs: text stands in runs with properties (w:r), as in WordprocessingML.
  OfficeParagraph(pugi::xml_node paragraph, const std::vector<OfficeItem>& items, bool has_runs);

  bool has_text() const { return writer_.has_text(); }
  const std::string& html() const { return writer_.html(); }

  // Replaces the contents. What stays is moved, so that nodes inside of it remain valid.
  void Write(std::string_view translation);

 private:
  // The meaning of a mark of the text.
  struct Mark {
    bool is_element = false;  // a span that is an element, rather than a run's properties
    bool in_run = false;
    pugi::xml_node properties = {};  // of the text in the span, or of the run
    std::vector<pugi::xml_node> nodes = {};
  };

  void AddItems(const std::vector<OfficeItem>& items, pugi::xml_node properties);
  pugi::xml_node NewRun(pugi::xml_node parent, pugi::xml_node properties) const;
  void AppendText(pugi::xml_node parent, pugi::xml_node properties, const std::string& text) const;
  // Appends an element like this one, without the items inside of it.
  static pugi::xml_node AppendShell(pugi::xml_node parent, pugi::xml_node element);

  const pugi::xml_node paragraph_;
  const bool has_runs_;
  pugi::xml_node properties_;  // of most of the text
  InlineWriter writer_;
  std::vector<Mark> marks_;
};

}  // namespace millrace::server
