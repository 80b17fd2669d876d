#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::translation {

// Text that no sentence contains and that stays as it is, with the spaces around it.
struct Boundary {
  size_t begin = 0;
  size_t end = 0;
  bool is_sign = false;  // a sign that has no width, which stands within a sentence
};

// Returns the next such text at or behind `from`; an empty one at the end of the text if there is
// none: notes of music, runs of four or more equal signs as in forms (____, ......), tags of
// templates that touch a sentence, and marks of the direction of writing. Linear time for all calls
// that go on where the last result ends.
Boundary FindBoundary(std::string_view text, size_t from);

}  // namespace millrace::translation
