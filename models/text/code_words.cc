#include "models/text/code_words.h"

#include "models/core/embedded_table.h"
#include "models/text/code_words_text.h"
#include "models/text/trim.h"

namespace millrace::models {

std::string_view CodeFormsOf(std::string_view word) {
  static const auto& words = *new WordTable<2>(kCodeWordsText);  // never destroyed
  const auto* const row = words.Find(word);
  return row == nullptr ? std::string_view() : (*row)[1];
}

bool IsCodeWord(std::string_view word, std::string_view form) {
  return HasWord(CodeFormsOf(word), form);
}

}  // namespace millrace::models
