#include "models/bergamot/int8_engine.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "models/bergamot/int8_decoder.h"
#include "models/bergamot/int8_encoder.h"
#include "models/bergamot/shortlist.h"

namespace millrace::bergamot {
namespace {

// The number of tokens that are encoded together: large enough that weights are read rarely, small
// enough that a layer's activations stay in the L2 cache.
constexpr size_t kTokensPerGroup = 192;

struct Int8State final : translation::SentenceState {
  explicit Int8State(DecodedSentence sentence) : sentence(std::move(sentence)) {}

  DecodedSentence sentence;
};

void TakeAlignment(translation::SentenceJob& job, DecodedSentence& sentence) {
  if (!job.align) return;
  job.alignment = std::move(sentence.alignment);
  job.alignment.resize(job.target.size());  // without the end of the sentence
}

class Int8Engine final : public translation::TranslationEngine {
 public:
  Int8Engine(const BergamotWeights& weights, const kernels::IntegerKernels& kernels)
      : dim_(weights.dim()),
        shortlist_(weights.shortlist, weights.target_tokens()),
        embeddings_(weights),
        encoder_(weights, embeddings_, kernels),
        decoder_(weights, embeddings_, kernels) {}

  void Advance(std::span<translation::SentenceJob* const> jobs, size_t max_tokens,
               absl::FunctionRef<bool(size_t)> should_stop,
               runtime::WorkerContext&) const override {
    for (size_t next = 0; next < jobs.size();) next = EncodeGroup(jobs, next, should_stop);
    std::vector<DecoderBatch::Row> rows;
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i]->at_work())
        rows.push_back({i, &static_cast<Int8State&>(*jobs[i]->state).sentence});
    }
    DecoderBatch batch(std::move(rows), decoder_.layers(), dim_);
    LayerBuffers buffers = decoder_.MakeBuffers(batch.size());
    for (size_t tokens = 0; tokens < max_tokens && batch.size() > 0; ++tokens) {
      decoder_.Step(batch, buffers);
      batch.KeepIf([&](const DecoderBatch::Row& row) {
        translation::SentenceJob& job = *jobs[row.job];
        const int32_t token = row.sentence->last_token;
        job.done = token == BergamotWeights::kEndOfSentence;
        if (!job.done) {
          job.target.push_back(token);
          job.done = job.target.size() >= job.max_target;
        }
        job.stopped = !job.done && should_stop(row.job);
        if (job.done) TakeAlignment(job, *row.sentence);
        if (!job.at_work()) job.state.reset();
        return job.at_work();
      });
    }
    batch.StoreCells();
  }

 private:
  // Encodes the new jobs from `first` on that fit one group. Returns the first of the next group.
  size_t EncodeGroup(std::span<translation::SentenceJob* const> jobs, size_t first,
                     absl::FunctionRef<bool(size_t)> should_stop) const {
    std::vector<translation::SentenceJob*> members;
    std::vector<std::span<const int32_t>> sources;
    size_t tokens = 0;
    size_t next = first;
    for (; next < jobs.size(); ++next) {
      translation::SentenceJob& job = *jobs[next];
      if (job.state != nullptr) continue;
      if (!members.empty() && tokens + job.source.size() > kTokensPerGroup) break;
      job.stopped = should_stop(next);
      job.done = !job.stopped && job.max_target == 0;
      if (!job.at_work()) continue;
      members.push_back(&job);
      sources.emplace_back(job.source);
      tokens += job.source.size();
    }
    if (members.empty()) return next;
    auto memories = encoder_.Encode(sources);
    for (size_t i = 0; i < members.size(); ++i) {
      members[i]->state = std::make_unique<Int8State>(
          DecodedSentence{.memory = std::move(memories[i]),
                          .output = decoder_.TokensFor(shortlist_.Candidates(sources[i])),
                          .align = members[i]->align});
    }
    return next;
  }

  const int64_t dim_;
  const Shortlist shortlist_;
  const Embeddings embeddings_;
  const Int8Encoder encoder_;
  const Int8Decoder decoder_;
};

}  // namespace

std::unique_ptr<const translation::TranslationEngine> MakeInt8Engine(
    const BergamotWeights& weights, const kernels::IntegerKernels& kernels) {
  return std::make_unique<Int8Engine>(weights, kernels);
}

}  // namespace millrace::bergamot
