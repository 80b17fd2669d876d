#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "models/text/english/spoken_word.h"

namespace millrace::models {

// The pause or the word that a sign of Markdown or an arrow is read as.
struct MarkdownSign {
  size_t end = 0;
  std::string_view mark;  // a pause right behind the word before; empty: none
  std::string_view word;  // empty: none
};

// Reads headings, quotations, highlighted text, addresses of links, items, boxes and arrows at
// `at`; nullopt if there is none. run: where the `count` equal characters from `at` on end; words:
// what was read before; last: one past the last byte that is spoken. Thread-safe.
std::optional<MarkdownSign> ReadMarkdown(std::string_view text, size_t at, size_t run, size_t count,
                                         std::span<const SpokenWord> words, size_t last);

}  // namespace millrace::models
