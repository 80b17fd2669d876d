#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "server/scheduling/model_directory.h"

namespace millrace::server {

// Returns the body of GET /v1/voices: the voices of all speech models, each once. A voice's name is
// its id.
std::string VoicesBody(const ModelDirectory& models);
// The voices that a search wants; what is empty excludes none.
struct VoiceSearch {
  std::string words;  // in the name, the model or the language
  std::set<std::string> ids;
  std::string category;
};
// Returns those voices, from `begin` on and at most `most`, as the answer to a search.
std::string VoiceSearchBody(const ModelDirectory& models, const VoiceSearch& search, size_t begin,
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
