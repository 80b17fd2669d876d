#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/english/number_context.h"
#include "models/text/english/spoken_word.h"

namespace millrace::models {

// The spoken words of a text, as far as it was read, with the pauses between them. Not thread-safe.
class SpokenText {
 public:
  // bytes: the size of the text.
  explicit SpokenText(size_t bytes) { words_.reserve(bytes / kBytesOfWord + 1); }

  void AddWord(std::string text, size_t begin, size_t end, bool from_digits = false);
  // Adds a part of a word right behind the last one, without a space between.
  void AddJoined(std::string text, size_t begin, size_t end);
  void AddSpace();
  // Adds a mark of a pause, which is at `at`.
  void AddMark(std::string_view mark, size_t at);
  // Adds a mark right behind the last word, without spaces between.
  void AddMarkBehind(std::string_view mark, size_t at);
  // Adds an ending, such as a possessive's, to the last word, which then ends at `end`.
  void Extend(std::string_view ending, size_t end);

  // Notes that a number was read which is a name with a letter, as "12A".
  void NoteLabel() { so_far_.labels = true; }
  // Notes that a number was read which is a version.
  void NoteVersion() { so_far_.versions = true; }

  const std::vector<SpokenWord>& words() const { return words_; }
  const ContextSoFar& so_far() const { return so_far_; }
  // Returns the last word in lower case; empty if there is none.
  std::string Previous() const;
  // Returns the words without spaces behind the last of them. Call it once.
  std::vector<SpokenWord> Take() &&;

 private:
  static constexpr size_t kBytesOfWord = 5;  // with the space behind it

  std::vector<SpokenWord> words_;
  ContextSoFar so_far_;
};

}  // namespace millrace::models
