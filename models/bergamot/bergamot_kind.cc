#include "models/bergamot/bergamot_kind.h"

#include <memory>

#include "millrace/config/v1/model.pb.h"
#include "models/config/config_section.h"
#include "models/core/regular_file.h"

namespace millrace::bergamot {
namespace {

namespace v1 = millrace::config::v1;

std::unique_ptr<const models::KindConfig> Parse(const models::ConfigSection& section) {
  const auto& message = section.As<v1::Bergamot>();
  auto config = std::make_unique<BergamotConfig>();
  constexpr uint64_t kMaxBytes = models::kMaxVocabularyBytes;
  config->file = section.File("file", message.file(), models::kMaxWeightsBytes, *config);
  config->vocabulary_file =
      section.File("vocabulary_file", message.vocabulary_file(), kMaxBytes, *config);
  config->target_vocabulary_file = section.FileIfAny(
      "target_vocabulary_file", message.target_vocabulary_file(), kMaxBytes, *config);
  config->TakeLanguagesAndLengths(message, section);
  return config;
}

}  // namespace

const models::ModelKind kKind = {"bergamot", &Parse};

}  // namespace millrace::bergamot
