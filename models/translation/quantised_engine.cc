#include "models/translation/quantised_engine.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "models/translation/quantised_decoder.h"
#include "models/translation/quantised_encoder.h"
#include "models/translation/shortlist.h"

namespace millrace::models {
namespace {

// Words that are encoded together: enough that the weights are read rarely, few enough that what a
// layer works on stays in the L2 cache.
constexpr size_t kWordsPerGroup = 192;

class QuantisedEngine final : public TranslationEngine {
 public:
  QuantisedEngine(const BergamotWeights& weights, const kernels::Kernels& kernels)
      : dim_(weights.dim()),
        shortlist_(weights.shortlist, weights.words()),
        embeddings_(weights),
        encoder_(weights, embeddings_, kernels),
        decoder_(weights, embeddings_, kernels) {}

  void Translate(std::span<SentenceJob> jobs, absl::FunctionRef<bool(size_t)> should_stop,
                 runtime::WorkerContext&) const override {
    std::vector<DecoderBatch::Row> rows;
    for (size_t next = 0; next < jobs.size();) next = EncodeGroup(jobs, next, should_stop, rows);
    DecoderBatch batch(std::move(rows), decoder_.layers(), dim_);
    LayerBuffers buffers = decoder_.MakeBuffers(batch.size());
    while (batch.size() > 0) {
      decoder_.Step(batch, buffers);
      batch.KeepIf([&](const DecoderBatch::Row& row) {
        SentenceJob& job = jobs[row.job];
        if (row.last_word == BergamotWeights::kEndOfSentence) return false;
        job.target.push_back(row.last_word);
        if (job.target.size() >= job.max_target) return false;
        job.stopped = should_stop(row.job);
        return !job.stopped;
      });
    }
  }

 private:
  // Encodes the jobs from `first` on that fit one group; returns the first of the next.
  size_t EncodeGroup(std::span<SentenceJob> jobs, size_t first,
                     absl::FunctionRef<bool(size_t)> should_stop,
                     std::vector<DecoderBatch::Row>& rows) const {
    std::vector<size_t> members;
    std::vector<std::span<const int32_t>> sources;
    size_t words = 0;
    size_t next = first;
    for (; next < jobs.size(); ++next) {
      SentenceJob& job = jobs[next];
      if (!members.empty() && words + job.source.size() > kWordsPerGroup) break;
      job.stopped = should_stop(next);
      if (job.stopped || job.max_target == 0) continue;
      members.push_back(next);
      sources.emplace_back(job.source);
      words += job.source.size();
    }
    auto memories = encoder_.Encode(sources);
    for (size_t i = 0; i < members.size(); ++i) {
      rows.push_back({members[i], std::move(memories[i]),
                      decoder_.WordsFor(shortlist_.Candidates(sources[i]))});
    }
    return next;
  }

  const int64_t dim_;
  const Shortlist shortlist_;
  const Embeddings embeddings_;
  const QuantisedEncoder encoder_;
  const QuantisedDecoder decoder_;
};

}  // namespace

std::unique_ptr<const TranslationEngine> MakeQuantisedEngine(const BergamotWeights& weights,
                                                             const kernels::Kernels& kernels) {
  return std::make_unique<QuantisedEngine>(weights, kernels);
}

}  // namespace millrace::models
