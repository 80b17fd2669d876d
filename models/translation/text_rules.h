#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace re2 {
class RE2;
}

namespace millrace::translation {

// A text and, for each of its bytes, the byte of the original that it came from.
struct PlacedText {
  std::string text;
  std::vector<uint32_t> places;
};

// Patterns and what replaces each of their matches, applied one after another: how a model's
// package says what Moses' scripts make of a text. The time is linear in the text. Immutable, so
// thread-safe.
class TextRules {
 public:
  // rules: an array of pairs of a pattern of RE2 and a replacement, in which \1 to \9 are groups.
  static absl::StatusOr<TextRules> Read(const nlohmann::json& rules);

  PlacedText Apply(std::string_view text) const;

 private:
  struct Rule {
    std::shared_ptr<const re2::RE2> pattern;
    std::string replacement;

    void Apply(PlacedText& placed) const;
  };

  std::vector<Rule> rules_;
};

}  // namespace millrace::translation
