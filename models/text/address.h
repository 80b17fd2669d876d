#pragma once

#include <cstddef>

#include "models/text/pattern_text.h"

namespace millrace::models {

// Finds web and mail addresses, paths, and names of files and other names that are joined by stops
// or underscores, such as versions.
class AddressReader final : PatternText {
 public:
  explicit AddressReader(const PatternText& text) : PatternText(text) {}

  // Reads a path that begins with /, ./, ../ or ~/; not the slash of "and / or".
  size_t Path(size_t at) const;
  // Reads a web or mail address, or a path of Windows or of a host, that begins with a word.
  size_t Address(size_t at) const;
  // Reads a name that begins with a stop: .env, .gitignore, .pdf.
  size_t DotName(size_t at) const;
  // Reads a version, a file, a domain or a name_like_this between `at` and `end`.
  size_t Name(size_t at, size_t end) const;

 private:
  size_t Url(size_t begin, size_t from) const;
  // Returns the end of the domain after an @; 0 if there is none.
  size_t Mail(size_t at) const;
};

}  // namespace millrace::models
