#include "models/seq2seq/sentence_decoding.h"

#include <utility>

namespace millrace::seq2seq {

void SentenceDecoding::AddRows(std::vector<DecoderRow>& rows) {
  const std::span<const translation::Search::Row> wanted = search_->rows();
  for (size_t i = 0; i < wanted.size(); ++i) {
    Path& path = paths_[i];
    path.slot = cache_.Append(path.slot);
    path.floats.push_back(cache_.floats(path.slot));
    rows.push_back({wanted[i].token, &memory_, path.floats});
  }
}

void SentenceDecoding::Advance(float* logits, int64_t stride) {
  search_->Advance(logits, stride);
  const std::span<const translation::Search::Row> next = search_->rows();
  // The most frequent case: the only hypothesis continues.
  if (next.size() == 1 && paths_.size() == 1) return;
  std::vector<Path> paths;
  for (const translation::Search::Row& row : next) {
    paths.push_back(paths_[static_cast<size_t>(row.parent)]);
    cache_.Hold(paths.back().slot);
  }
  for (const Path& path : paths_) cache_.Release(path.slot);
  paths_ = std::move(paths);
}

}  // namespace millrace::seq2seq
