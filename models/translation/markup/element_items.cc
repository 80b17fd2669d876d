#include "models/translation/markup/element_items.h"

#include <algorithm>
#include <string_view>

#include "models/text/unicode.h"
#include "models/text/unspaced_script.h"

namespace millrace::translation {
namespace {

constexpr size_t kMostWords = 4;  // the words of an element that is an item

// An element that is in no other one.
struct Element {
  size_t begin = 0;
  size_t end = 0;
  std::string_view opening = {};
};

bool IsLink(const Element& element) {
  return element.opening == "[" || element.opening.starts_with("<a ") || element.opening == "<a>";
}

// Returns what an element is called by its markup.
std::string_view NameOf(const Element& element) {
  return element.opening.substr(0, element.opening.find_first_of(" >"));
}

// Returns the outermost elements of a text; none if some begin or end outside of it, or if there is
// markup between them.
std::vector<Element> ElementsOf(const MarkedText& marked) {
  std::vector<Element> elements;
  size_t depth = 0;
  for (const MarkEvent& event : marked.events) {
    if (event.kind == MarkEvent::Kind::kOpen) {
      if (depth++ == 0) elements.push_back({event.at, event.at, event.markup});
    } else if (event.kind == MarkEvent::Kind::kClose) {
      if (depth == 0) return {};
      if (--depth == 0) elements.back().end = event.at;
    } else if (depth == 0 && !IsWrittenSpace(event.markup)) {
      return {};
    }
  }
  if (depth > 0) elements.clear();
  return elements;
}

// Returns true if two elements that touch at `at` divide no word.
bool AreWords(const Element& first, const Element& second, std::string_view text) {
  const char32_t last = models::DecodeBefore(text, first.end).value;
  const char32_t next = models::DecodeAt(text, second.begin).value;
  if (!models::IsWordCharacter(last) || !models::IsWordCharacter(next)) return false;
  return (IsLink(first) && IsLink(second)) || (models::IsLower(last) && models::IsUpper(next));
}

// Returns true if the elements are all of a text but for spaces, and each is an item.
bool AreItems(const std::vector<Element>& elements, std::string_view text) {
  constexpr std::string_view kMarks = ".,;:!?";
  constexpr std::string_view kSpaces = " \n\r\t";
  size_t capitals = 0;
  size_t at = 0;
  for (const Element& element : elements) {
    const std::string_view before = text.substr(at, element.begin - at);
    const std::string_view item = text.substr(element.begin, element.end - element.begin);
    if (before.find_first_not_of(kSpaces) != std::string_view::npos || item.empty() ||
        NameOf(element) != NameOf(elements.front()) ||
        item.find_first_of(kMarks) != std::string_view::npos ||
        models::CountWords(item) > kMostWords)
      return false;
    capitals += models::IsUpper(models::DecodeAt(item, 0).value) ? 1 : 0;
    at = element.end;
  }
  const bool all_small = capitals == 0 && IsLink(elements.front());
  return text.find_first_not_of(kSpaces, at) == std::string_view::npos &&
         (capitals == elements.size() || all_small);
}

}  // namespace

std::vector<ItemJoint> FindElementJoints(const MarkedText& marked) {
  const std::vector<Element> elements = ElementsOf(marked);
  if (elements.size() < 2) return {};
  const bool are_items = AreItems(elements, marked.text);
  std::vector<ItemJoint> joints;
  for (size_t i = 0; i + 1 < elements.size(); ++i) {
    const Element& next = elements[i + 1];
    const bool touch = elements[i].end == next.begin;
    if (touch ? AreWords(elements[i], next, marked.text) : are_items)
      joints.push_back({elements[i].end, next.begin});
  }
  return joints;
}

}  // namespace millrace::translation
