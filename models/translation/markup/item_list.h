#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// The sign between two items of a list, with the spaces around it: bytes of the text.
struct ItemJoint {
  size_t begin = 0;
  size_t end = 0;
};

// Returns the joints of a list in one line that is all of a sentence, such as a menu or a path of
// links: "Home | About | Contact", "red / green / blue", "Yes;No;Cancel". None if the sentence is
// prose. Models lose items of such lists. Linear time.
std::vector<ItemJoint> FindItemJoints(const MarkedText& marked);

// Returns the bytes of a bullet, a dash or the marks of a heading or a quotation before words, with
// the space behind it; 0 if there is none. Models drop it, or say few words twice: "- Yes - Yes".
size_t BulletEnd(std::string_view text);

}  // namespace millrace::translation
