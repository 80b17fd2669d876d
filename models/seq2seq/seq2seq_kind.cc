#include "models/seq2seq/seq2seq_kind.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "millrace/config/v1/model.pb.h"
#include "models/config/config_section.h"
#include "models/core/regular_file.h"
#include "models/core/strings.h"

namespace millrace::seq2seq {
namespace {

namespace v1 = millrace::config::v1;

std::optional<kernels::Precision> Convert(v1::Precision precision,
                                          const models::ConfigSection& section) {
  switch (precision) {
    case v1::PRECISION_UNSPECIFIED:
    case v1::PRECISION_FLOAT32:
      return kernels::Precision::kFloat32;
    case v1::PRECISION_BFLOAT16:
      return kernels::Precision::kBfloat16;
    case v1::PRECISION_INT8:
      return kernels::Precision::kInt8;
    case v1::PRECISION_AUTO:
      return std::nullopt;
    default:
      section.Error("precision", StrCat(static_cast<int>(precision),
                                        " is unknown, allowed are PRECISION_FLOAT32, "
                                        "PRECISION_BFLOAT16, PRECISION_INT8 and "
                                        "PRECISION_AUTO"));
      return kernels::Precision::kFloat32;
  }
}

std::unique_ptr<const models::KindConfig> Parse(const models::ConfigSection& section) {
  const auto& message = section.As<v1::Seq2Seq>();
  auto config = std::make_unique<Seq2SeqModelConfig>();
  constexpr uint64_t kMaxBytes = models::kMaxVocabularyBytes;
  config->file = section.File("file", message.file(), models::kMaxWeightsBytes, *config);
  config->config_file =
      section.File("config_file", message.config_file(), models::kMaxSettingsBytes, *config);
  config->pieces_file = section.File("pieces_file", message.pieces_file(), kMaxBytes, *config);
  config->words_file = section.File("words_file", message.words_file(), kMaxBytes, *config);
  config->target_words_file =
      section.FileIfAny("target_words_file", message.target_words_file(), kMaxBytes, *config);
  config->target_pieces_file =
      section.FileIfAny("target_pieces_file", message.target_pieces_file(), kMaxBytes, *config);
  config->TakeLanguagesAndLengths(message, section);
  translation::SearchOptions& search = config->search;
  if (message.early_stopping()) search.early_stopping = translation::EarlyStopping::kAtBeams;
  if (message.beam_size() != 0) {
    section.Range("beam_size", message.beam_size(), 1U, 16U);
    search.beam_size = static_cast<int>(std::min(message.beam_size(), 16U));
  }
  if (message.has_length_penalty()) {
    section.Range("length_penalty", message.length_penalty(), -10.0F, 10.0F);
    search.length_penalty = message.length_penalty();
  }
  section.Range("no_repeat_ngram_size", message.no_repeat_ngram_size(), 0U, 64U);
  search.no_repeat_ngram_size = static_cast<int>(std::min(message.no_repeat_ngram_size(), 64U));
  if (message.repetition_penalty() != 0) {
    section.Range("repetition_penalty", message.repetition_penalty(), 0.01F, 100.0F);
    search.repetition_penalty = message.repetition_penalty();
  }
  config->precision = Convert(message.precision(), section);
  return config;
}

}  // namespace

const models::ModelKind kKind = {"seq2seq", &Parse};

}  // namespace millrace::seq2seq
