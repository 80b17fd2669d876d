#include "server/requests/kokoro_names.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "models/core/strings.h"
#include "models/core/voice_name.h"

namespace millrace::server {
namespace {

constexpr std::pair<char, std::string_view> kLetters[] = {
    {'a', "en-US"}, {'b', "en-GB"}, {'e', "es"},    {'f', "fr-FR"}, {'h', "hi"},
    {'i', "it"},    {'j', "ja"},    {'p', "pt-BR"}, {'z', "zh"}};

// The letters of a voice's language and gender stand before its name.
constexpr std::string_view kPublishedVoices[] = {
    "af_alloy",    "af_aoede",  "af_bella",   "af_heart",      "af_jessica",  "af_kore",
    "af_nicole",   "af_nova",   "af_river",   "af_sarah",      "af_sky",      "am_adam",
    "am_echo",     "am_eric",   "am_fenrir",  "am_liam",       "am_michael",  "am_onyx",
    "am_puck",     "am_santa",  "bf_alice",   "bf_emma",       "bf_isabella", "bf_lily",
    "bm_daniel",   "bm_fable",  "bm_george",  "bm_lewis",      "ef_dora",     "em_alex",
    "em_santa",    "ff_siwis",  "hf_alpha",   "hf_beta",       "hm_omega",    "hm_psi",
    "if_sara",     "im_nicola", "jf_alpha",   "jf_gongitsune", "jf_nezumi",   "jf_tebukuro",
    "jm_kumo",     "pf_dora",   "pm_alex",    "pm_santa",      "zf_xiaobei",  "zf_xiaoni",
    "zf_xiaoxiao", "zf_xiaoyi", "zm_yunjian", "zm_yunxi",      "zm_yunxia",   "zm_yunyang"};

// Returns the entry of the list; empty if the name is none of them.
std::string_view PublishedVoice(std::string_view name) {
  const auto* const found = std::ranges::find_if(kPublishedVoices, [name](std::string_view voice) {
    return absl::EqualsIgnoreCase(View(voice), View(name));
  });
  return found == std::end(kPublishedVoices) ? "" : *found;
}

}  // namespace

std::string_view KokoroLanguage(char letter) {
  for (const auto& [known, language] : kLetters) {
    if (letter == known) return language;
  }
  return "";
}

std::string_view LanguageOfKokoroVoice(std::string_view voice) {
  const std::vector<models::VoicePart> parts = models::VoiceParts(voice);
  for (const models::VoicePart& part : parts) {
    if (PublishedVoice(part.name).empty()) return "";
  }
  return KokoroLanguage(PublishedVoice(parts.front().name).front());
}

}  // namespace millrace::server
