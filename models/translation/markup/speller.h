#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// Spells the characters of a translation as its source did: each é takes the next spelling that the
// source has for it, such as &eacute;. Characters without one, and spellings that would become
// markup at their new place, are left to Escaped. The source must outlive it. One thread at a time.
class Speller {
 public:
  explicit Speller(const MarkedText& source);

  // Returns the spellings of the next part of the translation, in order, by its bytes.
  std::vector<Spelling> Spell(std::string_view text);

 private:
  struct Queue {
    std::vector<std::string_view> spellings = {};
    size_t next = 0;
  };

  std::map<std::string_view, Queue> written_;  // by character
};

}  // namespace millrace::translation
