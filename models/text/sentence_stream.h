#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::models {

// Text that comes in pieces, as a language model writes it, cut into whole sentences. For one
// thread; holds no more than one sentence and the last piece.
class SentenceStream {
 public:
  // An unfinished sentence longer than so many bytes, by CountSpokenBytes, is cut at its last
  // pause, else at its last space, and when it is twice as long and has none, before its last
  // character.
  static constexpr size_t kMaxSentenceBytes = 240;

  // The next piece: UTF-8, cut between characters. Returns the sentences that have ended by it,
  // with the white space between them, or "". A sentence has ended once the beginning of another
  // is there: till then a stop may be that of an abbreviation or a number.
  std::string Push(std::string_view piece);
  // What is left, ended or not; the stream is empty then.
  std::string TakeRest();

 private:
  std::string text_;
};

}  // namespace millrace::models
