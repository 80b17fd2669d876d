#include "models/vits/speakers.h"

#include <algorithm>

namespace millrace::vits {

std::vector<Speaker> ListSpeakers(const VoiceConfig& voice, const std::string& name) {
  std::vector<Speaker> speakers;
  for (const auto& [speaker, id] : voice.speaker_ids) speakers.push_back({speaker, id});
  std::sort(speakers.begin(), speakers.end(),
            [](const Speaker& a, const Speaker& b) { return a.id < b.id; });
  if (speakers.empty()) speakers.push_back({name, 0});
  return speakers;
}

const Speaker* FindSpeaker(const std::vector<Speaker>& speakers, std::string_view name) {
  if (name.empty()) return &speakers.front();
  const auto found = std::find_if(speakers.begin(), speakers.end(),
                                  [&](const Speaker& s) { return s.name == name; });
  return found == speakers.end() ? nullptr : &*found;
}

}  // namespace millrace::vits
