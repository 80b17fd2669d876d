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

// Translates with an encoder-decoder transformer on the CPU. A translation does not depend on its
// batch, bit for bit. Thread-safe.
class Seq2SeqEngine final : public translation::TranslationEngine {
 public:
  // longest: the number of positions of the network. The jobs' search options must be valid.
  Seq2SeqEngine(std::unique_ptr<const Seq2SeqNetwork> network, const Seq2SeqConfig& config,
                size_t longest);

  void Advance(std::span<translation::SentenceJob* const> jobs, size_t max_tokens,
               absl::FunctionRef<bool(size_t)> should_stop,
               runtime::WorkerContext& context) const override;

 private:
  // Encodes the sources of new jobs.
  void Begin(std::span<translation::SentenceJob* const> jobs,
             absl::FunctionRef<bool(size_t)> should_stop, DecodingScratch& scratch) const;
  // Copies the search's result to the job.
  void Take(translation::SentenceJob& job, DecodingScratch& scratch) const;
  std::unique_ptr<DecodingScratch> TakeScratch() const MILLRACE_EXCLUDES(mu_);
  void GiveScratch(std::unique_ptr<DecodingScratch> scratch) const MILLRACE_EXCLUDES(mu_);

  const std::unique_ptr<const Seq2SeqNetwork> network_;
  const size_t longest_;
  const translation::SearchTask task_;  // shared by all sentences
  const std::unique_ptr<SentenceDecoder> decoder_;
  // Scratch memory that is reused between calls: as many as ran at once.
  mutable Mutex mu_;
  mutable std::vector<std::unique_ptr<DecodingScratch>> scratches_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::seq2seq
