#pragma once

#include <string>
#include <vector>

#include "models/core/model_kind.h"
#include "models/core/payload.h"
#include "models/speech/voice_precision.h"

namespace millrace::vits {

class VitsConfig final : public models::KindConfig {
 public:
  models::ModelDetails Details() const override;

  std::string file;
  std::string voice_file;
  std::string language;
  std::string voice;
  float gain_db = 0;  // -20..20
  models::SpeechPauses pauses = {};
  speech::VoicePrecision precision = {};
};

extern const models::ModelKind kKind;
extern const models::ModelLoader kLoader;

}  // namespace millrace::vits
