#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/text/pattern_text.h"

namespace millrace::models {

// Returns the end of the code of a colour or style that games write before words, such as &7, &l,
// &#ff0000 or §a, with & or § at `at`; 0 if none is there.
size_t ColourCodeEnd(std::string_view text, size_t at);

// Finds placeholders of programs and templates: {name}, {{x}}, {% tag %}, ICU messages, ${x},
// $NAME, $t(key), %s, %1$d, %(name)s, [name], [[name]], ((name)), <% %>, |name|, ##NAME##,
// *|NAME|*; and
// codes of colours.
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
  bool IsUnitAt(size_t at) const;
  size_t TimeFormatEnd(size_t at) const;
  size_t Doubled(size_t at) const;
  size_t Converted(size_t at) const;
  size_t Signed(size_t at) const;
  bool BeginsLine(size_t at) const;

  std::vector<size_t> closing_;  // by byte: where the { there is closed; 0: it is not
};

}  // namespace millrace::models
