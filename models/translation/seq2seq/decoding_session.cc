#include "models/translation/seq2seq/decoding_session.h"

#include <utility>

namespace millrace::models {
namespace {

// Words that are encoded together: enough that the weights are read rarely, few enough that what a
// layer works on stays in the cache.
constexpr size_t kWordsPerGroup = 256;

}  // namespace

DecodingSession::DecodingSession(const Seq2SeqNetwork& network)
    : network_(network), cache_(network.decoder().slot_floats()) {}

void DecodingSession::Join(std::vector<Entry> entries) {
  for (size_t next = 0; next < entries.size();) {
    std::vector<std::span<const int32_t>> group;
    const size_t first = next;
    for (size_t words = 0; next < entries.size(); ++next) {
      words += entries[next].source.size();
      if (next > first && words > kWordsPerGroup) break;
      group.push_back(entries[next].source);
    }
    std::vector<SourceMemory> memories = network_.encoder().Encode(group, scratch_);
    for (size_t i = 0; i < memories.size(); ++i) {
      Entry& entry = entries[first + i];
      sentences_.push_back({entry.id, std::move(entry.search), std::move(memories[i]), {Path()}});
    }
  }
}

std::vector<DecodingSession::Result> DecodingSession::Step() {
  std::vector<DecoderRow> rows;
  for (Sentence& sentence : sentences_) {
    const std::span<const Search::Row> wanted = sentence.search->rows();
    for (size_t i = 0; i < wanted.size(); ++i) {
      Extend(sentence.paths[i]);
      rows.push_back({wanted[i].word, &sentence.memory, sentence.paths[i].floats});
    }
  }
  const int64_t stride = network_.decoder().logits_stride();
  float* logits = logits_.Take(static_cast<int64_t>(rows.size()) * stride);
  network_.decoder().Step(rows, scratch_, logits);
  std::vector<Result> results;
  std::erase_if(sentences_, [&](Sentence& sentence) {
    const auto count = static_cast<int64_t>(sentence.search->rows().size());
    sentence.search->Advance(logits, stride);
    logits += count * stride;
    if (!sentence.search->rows().empty()) {
      Follow(sentence);
      return false;
    }
    results.push_back({sentence.id, sentence.search->Found()});
    Forget(sentence);
    return true;
  });
  return results;
}

void DecodingSession::Extend(Path& path) {
  path.slot = cache_.Append(path.slot);
  path.floats.push_back(cache_.floats(path.slot));
}

void DecodingSession::Follow(Sentence& sentence) {
  std::vector<Path> paths;
  for (const Search::Row& row : sentence.search->rows()) {
    paths.push_back(sentence.paths[static_cast<size_t>(row.parent)]);
    cache_.Hold(paths.back().slot);
  }
  Forget(sentence);
  sentence.paths = std::move(paths);
}

void DecodingSession::Forget(const Sentence& sentence) {
  for (const Path& path : sentence.paths) cache_.Release(path.slot);
}

}  // namespace millrace::models
