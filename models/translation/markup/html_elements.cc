#include "models/translation/markup/html_elements.h"

#include "models/translation/markup/word_lists.h"

namespace millrace::translation {

bool IsInlineElement(std::string_view name) { return IsListed("inline elements", name); }

bool HasNoEndTag(std::string_view name) { return IsListed("elements without end", name); }

bool IsInlineCode(std::string_view name) { return IsListed("inline code", name); }

bool IsUntouchedElement(std::string_view name) { return IsListed("untouched elements", name); }

bool IsRubyAnnotation(std::string_view name) { return IsListed("ruby annotations", name); }

bool IsBlockElement(std::string_view name) { return IsListed("block elements", name); }

bool IsParagraphElement(std::string_view name) { return IsListed("paragraph elements", name); }

bool IsPlaceholderElement(std::string_view name) {
  return name.size() > 1 && name[0] != 'h' && name.find_first_not_of("0123456789", 1) == name.npos;
}

}  // namespace millrace::translation
