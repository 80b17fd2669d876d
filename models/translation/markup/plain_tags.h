#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/translation/markup/html_tag.h"

namespace millrace::translation {

// A tag of HTML or of a forum in plain text.
struct PlainTag {
  size_t begin;
  HtmlTag tag;
  bool paired = false;
  bool untranslated = false;  // it is a whole element that stays as it is
};

// Returns the tags of a text in order, those of forums only in pairs. Code in backticks has none.
// Linear time.
std::vector<PlainTag> FindTags(std::string_view text);

// Returns true for the name of what is to stand there, in brackets that touch no word: <First
// Name>, <file name>.
bool IsPlaceholderName(std::string_view text, size_t begin, size_t end);

// Returns where the name of a type before its parameters begins, but no place before `limit`:
// List<String>. Elsewhere returns where the tag begins.
size_t TypeBegin(std::string_view text, size_t limit, const PlainTag& found);

}  // namespace millrace::translation
