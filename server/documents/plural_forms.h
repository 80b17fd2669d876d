#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::server {

// The forms that the words of a language have for numbers, as catalogues of gettext declare them.
struct PluralForms {
  size_t count = 0;            // 0: they are not known
  std::string_view rule = {};  // says which form a number n takes
};

// Returns the forms of a language (BCP 47, or with _ as in names of locales).
PluralForms PluralFormsOf(std::string_view language);

}  // namespace millrace::server
