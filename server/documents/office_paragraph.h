#pragma once

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
    kField,    // the same between the elements that begin and that end a field or a range
    kAlone,    // elements within a sentence that stay as they are
    kDivider,  // the same between sentences
  };

  Kind kind = Kind::kText;
  std::string text = {};
  pugi::xml_node properties = {};  // the run's of a text or an element; may be null
  // A span's elements, from the outermost; the elements that stay; those that begin a field.
  std::vector<pugi::xml_node> nodes = {};
  // Nodes that end a field, or that stand behind the items in the outermost element of a span.
  std::vector<pugi::xml_node> end_nodes = {};
  bool in_run = false;   // elements that stay are inside of a run
  bool is_word = false;  // elements that stay show text
  std::vector<OfficeItem> inner = {};
};

// Returns the parts of a paragraph of WordprocessingML (w:p), of DrawingML (a:p) and of
// OpenDocument (text:p, text:h).
std::vector<OfficeItem> ReadWordItems(pugi::xml_node paragraph);
std::vector<OfficeItem> ReadDrawingItems(pugi::xml_node paragraph);
std::vector<OfficeItem> ReadOpenDocumentItems(pugi::xml_node paragraph);

// How text stands in a paragraph that consists of runs with properties.
struct RunSyntax {
  const char* run;
  const char* text;
  bool marks_space;  // with xml:space, where spaces at the ends of a text are to be kept
  const char* last;  // the properties that stand behind all runs
};
inline constexpr RunSyntax kWordRuns = {"w:r", "w:t", true, ""};
inline constexpr RunSyntax kDrawingRuns = {"a:r", "a:t", false, "a:endParaRPr"};

// A paragraph, as text with a span for each part that looks different from most of its text. Its
// document must outlive it.
class OfficeParagraph {
 public:
  // runs: nullptr if text stands in the paragraph itself, as in OpenDocument.
  // keeps_space: all white space is part of the text, as where there are runs.
  OfficeParagraph(pugi::xml_node paragraph, const std::vector<OfficeItem>& items,
                  const RunSyntax* runs, bool keeps_space);

  bool has_text() const { return writer_.has_text(); }
  const std::string& html() const { return writer_.html(); }

  // Replaces the contents. What stays is moved, so that nodes inside of it remain valid.
  void Write(std::string_view translation);

 private:
  // The meaning of a mark of the text.
  struct Mark {
    bool is_element = false;  // a span that is an element, rather than a run's properties
    bool in_run = false;
    pugi::xml_node properties = {};  // the properties of the text in the span, or of the run
    std::vector<pugi::xml_node> nodes = {};
    std::vector<pugi::xml_node> end_nodes = {};  // as of an item
    std::string spaces = {};                     // the spaces of a divider that is white space
  };

  void AddItems(const std::vector<OfficeItem>& items, pugi::xml_node properties);
  // Adds text; several spaces, tabs and line breaks in it divide it.
  void AddText(std::string_view text, pugi::xml_node properties);
  pugi::xml_node NewRun(pugi::xml_node parent, pugi::xml_node properties) const;
  void AppendText(pugi::xml_node parent, pugi::xml_node properties, const std::string& text) const;
  // Appends an element like this one, without the items inside of it.
  pugi::xml_node AppendShell(pugi::xml_node parent, pugi::xml_node element) const;
  // Declares on `node` the namespaces that elements between the paragraph and `place` declare:
  // those may not be around it any more.
  void KeepNamespaces(pugi::xml_node node, pugi::xml_node place) const;

  const pugi::xml_node paragraph_;
  const RunSyntax* const runs_;
  const bool keeps_space_;
  pugi::xml_node properties_;  // the properties of most of the text
  InlineWriter writer_;
  std::vector<Mark> marks_;
};

}  // namespace millrace::server
