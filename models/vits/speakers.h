#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/vits/voice_config.h"

namespace millrace::vits {

// One of the people by whom a voice speaks.
struct Speaker {
  std::string name;     // in requests, such as "vctk:p239"
  std::string speaker;  // the name that the voice itself has for it; may be empty
  int64_t id = 0;       // in the weights

  friend bool operator==(const Speaker&, const Speaker&) = default;
};

// Returns the speakers of a voice in the order of their ids; the first is the default. That of a
// voice of one is called `name`, the others `name:speaker`, and those that the voice does not name
// have their numbers for names.
std::vector<Speaker> ListSpeakers(const VoiceConfig& voice, const std::string& name);

// Returns the speaker whose name in requests this is, else the one that the voice itself calls so;
// the first for ""; null if there is none.
const Speaker* FindSpeaker(const std::vector<Speaker>& speakers, std::string_view name);

}  // namespace millrace::vits
