#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/core/model_kind.h"

namespace millrace::bergamot {

class BergamotConfig final : public models::KindConfig {
 public:
  models::ModelDetails Details() const override;

  std::string file;
  std::string vocabulary_file;
  std::string target_vocabulary_file;  // empty: both languages share one
  std::string source_language;
  std::string target_language;
  float max_length_factor = 2.5F;
  int64_t max_source_tokens = 80;  // 16..1024
};

extern const models::ModelKind kKind;
extern const models::ModelLoader kLoader;

}  // namespace millrace::bergamot
