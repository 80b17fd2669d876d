#pragma once

#include <string>

#include "absl/status/status.h"
#include "riva/tts.pb.h"
#include "server/requests/services.h"
#include "server/requests/speech_request.h"

namespace millrace::server {

// Sets the model and the voice of the request, and the language of the voice if the request has
// none. A name is "model.voice", a voice, a model, an alias (--voice-aliases), or one of NVIDIA's
// voices, which stands for one that was made for the language; empty: such a one too.
// InvalidArgument lists the voices; NotFound when no speech model is loaded.
absl::Status ChooseRivaVoice(const std::string& name, const Services& services,
                             SpeechRequest& request);

// Adds what a client needs to choose a voice, for each language of each speech model. `model`: the
// name of one of them, or empty. Returns NotFound for a name that no speech model has.
absl::Status ListRivaVoices(const std::string& model, const ModelDirectory& models,
                            nvidia::riva::tts::RivaSynthesisConfigResponse& response);

}  // namespace millrace::server
