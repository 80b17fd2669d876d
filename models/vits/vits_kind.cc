#include "models/vits/vits_kind.h"

#include <memory>

#include "millrace/config/v1/model.pb.h"
#include "models/config/config_section.h"
#include "models/core/regular_file.h"
#include "models/core/voice_name.h"
#include "models/speech/speech_config.h"

namespace millrace::vits {
namespace {

namespace v1 = millrace::config::v1;

std::unique_ptr<const models::KindConfig> Parse(const models::ConfigSection& section) {
  const auto& message = section.As<v1::Vits>();
  section.Range("gain_db", message.gain_db(), -20.0F, 20.0F);
  auto config = std::make_unique<VitsConfig>();
  config->file = section.File("file", message.file(), models::kMaxWeightsBytes, *config);
  config->voice_file =
      section.File("voice_file", message.voice_file(), models::kMaxSettingsBytes, *config);
  section.Text("language", message.language(), 35);
  if (std::string mistake = models::VoiceNameMistake(message.voice(), /*mixed=*/false);
      !mistake.empty())
    section.Error("voice", mistake);
  config->language = message.language();
  config->voice = message.voice();
  config->gain_db = message.gain_db();
  config->pauses = speech::ConvertPauses(message, section);
  config->precision = speech::ConvertPrecision(message, section);
  return config;
}

}  // namespace

models::ModelDetails VitsConfig::Details() const {
  return models::SpeechInfo{.voices = {voice},
                            .language = language,
                            .precision = speech::NameOf(precision.asked),
                            .int8_distance_db = precision.int8_distance_db};
}

const models::ModelKind kKind = {"vits", &Parse};

}  // namespace millrace::vits
