#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/text/pattern_text.h"

namespace millrace::models {

// Finds placeholders of programs and templates: {name}, {{x}}, {% tag %}, ICU messages, ${x},
// $NAME, $t(key), %s, %1$d, %(name)s, [name], [[name]], ((name)), <% %>, |name|, ##NAME##,
// *|NAME|*.
class PlaceholderReader final : PatternText {
 public:
  explicit PlaceholderReader(const PatternText& text);

  size_t EndAt(size_t at) const;

 private:
  size_t Braces(size_t at) const;
  size_t Brackets(size_t at) const;
  size_t Pipes(size_t at) const;
  size_t DollarBraces(size_t at) const;
  size_t Dollar(size_t at) const;
  size_t Percent(size_t at) const;
  size_t Doubled(size_t at) const;
  bool BeginsLine(size_t at) const;

  std::vector<size_t> closing_;  // by byte: where the { there is closed; 0: it is not
};

}  // namespace millrace::models
