#pragma once

#include <optional>
#include <string>

#include "models/core/model_kind.h"
#include "models/kernels/precision.h"
#include "models/translation/search/search_options.h"
#include "models/translation/translation_config.h"

namespace millrace::seq2seq {

class Seq2SeqModelConfig final : public translation::TranslationConfig {
 public:
  Seq2SeqModelConfig() : TranslationConfig(128) {}

  std::string file;
  std::string config_file;
  std::string pieces_file;
  std::string words_file;
  std::string target_words_file;   // empty: words_file
  std::string target_pieces_file;  // empty: pieces_file
  translation::SearchOptions search{.beam_size = 4};
  std::optional<kernels::Precision> precision;  // none: the fastest that is as good as float32
};

extern const models::ModelKind kKind;
extern const models::ModelLoader kLoader;

}  // namespace millrace::seq2seq
