#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// Returns what people call the script of a letter that no text in Latin letters has, such as
// "Chinese characters" or "Cyrillic text"; empty for Latin, Greek (which formulas have) and for
// what is no letter. Thread-safe.
std::string_view ForeignScript(char32_t c);

// A run of letters in one foreign script, with what stands between them.
struct ForeignRun {
  size_t end = 0;
  std::string_view script;  // as of ForeignScript; Japanese where it has Chinese characters, too
};

// Returns the run that begins with the foreign letter at `at`. Thread-safe.
ForeignRun FindForeignRun(std::string_view text, size_t at);

struct ForeignScripts {
  std::vector<std::string> names;  // in the order in which they occur
  bool all = false;                // nothing of the text is in another script, or a digit
};

// Finds the scripts that a voice for texts of the language, a BCP 47 tag, cannot read; none for a
// language that is not written in Latin letters. Greek is one where a word has four such letters.
// Thread-safe; linear time.
ForeignScripts FindForeignScripts(std::string_view text, std::string_view language);

}  // namespace millrace::models
