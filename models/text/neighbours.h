#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/embedded_table.h"
#include "models/text/unicode.h"

namespace millrace::models {

// The words that may stand on one side of another word. A field of a table has them between spaces:
// one of them must meet the word, or none with ! before them; * is before what may stand anywhere
// near, $ behind what is all of the text, alone the edge, and - or an empty field stands for any
// text. Immutable.
template <typename Char>
class Neighbours {
 public:
  using View = std::basic_string_view<Char>;

  explicit Neighbours(std::string_view field) : denied_(field.starts_with('!')) {
    if (denied_) field.remove_prefix(1);
    if (field == "-") return;
    ForEachWord(field, [this](std::string_view word) {
      if constexpr (sizeof(Char) == 1) {
        words_.emplace_back(word);
      } else {
        words_.push_back(DecodeUtf8(word));
      }
    });
  }

  // Returns true if the text before a word ends so.
  bool EndBefore(View near) const {
    return Fit(near, [near](View word) { return near.ends_with(word); });
  }
  // Returns true if the text behind a word begins so.
  bool BeginBehind(View near) const {
    return Fit(near, [near](View word) { return near.starts_with(word); });
  }

 private:
  template <typename Meets>
  bool Fit(View near, const Meets& meets) const {
    const auto stands = [&](View word) {
      if (word.front() == Char('*')) return near.find(word.substr(1)) != near.npos;
      return word.back() == Char('$') ? near == word.substr(0, word.size() - 1) : meets(word);
    };
    return words_.empty() || std::ranges::any_of(words_, stands) != denied_;
  }

  std::vector<std::basic_string<Char>> words_;  // empty: anything
  bool denied_ = false;                         // none of them
};

}  // namespace millrace::models
