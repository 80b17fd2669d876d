#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "server/scheduling/model_directory.h"

namespace millrace::server {

// Returns the body of GET /v1/voices: the voices of all speech models, each once. A voice's name is
// its id.
std::string VoicesBody(const ModelDirectory& models);
// Returns those whose name or model has `search` in it, from `begin` on and at most `most`, as the
// answer to a search.
std::string VoiceSearchBody(const ModelDirectory& models, std::string_view search, size_t begin,
                            size_t most);
// Returns what is known of a voice; empty: there is none of that name.
std::string VoiceBody(const ModelDirectory& models, const std::string& voice);
// Returns the settings of every voice.
std::string VoiceSettingsBody();
// Return the account, which counts nothing and has no limits.
std::string UserBody();
std::string SubscriptionBody();

// Returns the body of ElevenLabs' GET /v1/models: the speech models.
std::string ModelsBody(const ModelDirectory& models);

}  // namespace millrace::server
