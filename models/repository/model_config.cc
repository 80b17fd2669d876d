#include "models/repository/model_config.h"

#include <algorithm>
#include <utility>

#include "models/core/regular_file.h"

namespace millrace::models {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace

std::string_view Platform(const ModelConfig& config) {
  return std::visit(Overloaded{[](const TorchScriptConfig&) { return "torchscript"; },
                               [](const VitsConfig&) { return "vits"; },
                               [](const BergamotConfig&) { return "bergamot"; },
                               [](const KokoroConfig&) { return "kokoro"; },
                               [](const Seq2SeqModelConfig&) { return "seq2seq"; }},
                    config.kind);
}

std::vector<PackageFile> Files(const ModelConfig& config) {
  using Named = std::vector<PackageFile>;
  const auto weights = [](const std::string& name) {
    return PackageFile{name, "file", kMaxWeightsBytes};
  };
  return std::visit(
      Overloaded{
          [&](const TorchScriptConfig& c) { return Named{weights(c.file)}; },
          [&](const VitsConfig& c) {
            return Named{weights(c.file), {c.voice_file, "voice_file", kMaxSettingsBytes}};
          },
          [&](const BergamotConfig& c) {
            return Named{weights(c.file),
                         {c.vocabulary_file, "vocabulary_file", kMaxVocabularyBytes}};
          },
          [&](const KokoroConfig& c) {
            return Named{weights(c.file),
                         {c.config_file, "config_file", kMaxSettingsBytes},
                         {c.lexicon_file, "lexicon_file", kMaxLexiconBytes}};
          },
          [&](const Seq2SeqModelConfig& c) {
            Named files{weights(c.file),
                        {c.config_file, "config_file", kMaxSettingsBytes},
                        {c.pieces_file, "pieces_file", kMaxVocabularyBytes},
                        {c.words_file, "words_file", kMaxVocabularyBytes}};
            if (!c.target_words_file.empty())
              files.push_back({c.target_words_file, "target_words_file", kMaxVocabularyBytes});
            if (!c.target_pieces_file.empty())
              files.push_back({c.target_pieces_file, "target_pieces_file", kMaxVocabularyBytes});
            return files;
          }},
      config.kind);
}

ModelInfo MakeModelInfo(const ModelConfig& config, std::string name, int64_t version) {
  ModelInfo info;
  info.name = std::move(name);
  info.version = version;
  info.platform = Platform(config);
  info.license = config.license;
  info.batching = config.batching;
  info.batching.max_batch = std::max<size_t>(info.batching.max_batch, 1);
  std::visit(Overloaded{[&](const TorchScriptConfig& c) {
                          info.task = Task::kInfer;
                          info.inputs = c.inputs;
                          info.outputs = c.outputs;
                        },
                        [&](const VitsConfig& c) {
                          info.task = Task::kSynthesis;
                          info.language = c.language;
                          info.voices = {c.voice};
                        },
                        [&](const BergamotConfig& c) {
                          info.task = Task::kTranslation;
                          info.source_language = c.source_language;
                          info.target_language = c.target_language;
                        },
                        [&](const KokoroConfig& c) {
                          info.task = Task::kSynthesis;
                          info.language = c.language;
                          if (!c.voice.empty()) info.voices = {c.voice};
                        },
                        [&](const Seq2SeqModelConfig& c) {
                          info.task = Task::kTranslation;
                          info.source_language = c.source_language;
                          info.target_language = c.target_language;
                        }},
             config.kind);
  return info;
}

}  // namespace millrace::models
