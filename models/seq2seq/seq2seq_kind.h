#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/core/model_kind.h"
#include "models/kernels/precision.h"

namespace millrace::seq2seq {

class Seq2SeqModelConfig final : public models::KindConfig {
 public:
  models::ModelDetails Details() const override;

  std::string file;
  std::string config_file;
  std::string pieces_file;
  std::string words_file;
  std::string target_words_file;   // empty: words_file
  std::string target_pieces_file;  // empty: pieces_file
  std::string source_language;
  std::string target_language;
  float max_length_factor = 2.5F;
  int64_t max_source_tokens = 128;  // 16..1024
  int beam_size = 4;                // 1..16
  float length_penalty = 1.0F;      // -10..10
  bool early_stopping = false;
  int no_repeat_ngram_size = 0;                 // 0..64; 0: no limit
  float repetition_penalty = 1.0F;              // 0.01..100
  std::optional<kernels::Precision> precision;  // none: the fastest that is as good as float32
};

extern const models::ModelKind kKind;
extern const models::ModelLoader kLoader;

}  // namespace millrace::seq2seq
