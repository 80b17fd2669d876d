#pragma once

#include <string>

#include "models/core/model_kind.h"
#include "models/translation/translation_config.h"

namespace millrace::bergamot {

class BergamotConfig final : public translation::TranslationConfig {
 public:
  BergamotConfig() : TranslationConfig(80) {}

  std::string file;
  std::string vocabulary_file;
  std::string target_vocabulary_file;  // empty: both languages share one
};

extern const models::ModelKind kKind;
extern const models::ModelLoader kLoader;

}  // namespace millrace::bergamot
