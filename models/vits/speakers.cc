#include "models/vits/speakers.h"

#include <algorithm>

#include "models/core/strings.h"

namespace millrace::vits {
namespace {

std::vector<Speaker> NamedByTheVoice(const VoiceConfig& voice) {
  std::vector<Speaker> speakers;
  for (const auto& [speaker, id] : voice.speaker_ids) speakers.push_back({"", speaker, id});
  std::sort(speakers.begin(), speakers.end(),
            [](const Speaker& a, const Speaker& b) { return a.id < b.id; });
  return speakers;
}

std::vector<Speaker> NamedByNumber(int64_t count) {
  std::vector<Speaker> speakers;
  for (int64_t id = 0; id < count; ++id) speakers.push_back({"", StrCat(id), id});
  return speakers;
}

}  // namespace

std::vector<Speaker> ListSpeakers(const VoiceConfig& voice, const std::string& name) {
  std::vector<Speaker> speakers = NamedByTheVoice(voice);
  if (speakers.empty() && voice.speakers > 1) speakers = NamedByNumber(voice.speakers);
  if (speakers.empty()) return {{name, "", 0}};
  for (Speaker& speaker : speakers)
    speaker.name = speakers.size() == 1 ? name : StrCat(name, ":", speaker.speaker);
  return speakers;
}

const Speaker* FindSpeaker(const std::vector<Speaker>& speakers, std::string_view name) {
  if (name.empty()) return &speakers.front();
  for (const auto& called : {&Speaker::name, &Speaker::speaker}) {
    const auto found = std::find_if(speakers.begin(), speakers.end(),
                                    [&](const Speaker& s) { return s.*called == name; });
    if (found != speakers.end()) return &*found;
  }
  return nullptr;
}

}  // namespace millrace::vits
