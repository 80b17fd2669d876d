#pragma once

#include "absl/status/status.h"
#include "models/core/model_info.h"
#include "models/core/payload.h"
#include "models/speech/speech_reader.h"

namespace millrace::speech {

// Checks the text or phonemes of a request, but not its voice and settings. InvalidArgument names
// the field, the value and what is allowed. Linear time.
absl::Status CheckSpeech(const models::SynthesizeInput& input, const models::ModelInfo& info,
                         const SpeechReader& reader);

// Returns OK if the speed of each part of the text is one of the model's.
absl::Status CheckSpeed(const models::SynthesizeInput& input, const models::SpeechInfo& info);

}  // namespace millrace::speech
