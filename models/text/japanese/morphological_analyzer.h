#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace::models {

// A word as the dictionary divides a text.
struct Morpheme {
  enum class Kind { kWord, kNumeral, kMark, kUnknown };
  size_t begin = 0;  // bytes of the text
  size_t end = 0;
  Kind kind = Kind::kUnknown;
  std::string pronunciation;  // katakana, long vowels are ー; empty if the dictionary has none
};

// Divides Japanese text into words and knows how they are pronounced, by MeCab and the dictionary
// that its configuration names (MECABRC in the environment, or mecabrc): UniDic, or one with the
// fields of IPADIC. Thread-safe: a call has a lattice of its own.
class MorphologicalAnalyzer {
 public:
  // FailedPrecondition says what to install when there is no dictionary.
  static absl::StatusOr<std::unique_ptr<const MorphologicalAnalyzer>> Open();
  virtual ~MorphologicalAnalyzer() = default;

  // The morphemes are in order and do not overlap; white space is in none. `text` is UTF-8 without
  // long runs of white space. Linear time.
  virtual absl::StatusOr<std::vector<Morpheme>> Analyze(std::string_view text) const = 0;
};

}  // namespace millrace::models
