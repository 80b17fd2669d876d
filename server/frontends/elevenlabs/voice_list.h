#pragma once

#include <string>

#include "server/scheduling/model_directory.h"

namespace millrace::server {

// Returns the body of GET /v1/voices: the voices of all speech models, each once. A voice's name is
// its id.
std::string VoicesBody(const ModelDirectory& models);
// Returns the body of ElevenLabs' GET /v1/models: the speech models.
std::string ModelsBody(const ModelDirectory& models);

}  // namespace millrace::server
