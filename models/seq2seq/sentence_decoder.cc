#include "models/seq2seq/sentence_decoder.h"

#include <utility>

namespace millrace::seq2seq {
namespace {

// The number of tokens that are encoded together: large enough that weights are read rarely, small
// enough that a layer's activations stay in the cache.
constexpr size_t kTokensPerGroup = 256;
// Free KV blocks that are kept.
constexpr size_t kKeptBytes = size_t{64} << 20;

size_t BlockFloats(const Seq2SeqNetwork& network) {
  return KvCache::kBlockSlots * static_cast<size_t>(network.decoder().slot_floats());
}

}  // namespace

SentenceDecoder::SentenceDecoder(const Seq2SeqNetwork& network)
    : network_(network),
      pool_(BlockFloats(network), kKeptBytes / (sizeof(float) * BlockFloats(network))) {}

std::vector<std::unique_ptr<SentenceDecoding>> SentenceDecoder::Begin(std::vector<Entry> entries,
                                                                      DecodingScratch& scratch) {
  std::vector<std::unique_ptr<SentenceDecoding>> begun;
  for (size_t next = 0; next < entries.size();) {
    std::vector<std::span<const int32_t>> group;
    const size_t first = next;
    for (size_t tokens = 0; next < entries.size(); ++next) {
      tokens += entries[next].source.size();
      if (next > first && tokens > kTokensPerGroup) break;
      group.push_back(entries[next].source);
    }
    std::vector<SourceMemory> memories = network_.encoder().Encode(group, scratch.layers);
    for (size_t i = 0; i < memories.size(); ++i) {
      begun.push_back(std::make_unique<SentenceDecoding>(pool_, network_.decoder().slot_floats(),
                                                         std::move(memories[i]),
                                                         std::move(entries[first + i].search)));
    }
  }
  return begun;
}

void SentenceDecoder::Step(std::span<SentenceDecoding* const> sentences,
                           DecodingScratch& scratch) const {
  std::vector<DecoderRow>& rows = scratch.rows;
  rows.clear();
  std::vector<size_t> ends;  // one past the rows of each sentence
  for (SentenceDecoding* sentence : sentences) {
    sentence->AddRows(rows);
    ends.push_back(rows.size());
  }
  const int64_t stride = network_.decoder().logits_stride();
  float* logits = scratch.logits.Take(static_cast<int64_t>(rows.size()) * stride);
  network_.decoder().Step(rows, scratch.layers, logits);
  size_t row = 0;
  for (size_t i = 0; i < sentences.size(); ++i) {
    sentences[i]->Advance(logits + static_cast<int64_t>(row) * stride, stride);
    row = ends[i];
  }
}

}  // namespace millrace::seq2seq
