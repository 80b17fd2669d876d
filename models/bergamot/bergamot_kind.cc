#include "models/bergamot/bergamot_kind.h"

#include <memory>

#include "millrace/config/v1/model.pb.h"
#include "models/config/config_section.h"
#include "models/core/regular_file.h"
#include "models/translation/translation_config.h"

namespace millrace::bergamot {
namespace {

namespace v1 = millrace::config::v1;

std::unique_ptr<const models::KindConfig> Parse(const models::ConfigSection& section) {
  const auto& message = section.As<v1::Bergamot>();
  section.FileName("file", message.file());
  section.FileName("vocabulary_file", message.vocabulary_file());
  if (!message.target_vocabulary_file().empty())
    section.FileName("target_vocabulary_file", message.target_vocabulary_file());
  section.Text("source_language", message.source_language(), 35);
  section.Text("target_language", message.target_language(), 35);
  auto config = std::make_unique<BergamotConfig>();
  config->file = message.file();
  config->vocabulary_file = message.vocabulary_file();
  config->target_vocabulary_file = message.target_vocabulary_file();
  config->source_language = message.source_language();
  config->target_language = message.target_language();
  translation::TakeLengths(message, section, *config);
  return config;
}

}  // namespace

std::vector<models::PackageFile> BergamotConfig::Files() const {
  std::vector<models::PackageFile> files{
      {file, "file", models::kMaxWeightsBytes},
      {vocabulary_file, "vocabulary_file", models::kMaxVocabularyBytes}};
  if (!target_vocabulary_file.empty()) {
    files.push_back(
        {target_vocabulary_file, "target_vocabulary_file", models::kMaxVocabularyBytes});
  }
  return files;
}

models::ModelDetails BergamotConfig::Details() const {
  return models::TranslationInfo{.source_language = source_language,
                                 .target_language = target_language};
}

const models::ModelKind kKind = {"bergamot", &Parse};

}  // namespace millrace::bergamot
