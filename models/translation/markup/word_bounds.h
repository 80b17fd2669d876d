#pragma once

#include <cstddef>
#include <string_view>

#include "models/text/unicode.h"
#include "models/translation/markup/alphabet.h"

namespace millrace::translation {

// Finds where words and numbers begin and end within a range of a text. Letters that the alphabet
// lacks are letters of words all the same. Refers to the text and to what the alphabet refers to. A
// search takes time linear in the length of the word or number. Not thread-safe.
class WordBounds {
 public:
  // The range is the whole text at first.
  WordBounds(std::string_view text, Alphabet alphabet)
      : text_(text), alphabet_(alphabet), end_(text.size()) {}

  // Sets the range to [begin, end).
  void SetRange(size_t begin, size_t end) {
    begin_ = begin;
    end_ = end;
  }

  // Returns the character at a place; no character at or behind the end of the range.
  models::CodePoint At(size_t at) const {
    return at < end_ ? models::DecodeAt(text_, at) : models::CodePoint{};
  }
  // Returns the character before a place; 0 at the beginning of the range.
  char32_t Before(size_t at) const {
    return at > begin_ ? models::DecodeBefore(text_, at).value : 0;
  }

  // Returns where the word begins that goes on to `at`, but no place before `limit`; `at` if there
  // is none.
  size_t WordBegin(size_t at, size_t limit) const;
  // Returns where the word ends that goes on from `at`; `at` if there is none.
  size_t WordEnd(size_t at) const;
  // The same for numbers, whose digits may be joined by signs: 1,250.5. The end includes what is
  // joined to the number: 5k, 20th.
  size_t NumberBegin(size_t at, size_t limit) const;
  size_t NumberEnd(size_t at) const;

 private:
  bool IsOfWord(char32_t c) const;

  const std::string_view text_;
  const Alphabet alphabet_;
  size_t begin_ = 0;
  size_t end_;
};

}  // namespace millrace::translation
