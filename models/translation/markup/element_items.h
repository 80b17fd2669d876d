#pragma once

#include <vector>

#include "models/translation/markup/item_list.h"
#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// Returns the joints between elements that are words of their own, such as the links of a menu:
// those that touch, `<a>Home</a><a>About</a>`, and those of a sentence that is nothing but links,
// or other elements that begin with a capital, with a space between them. Linear time.
std::vector<ItemJoint> FindElementJoints(const MarkedText& marked);

}  // namespace millrace::translation
