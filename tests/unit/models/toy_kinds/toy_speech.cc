// A kind of speech model in a file of its own: each letter of a text is a beep.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/config/config_section.h"
#include "models/core/model_kind.h"
#include "models/speech/speech_model.h"
#include "models/speech/speech_reader.h"
#include "models/speech/speech_state.h"
#include "models/speech/voice.h"
#include "models/speech/voice_mix.h"
#include "tests/unit/models/toy_kinds/toy.pb.h"

namespace millrace::toy_speech {

// Declared by the list of kinds, as those of models/kinds.inc are.
extern const models::ModelKind kKind;
extern const models::ModelLoader kLoader;

namespace {

constexpr int kSampleRate = 8000;
constexpr int64_t kSamplesPerLetter = 80;

class Config final : public models::KindConfig {
 public:
  models::ModelDetails Details() const override {
    return models::SpeechInfo{.voices = {voice}, .language = language};
  }

  std::string file;
  std::string language;
  std::string voice;
};

// Letters are the phonemes of the voice.
class Reader final : public speech::SpeechReader {
 public:
  absl::StatusOr<models::PhonemeText> ToPhonemes(std::string_view sentence,
                                                 std::string_view /*language*/,
                                                 bool /*with_words*/) const override {
    return models::PhonemeText{std::string(sentence), {}};
  }
  std::string FromIpa(std::string_view ipa) const override { return std::string(ipa); }
  speech::PhonemeIds ToIds(std::string_view phonemes) const override {
    speech::PhonemeIds ids;
    for (size_t i = 0; i < phonemes.size(); ++i) {
      ids.ids.push_back(phonemes[i]);
      ids.symbols.push_back({i, i + 1, i, i + 1});
    }
    return ids;
  }
  std::string Symbols() const override { return "a b c"; }
  size_t max_symbols() const override { return 1000; }
};

class Beeps final : public speech::Voice {
 public:
  Beeps(models::ModelInfo info, double pitch)
      : Voice(std::move(info), {.samples_per_frame = kSamplesPerLetter}), pitch_(pitch) {}

  const speech::SpeechReader& reader() const override { return reader_; }
  absl::StatusOr<std::vector<speech::VoiceShare>> SharesOf(std::string_view voice) const override {
    return speech::ParseVoiceMix(voice, info().speech().voices);
  }
  Spoken SpeakAlone(models::Request& request, runtime::WorkerContext& /*context*/) const override {
    speech::SpeechState& state = speech::StateOf(request);
    std::vector<int64_t> frames(state.plan.ids().size(), 1);
    const absl::StatusOr<bool> begun = state.BeginUnit(frames);
    if (!begun.ok()) return begun.status();
    if (!*begun) return std::nullopt;
    std::vector<float> samples;
    for (int64_t i = 0; i < state.frames() * kSamplesPerLetter; ++i) {
      const double turns = pitch_ * static_cast<double>(i) / kSampleRate;
      samples.push_back(static_cast<float>(std::sin(2 * std::numbers::pi * turns)));
    }
    return samples;
  }

 private:
  const Reader reader_;
  const double pitch_;
};

std::unique_ptr<const models::KindConfig> Parse(const models::ConfigSection& section) {
  const auto& message = section.As<millrace::toy::v1::ToySpeech>();
  auto config = std::make_unique<Config>();
  config->file = section.File("file", message.file(), 64, *config);
  section.Text("voice", message.voice());
  config->language = message.language();
  config->voice = message.voice();
  return config;
}

absl::StatusOr<std::unique_ptr<models::Model>> Load(const models::KindConfig& kind_config,
                                                    const models::LoadContext& context,
                                                    models::ModelInfo info) {
  const auto& config = static_cast<const Config&>(kind_config);
  double pitch = 0;
  if (!(std::ifstream(context.folder / config.file) >> pitch))
    return absl::FailedPreconditionError("the file holds no pitch");
  info.speech().sample_rate = kSampleRate;
  return speech::MakeSpeechModel(std::make_unique<Beeps>(std::move(info), pitch), /*pauses=*/{},
                                 context);
}

}  // namespace

const models::ModelKind kKind = {"toy_speech", &Parse};
const models::ModelLoader kLoader = {&kKind, &Load};

}  // namespace millrace::toy_speech
