#pragma once

#include <string>

#include "millrace/config/v1/model.pb.h"
#include "models/config/config_section.h"
#include "models/core/payload.h"
#include "models/core/strings.h"
#include "models/speech/voice_precision.h"

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

// Reads what a voice's message says of the precision of its network.
template <typename Message>
VoicePrecision ConvertPrecision(const Message& message, const models::ConfigSection& section) {
  namespace v1 = millrace::config::v1;
  constexpr float kMaxDistance = 100;
  section.Range("int8_distance_db", message.int8_distance_db(), 0.0F, kMaxDistance);
  VoicePrecision precision;
  precision.int8_distance_db = message.int8_distance_db();
  switch (message.precision()) {
    case v1::PRECISION_UNSPECIFIED:
    case v1::PRECISION_FLOAT32:
      break;
    case v1::PRECISION_INT8:
      precision.asked = kernels::Precision::kInt8;
      break;
    case v1::PRECISION_AUTO:
      precision.asked.reset();
      break;
    default:
      const std::string& name = v1::Precision_Name(message.precision());
      section.Error("precision",
                    StrCat(name.empty() ? StrCat(static_cast<int>(message.precision())) : name,
                           " is not for voices, allowed are PRECISION_FLOAT32, PRECISION_INT8 and "
                           "PRECISION_AUTO"));
  }
  return precision;
}

}  // namespace millrace::speech
