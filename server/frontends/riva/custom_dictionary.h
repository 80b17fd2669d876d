#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "models/text/term_index.h"

namespace millrace::server {

// The pronunciations of words that a request brings. Immutable once parsed, so thread-safe.
class CustomDictionary {
 public:
  CustomDictionary() = default;
  CustomDictionary(CustomDictionary&&) = default;
  CustomDictionary& operator=(CustomDictionary&&) = default;

  // Reads "word  phonemes" pairs, with two spaces, that commas join. UTF-8. InvalidArgument names
  // custom_dictionary and the entry.
  static absl::StatusOr<CustomDictionary> Parse(std::string_view list);

  bool empty() const { return entries_.empty(); }
  // Returns the text with the pronunciations written in behind the words that have one, as in
  // "[word](/phonemes/)". Words in lower case match in any case.
  std::string Apply(std::string_view text) const;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
  models::TermIndex words_;  // an index of entries_, whose strings do not move
};

}  // namespace millrace::server
