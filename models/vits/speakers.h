#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/vits/voice_config.h"

namespace millrace::vits {

// One of the people by whom a voice speaks.
struct Speaker {
  std::string name;
  int64_t id = 0;  // in the weights
};

// Returns the speakers of a voice in the order of their ids; the first is the default. A voice that
// lists none has one, which is called `name`.
std::vector<Speaker> ListSpeakers(const VoiceConfig& voice, const std::string& name);

// Returns the speaker of this name, the first for ""; null if there is none.
const Speaker* FindSpeaker(const std::vector<Speaker>& speakers, std::string_view name);

}  // namespace millrace::vits
