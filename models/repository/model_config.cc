#include "models/repository/model_config.h"

#include <algorithm>
#include <utility>

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

std::vector<std::string> Files(const ModelConfig& config) {
  using Names = std::vector<std::string>;
  return std::visit(
      Overloaded{[](const TorchScriptConfig& c) { return Names{c.file}; },
                 [](const VitsConfig& c) {
                   return Names{c.file, c.voice_file};
                 },
                 [](const BergamotConfig& c) {
                   return Names{c.file, c.vocabulary_file};
                 },
                 [](const KokoroConfig& c) {
                   return Names{c.file, c.config_file, c.lexicon_file};
                 },
                 [](const Seq2SeqModelConfig& c) {
                   Names names{c.file, c.config_file, c.pieces_file, c.words_file};
                   for (const std::string* own : {&c.target_words_file, &c.target_pieces_file}) {
                     if (!own->empty()) names.push_back(*own);
                   }
                   return names;
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
