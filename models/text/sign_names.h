#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// A row of a table of signs: some signs, and what each of them is called or becomes.
template <typename Name>
struct SignName {
  std::u32string_view signs;
  Name name;
};

// Returns the name of a sign; empty for other characters.
template <typename Name, size_t kRows>
constexpr Name NameOfSign(const SignName<Name> (&table)[kRows], char32_t sign) {
  for (const SignName<Name>& row : table) {
    if (row.signs.find(sign) != std::u32string_view::npos) return row.name;
  }
  return {};
}

inline bool IsAmong(std::u32string_view signs, char32_t c) {
  return signs.find(c) != std::u32string_view::npos;
}

}  // namespace millrace::models
