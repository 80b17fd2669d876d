#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/seq2seq/kv_block_pool.h"
#include "models/seq2seq/sentence_decoding.h"
#include "models/seq2seq/seq2seq_network.h"
#include "models/translation/search/search.h"

namespace millrace::seq2seq {

// Buffers of a thread's steps. They grow to the size that is needed.
struct DecodingScratch {
  LayerScratch layers;
  kernels::Scratch logits;
  std::vector<DecoderRow> rows;
};

// Decodes sentences together, one token of each hypothesis a step. The result of a sentence does
// not depend on the others. Thread-safe. The network must outlive the decoder, and the decoder all
// sentences that it began.
class SentenceDecoder {
 public:
  struct Entry {
    // With its end token; not empty, no longer than the network's positions.
    std::span<const int32_t> source;
    std::unique_ptr<translation::Search> search;
  };

  explicit SentenceDecoder(const Seq2SeqNetwork& network);

  // Encodes the sources and begins their searches.
  std::vector<std::unique_ptr<SentenceDecoding>> Begin(std::vector<Entry> entries,
                                                       DecodingScratch& scratch);
  // Decodes one more token of each hypothesis. None of the sentences may be over.
  void Step(std::span<SentenceDecoding* const> sentences, DecodingScratch& scratch) const;

 private:
  const Seq2SeqNetwork& network_;
  KvBlockPool pool_;
};

}  // namespace millrace::seq2seq
