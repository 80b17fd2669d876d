#pragma once

#include <string>
#include <vector>

#include "models/core/model_kind.h"
#include "models/core/payload.h"
#include "models/speech/voice_precision.h"

namespace millrace::kokoro {

struct KokoroVoiceConfig {
  std::string name;
  std::string language;                  // the language that it was made for
  std::vector<std::string> default_for;  // languages

  friend bool operator==(const KokoroVoiceConfig&, const KokoroVoiceConfig&) = default;
};

class KokoroConfig final : public models::KindConfig {
 public:
  models::ModelDetails Details() const override;

  std::string file;
  std::string config_file;
  std::string language;
  std::string voice;  // empty: the first
  std::string lexicon_file;
  std::string user_lexicon_file;     // empty: none
  std::string japanese_words_file;   // empty: none
  std::string chinese_lexicon_file;  // empty: no Chinese
  std::vector<KokoroVoiceConfig> voices = {};
  models::SpeechPauses pauses = {};
  speech::VoicePrecision precision = {};
};

extern const models::ModelKind kKind;
extern const models::ModelLoader kLoader;

}  // namespace millrace::kokoro
