// A kind of speech model in a file of its own: each letter of a text is a beep.
#include <cmath>
#include <fstream>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/config/config_section.h"
#include "models/core/model_kind.h"
#include "tests/unit/models/toy_kinds/one_step.h"
#include "tests/unit/models/toy_kinds/toy.pb.h"

namespace millrace::toy_speech {

// Declared by the list of kinds, as those of models/kinds.inc are.
extern const models::ModelKind kKind;
extern const models::ModelLoader kLoader;

namespace {

constexpr int kSampleRate = 8000;
constexpr size_t kSamplesPerLetter = 80;

class Config final : public models::KindConfig {
 public:
  std::vector<models::PackageFile> Files() const override { return {{file, "file", 64}}; }
  models::ModelDetails Details() const override {
    return models::SpeechInfo{.voices = {voice}, .language = language};
  }

  std::string file;
  std::string language;
  std::string voice;
};

class Model final : public models::Model {
 public:
  Model(models::ModelInfo info, double pitch) : info_(std::move(info)), pitch_(pitch) {}

  const models::ModelInfo& info() const override { return info_; }
  absl::Status Validate(const models::Input& input) const override {
    if (std::holds_alternative<models::SynthesizeInput>(input)) return absl::OkStatus();
    return absl::InvalidArgumentError("not a text to speak");
  }
  std::unique_ptr<models::Batch> Prepare(
      std::span<models::Request* const> requests) const override {
    return std::make_unique<toy::OneStep>(
        requests, [this](const models::Input& input) -> models::Output { return Speak(input); });
  }
  std::vector<models::Input> WarmupInputs() const override {
    models::SynthesizeInput input;
    input.text = "a";
    return {input};
  }

 private:
  models::SynthesizeOutput Speak(const models::Input& input) const {
    models::SynthesizeOutput output;
    output.sample_rate = kSampleRate;
    output.text = std::get<models::SynthesizeInput>(input).text;
    for (size_t i = 0; i < output.text.size() * kSamplesPerLetter; ++i) {
      const double turns = pitch_ * static_cast<double>(i) / kSampleRate;
      output.samples.push_back(static_cast<float>(std::sin(2 * std::numbers::pi * turns)));
    }
    return output;
  }

  const models::ModelInfo info_;
  const double pitch_;
};

std::unique_ptr<const models::KindConfig> Parse(const models::ConfigSection& section) {
  const auto& message = section.As<millrace::toy::v1::ToySpeech>();
  section.FileName("file", message.file());
  section.Text("voice", message.voice());
  auto config = std::make_unique<Config>();
  config->file = message.file();
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
  return std::make_unique<Model>(std::move(info), pitch);
}

}  // namespace

const models::ModelKind kKind = {"toy_speech", &Parse};
const models::ModelLoader kLoader = {&kKind, &Load};

}  // namespace millrace::toy_speech
