#pragma once

#include "models/config/config_section.h"
#include "models/core/payload.h"

namespace millrace::speech {

// Reads the pauses of a voice's message.
template <typename Message>
models::SpeechPauses ConvertPauses(const Message& message, const models::ConfigSection& section) {
  constexpr float kMaxPause = 10;
  models::SpeechPauses pauses;
  if (message.has_sentence_pause_seconds()) {
    section.Range("sentence_pause_seconds", message.sentence_pause_seconds(), 0.0F, kMaxPause);
    pauses.sentence = message.sentence_pause_seconds();
  }
  if (message.has_paragraph_pause_seconds()) {
    section.Range("paragraph_pause_seconds", message.paragraph_pause_seconds(), 0.0F, kMaxPause);
    pauses.paragraph = message.paragraph_pause_seconds();
  }
  return pauses;
}

}  // namespace millrace::speech
