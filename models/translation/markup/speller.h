#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// Writes the characters of a translation as its source wrote the same ones, in order, as far as it
// had them: &eacute; stays &eacute;. Others, and signs that would become markup where they stand
// now, are Escaped. The source must outlive it. One thread at a time.
class Speller {
 public:
  explicit Speller(const MarkedText& source);

  // The spellings of the next stretch of the translation, in order, by its bytes.
  std::vector<Spelling> Spell(std::string_view text);

 private:
  struct Queue {
    std::vector<std::string_view> spellings = {};
    size_t next = 0;
  };

  std::map<std::string_view, Queue> written_;  // of each character
};

}  // namespace millrace::translation
