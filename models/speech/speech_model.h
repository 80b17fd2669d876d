#pragma once

#include <memory>

#include "models/core/model.h"
#include "models/core/model_kind.h"
#include "models/core/payload.h"
#include "models/speech/voice.h"

namespace millrace::speech {

// Makes a model that speaks with the voice, a unit or a chunk of one in each step. Units that are
// cached are emitted without the voice. The caches of the context must outlive the model.
std::unique_ptr<models::Model> MakeSpeechModel(std::unique_ptr<const Voice> voice,
                                               const models::SpeechPauses& pauses,
                                               const models::LoadContext& context);

}  // namespace millrace::speech
