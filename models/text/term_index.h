#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// Glossary terms with their translations, found in a text as whole words only. Lower-case terms
// match case-insensitively. Immutable after Build, so thread-safe.
class TermIndex {
 public:
  struct Match {
    size_t end = 0;  // in the text
    std::string_view becomes;
  };

  // The views must outlive the index. An empty `becomes` keeps the term as it is.
  void Add(std::string_view term, std::string_view becomes);
  // Sorts the terms for Find. Call it after the last Add.
  void Build();

  bool empty() const { return terms_.empty(); }
  // Returns the longest term that begins at `at`. The time is linear in the longest term's length.
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

  // Returns the terms of the range whose character at `depth` is `c`.
  Range Narrow(Range range, size_t depth, char32_t c) const;
  std::optional<Match> Find(std::string_view text, size_t at, Range range, bool any_case) const;

  std::vector<Term> terms_;  // sorted: first the case-insensitive ones, then the others
  size_t any_case_ = 0;      // how many are case-insensitive
};

}  // namespace millrace::models
