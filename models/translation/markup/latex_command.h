#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::translation {

// A command of LaTeX in running text: \textbf{words}, \cite[p. 2]{key}, \ldots, \(x^2\).
struct LatexCommand {
  size_t end = 0;      // behind it, or behind the brace that opens its words; 0: there is none
  size_t closing = 0;  // the brace that closes its words; 0: it has no words to translate
};

// Reads the command whose backslash is at `at`. What may as well be an escape of a string or part
// of a path is none.
LatexCommand ReadLatexCommand(std::string_view text, size_t at);

}  // namespace millrace::translation
