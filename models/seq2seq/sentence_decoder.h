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

// Buffers of a thread's steps, which grow to what they need.
struct DecodingScratch {
  LayerScratch layers;
  kernels::Scratch logits;
  std::vector<DecoderRow> rows;
};

// Decodes sentences together, a token of each hypothesis a step. What is found for a sentence does
// not depend on the others of its steps. Thread-safe; the network must outlive it, and it what it
// began.
class SentenceDecoder {
 public:
  struct Entry {
    std::span<const int32_t> source;  // with its end; not empty, no longer than there are places
    std::unique_ptr<translation::Search> search;
  };

  explicit SentenceDecoder(const Seq2SeqNetwork& network);

  // Encodes the sources.
  std::vector<std::unique_ptr<SentenceDecoding>> Begin(std::vector<Entry> entries,
                                                       DecodingScratch& scratch);
  // One token more for each of the sentences, of which none is over.
  void Step(std::span<SentenceDecoding* const> sentences, DecodingScratch& scratch) const;

 private:
  const Seq2SeqNetwork& network_;
  KvBlockPool pool_;
};

}  // namespace millrace::seq2seq
