#pragma once

#include <string>
#include <string_view>

namespace millrace::translation {

struct SourceShape {
  std::string_view text;             // the source, with stand-ins
  std::string_view target_language;  // BCP 47; empty: unknown
  // The first letter of the source, or of its translation, is not that of a word of the text: it
  // begins with a stand-in, or was read in small letters.
  bool any_first_letter = false;
  bool has_marks =
      false;  // places in the translation are known, so that it changes at its end only
};

// Returns true if a source is so short that a model may add to it; its translation must not be sent
// before it is complete.
bool IsShort(std::string_view source);

// Returns a translation with what small models add to the ends of a text, or leave out there, put
// right by the source: a translation begins with a small letter and ends without a stop, or with a
// comma, if its source does. Of a source of one to three words, doubled words, brackets, commas and
// end marks that the source lacks go too, and "The" before an English label. Where the source has
// marks, characters are only replaced by others of as many bytes, cut from the end, or added to the
// end. Linear time.
std::string ShapedLike(const SourceShape& source, std::string translation);

// Returns the same for the beginning of a translation that goes on.
std::string BegunLike(const SourceShape& source, std::string beginning);

}  // namespace millrace::translation
