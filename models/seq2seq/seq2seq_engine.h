#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "models/seq2seq/sentence_decoder.h"
#include "models/seq2seq/seq2seq_config.h"
#include "models/seq2seq/seq2seq_network.h"
#include "models/translation/translation_engine.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::seq2seq {

// Translates with an encoder-decoder transformer on the CPU. A translation is the same, bit for
// bit, in any company. Thread-safe.
class Seq2SeqEngine final : public translation::TranslationEngine {
 public:
  // longest: places of the network. The jobs' search options must have been checked.
  Seq2SeqEngine(std::unique_ptr<const Seq2SeqNetwork> network, const Seq2SeqConfig& config,
                size_t longest);

  void Advance(std::span<translation::SentenceJob* const> jobs, size_t max_tokens,
               absl::FunctionRef<bool(size_t)> should_stop,
               runtime::WorkerContext& context) const override;

 private:
  // Encodes those of the jobs that are new.
  void Begin(std::span<translation::SentenceJob* const> jobs,
             absl::FunctionRef<bool(size_t)> should_stop, DecodingScratch& scratch) const;
  // Takes over what the search has come to.
  void Take(translation::SentenceJob& job, DecodingScratch& scratch) const;
  std::unique_ptr<DecodingScratch> TakeScratch() const MILLRACE_EXCLUDES(mu_);
  void GiveScratch(std::unique_ptr<DecodingScratch> scratch) const MILLRACE_EXCLUDES(mu_);

  const std::unique_ptr<const Seq2SeqNetwork> network_;
  const size_t longest_;
  const translation::SearchTask task_;  // what all sentences have in common
  const std::unique_ptr<SentenceDecoder> decoder_;
  // What calls that are over leave to the next: as many as there were at once.
  mutable Mutex mu_;
  mutable std::vector<std::unique_ptr<DecodingScratch>> scratches_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::seq2seq
