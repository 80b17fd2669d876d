#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// Returns the end of a statement of SQL (SELECT name FROM users WHERE id = 5;) or of a command for
// a shell (git commit -m "text", npm install) that begins at `at`, in one line; 0 if none begins
// there. Words behind a command that may be its arguments count only where a word such as "run" is
// before it, or where the command is a line by itself. It looks at a bounded number of bytes; a
// token begins at `at`.
size_t CodeStatementEnd(std::string_view text, size_t at);

}  // namespace millrace::models
