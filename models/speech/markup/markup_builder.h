#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "models/speech/markup/marked_text.h"

namespace millrace::speech {

// Builds a text without markup from the pieces of one that has it. Used by one thread; linear time.
class MarkupBuilder {
 public:
  // The source must outlive it.
  MarkupBuilder(std::string_view source, models::SpeechManner manner)
      : source_(source), manner_(std::move(manner)) {}

  const models::SpeechManner& manner() const { return manner_; }
  // Sets the manner of what is appended next.
  void SetManner(models::SpeechManner manner) { manner_ = std::move(manner); }

  // Appends text that begins at a byte of the source and is as there. spaced: a space comes before
  // it, unless it begins a part.
  void Append(std::string_view text, size_t source_byte, bool spaced = false);
  // Appends `text`, or if it is empty the written text, as a reading, whose fields for positions in
  // the text are ignored. source_byte: where what it stands for begins.
  void AppendReading(std::string_view text, models::SpeechReading reading, size_t source_byte,
                     bool spaced);
  // Adds silence between what was appended and what follows. Pauses next to each other sum up.
  // InvalidArgument, without a place, when they are too long.
  absl::Status AddPause(double seconds);
  // Sets the least break between what was appended and what follows.
  void AddBreak(models::SpeechBreak least);

  // Returns the result. Must be called once, as the last function.
  MarkedText Finish();

 private:
  // Begins a part if what follows does not belong to the last one; otherwise adds the space.
  void Continue(bool spaced);
  // Records that what is appended next is from there.
  void Anchor(size_t source_byte);

  const std::string_view source_;
  models::SpeechManner manner_;
  MarkedText result_;
  double pause_ = -1;  // before what follows; negative: none
  double pauses_ = 0;  // the pauses of the text so far
  models::SpeechBreak break_ = models::SpeechBreak::kNone;
  bool anchored_ = false;  // the last anchor is that of the end of the text
};

}  // namespace millrace::speech
