#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::models {

// Cuts text that arrives in parts, for example from a language model, into whole sentences. For one
// thread; holds no more than one sentence and the last part.
class SentenceStream {
 public:
  // An unfinished sentence longer than this, by CountSpokenBytes, is cut at its last pause, else at
  // its last space; if it has neither and is twice as long, before its last character.
  static constexpr size_t kMaxSentenceBytes = 240;

  // Adds the next part: UTF-8, cut between characters. Returns the sentences that have ended, with
  // the white space between them, or "". A sentence has ended once the next one begins, because
  // until then a stop may belong to an abbreviation or a number. A line break ends a sentence at
  // once where its line is too short to be a wrapped one or ends with a mark.
  std::string Push(std::string_view piece);
  // Returns the remaining text, even if its sentence has not ended. The stream is empty afterwards.
  std::string TakeRest();

 private:
  std::string text_;
};

}  // namespace millrace::models
