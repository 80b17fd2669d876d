#include <utility>

#include "models/seq2seq/seq2seq_kind.h"
#include "models/seq2seq/seq2seq_model.h"
#include "models/translation/translation_cache.h"

namespace millrace::seq2seq {
namespace {

absl::StatusOr<std::unique_ptr<models::Model>> Load(const models::KindConfig& kind_config,
                                                    const models::LoadContext& context,
                                                    models::ModelInfo info) {
  const auto& config = static_cast<const Seq2SeqModelConfig&>(kind_config);
  Seq2SeqOptions options;
  options.weights_file = context.folder / config.file;
  options.config_file = context.folder / config.config_file;
  options.pieces_file = context.folder / config.pieces_file;
  options.words_file = context.folder / config.words_file;
  if (!config.target_words_file.empty())
    options.target_words_file = context.folder / config.target_words_file;
  if (!config.target_pieces_file.empty())
    options.target_pieces_file = context.folder / config.target_pieces_file;
  options.max_length_factor = config.max_length_factor;
  options.max_source_tokens = static_cast<size_t>(config.max_source_tokens);
  options.search = config.search;
  options.precision = config.precision;
  if (context.caches.translations != nullptr)
    options.cache = context.caches.translations->MakeForModel();
  options.device = context.device;
  options.shapes = context.shapes;
  if (context.max_batch == 0) info.batching.max_batch = Seq2SeqModel::MaxBatch(context.device);
  return Seq2SeqModel::Load(options, std::move(info));
}

}  // namespace

const models::ModelLoader kLoader = {&kKind, &Load};

}  // namespace millrace::seq2seq
