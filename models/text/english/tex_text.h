#pragma once

#include <optional>
#include <string_view>

#include "models/text/folded_text.h"

namespace millrace::models {

// Returns a text with the formulas of TeX in it, "$\frac{a}{b} \le x^2$", as people type them
// without TeX: "a over b ≤ x^2". Returns nullopt if it has none. Thread-safe; linear time.
std::optional<FoldedText> PlainTex(std::string_view source);

}  // namespace millrace::models
