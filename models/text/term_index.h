#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// Terms and what each becomes in a translation, to be found in a text as whole words. One that has
// no capital letter is found in any case. Immutable once built, so thread-safe.
class TermIndex {
 public:
  struct Match {
    size_t end = 0;  // in the text
    std::string_view becomes;
  };

  // The views must outlive the index. A term that stays as it is becomes "" here.
  void Add(std::string_view term, std::string_view becomes);
  // Before the first search.
  void Finish();

  bool empty() const { return terms_.empty(); }
  // The longest term at `at` of a text. Takes no longer than the longest term is.
  std::optional<Match> Find(std::string_view text, size_t at) const;

 private:
  struct Term {
    std::u32string characters;
    std::string_view becomes;
  };
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };

  // Those of the range whose character at `depth` is `c`.
  Range Narrow(Range range, size_t depth, char32_t c) const;
  std::optional<Match> Find(std::string_view text, size_t at, Range range, bool any_case) const;

  std::vector<Term> terms_;  // in order: those of any case, then the others
  size_t any_case_ = 0;      // how many there are of any case
};

}  // namespace millrace::models
