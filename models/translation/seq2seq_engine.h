#pragma once

#include <cstddef>
#include <memory>

#include "models/translation/search/search_options.h"
#include "models/translation/seq2seq/seq2seq_config.h"
#include "models/translation/seq2seq/seq2seq_network.h"
#include "models/translation/translation_engine.h"

namespace millrace::models {

// Translates with an encoder-decoder transformer in float32 on the CPU, all sentences of a call
// together. A translation is the same, bit for bit, in any company. Thread-safe.
class Seq2SeqEngine final : public TranslationEngine {
 public:
  // longest: places of the network. The options must have been checked.
  Seq2SeqEngine(std::unique_ptr<const Seq2SeqNetwork> network, const Seq2SeqConfig& config,
                const SearchOptions& options, size_t longest);

  void Translate(std::span<SentenceJob> jobs, absl::FunctionRef<bool(size_t)> should_stop,
                 runtime::WorkerContext& context) const override;

 private:
  SearchTask TaskOf(const SentenceJob& job) const;

  const std::unique_ptr<const Seq2SeqNetwork> network_;
  const SearchOptions options_;
  const size_t longest_;
  SearchTask task_;  // what all sentences have in common
};

}  // namespace millrace::models
