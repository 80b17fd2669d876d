// A kind of translation model in a file of its own: a translation is the words in reverse order.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "models/config/config_section.h"
#include "models/core/model_kind.h"
#include "tests/unit/models/toy_kinds/one_step.h"
#include "tests/unit/models/toy_kinds/toy.pb.h"

namespace millrace::toy_text {

// Declared by the list of kinds, as those of models/kinds.inc are.
extern const models::ModelKind kKind;
extern const models::ModelLoader kLoader;

namespace {

class Config final : public models::KindConfig {
 public:
  models::ModelDetails Details() const override {
    return models::TranslationInfo{.source_language = source_language,
                                   .target_language = target_language};
  }

  std::string source_language;
  std::string target_language;
};

models::TranslateOutput Translate(const models::Input& input) {
  std::vector<std::string> words =
      absl::StrSplit(std::get<models::TranslateInput>(input).texts.front(), ' ');
  std::reverse(words.begin(), words.end());
  models::TranslateOutput output;
  output.text = absl::StrJoin(words, " ");
  output.text_finished = true;
  return output;
}

class Model final : public models::Model {
 public:
  explicit Model(models::ModelInfo info) : info_(std::move(info)) {}

  const models::ModelInfo& info() const override { return info_; }
  absl::Status Validate(const models::Input& input) const override {
    const auto* const translate = std::get_if<models::TranslateInput>(&input);
    if (translate != nullptr && translate->texts.size() == 1) return absl::OkStatus();
    return absl::InvalidArgumentError("texts: allowed is one");
  }
  std::unique_ptr<models::Batch> Prepare(
      std::span<models::Request* const> requests) const override {
    return std::make_unique<toy::OneStep>(requests, &Translate);
  }
  std::vector<models::Input> WarmupInputs() const override {
    return {models::TranslateInput{.texts = {"a b"}}};
  }

 private:
  const models::ModelInfo info_;
};

std::unique_ptr<const models::KindConfig> Parse(const models::ConfigSection& section) {
  const auto& message = section.As<millrace::toy::v1::ToyText>();
  section.Text("source_language", message.source_language(), 35);
  section.Text("target_language", message.target_language(), 35);
  auto config = std::make_unique<Config>();
  config->source_language = message.source_language();
  config->target_language = message.target_language();
  return config;
}

absl::StatusOr<std::unique_ptr<models::Model>> Load(const models::KindConfig& /*config*/,
                                                    const models::LoadContext& /*context*/,
                                                    models::ModelInfo info) {
  return std::make_unique<Model>(std::move(info));
}

}  // namespace

const models::ModelKind kKind = {"toy_text", &Parse};
const models::ModelLoader kLoader = {&kKind, &Load};

}  // namespace millrace::toy_text
