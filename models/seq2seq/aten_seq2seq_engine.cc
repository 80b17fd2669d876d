#include "models/seq2seq/aten_seq2seq_engine.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "models/seq2seq/aten/cached_transformer.h"
#include "models/seq2seq/aten/kv_slot_table.h"
#include "models/seq2seq/search_job.h"
#include "models/seq2seq/upload_weights.h"
#include "models/translation/search/single_search.h"
#include "mps_runtime/device_traits.h"

namespace millrace::seq2seq {
namespace {

// The larger one has room for 43,000 tokens of NLLB-600M in float16.
int64_t UsualCacheBytes(runtime::DeviceType device) {
  return runtime::TraitsOf(device).large_batches ? int64_t{2} << 30 : int64_t{256} << 20;
}

size_t CacheSlots(const TransformerWeights& weights, int64_t bytes) {
  const int64_t token = std::ssize(weights.decoder) * 2 * weights.dim() *
                        static_cast<int64_t>(weights.positions.element_size());
  const int64_t longest = weights.positions.size(0);
  // There is room for at least one source with the most hypotheses, and the reserved slots.
  return static_cast<size_t>(
      std::max(bytes / token, (1 + translation::SearchOptions::kMaxBeam) * longest + 2));
}

// Returns true if the search only takes the likeliest token, which the device can choose.
bool TakesTheLikeliest(const translation::SearchOptions& search) {
  return search.beam_size == 1 && !search.sample && search.repetition_penalty == 1.0F &&
         search.no_repeat_ngram_size == 0;
}

// A sentence that is being decoded, and the KV slots that it holds. The search of a suspended
// sentence knows tokens that the cache lacks: the decoder reads them first, and its predictions for
// them are ignored.
class Decoding final : public translation::SentenceState {
 public:
  // The job is new or suspended. Returns null when too few slots are free.
  static std::unique_ptr<Decoding> Begin(const std::shared_ptr<KvSlotPool>& pool,
                                         translation::SentenceJob& job,
                                         translation::SearchTask task) {
    const size_t hypotheses = static_cast<size_t>(job.search.beam_size);
    const size_t tokens = hypotheses * task.max_tokens;
    std::vector<int32_t> slots = pool->Take(job.source.size() + tokens, &job);
    if (slots.empty()) return nullptr;
    return std::unique_ptr<Decoding>(new Decoding(pool, job, std::move(task), slots, tokens));
  }
  ~Decoding() override {
    pool_->Give(source_slots_);
    pool_->Give(target_slots_.all());
  }
  std::unique_ptr<translation::Search> TakeSearch() override { return std::move(search_); }

  const translation::Search& search() const { return *search_; }
  bool over() const { return search_->rows().empty(); }
  bool is_greedy() const { return greedy_ != nullptr; }
  CachedTransformer::Source Source(const translation::SentenceJob& job) const {
    return {job.source, source_slots_};
  }

  // Returns the row of a greedy search, for `tokens` more tokens. It is valid until Continue.
  CachedTransformer::Row GreedyRow(size_t tokens) {
    const std::span<const int32_t> known = search_->Tokens(0);
    given_.clear();
    for (size_t next = cached_ + 1; next <= cached_ + tokens; ++next) {
      given_.push_back(next < known.size() ? known[next]
                                           : greedy_->GivenToken(next - known.size()));
    }
    return {.token = known[cached_],
            .position = cached_,
            .path = target_slots_.all(),
            .source = source_slots_,
            .forced = given_};
  }
  void Continue(std::span<const int32_t> tokens) {
    for (const int32_t token : tokens) {
      if (over()) return;
      if (++cached_ == search_->Tokens(0).size()) greedy_->Append(token);
    }
  }

  // Adds a row for each hypothesis of a search that is not greedy. They are valid until Advance.
  void AddRows(std::vector<CachedTransformer::Row>& rows) {
    target_slots_.Extend();
    for (size_t i = 0; i < this->rows(); ++i) {
      rows.push_back({.token = search_->Tokens(i)[cached_],
                      .position = cached_,
                      .path = target_slots_.path(i),
                      .source = source_slots_,
                      .forced = {}});
    }
  }
  size_t rows() const { return search_->rows().size(); }
  void Advance(float* scores, int64_t stride) {
    if (++cached_ < search_->Tokens(0).size()) return;
    search_->Advance(scores, stride);
    std::vector<int32_t> parents;
    for (const translation::Search::Row& row : search_->rows()) parents.push_back(row.parent);
    target_slots_.Follow(parents);
  }

  // Adds a row for each token of the translation, once the search is over. Returns how many.
  size_t AddFound(std::vector<CachedTransformer::Row>& rows) const {
    const std::vector<translation::Hypothesis> found = search_->Found();
    if (found.empty()) return 0;
    int32_t token = start_;
    const std::vector<int32_t>& next = found.front().tokens;
    for (size_t i = 0; i < next.size(); ++i) {
      rows.push_back({.token = std::exchange(token, next[i]),
                      .position = i,
                      .path = target_slots_.all(),
                      .source = source_slots_,
                      .forced = {}});
    }
    return next.size();
  }

 private:
  Decoding(const std::shared_ptr<KvSlotPool>& pool, translation::SentenceJob& job,
           translation::SearchTask task, std::span<int32_t> slots, size_t tokens)
      : pool_(pool),
        source_slots_(slots.begin() + static_cast<std::ptrdiff_t>(tokens), slots.end()),
        start_(task.start),
        search_(job.suspended != nullptr ? std::move(job.suspended)
                                         : translation::MakeSearch(job.search, std::move(task))),
        target_slots_({slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(tokens)},
                      std::max<size_t>(1, search_->rows().size())) {
    if (TakesTheLikeliest(job.search))
      greedy_ = static_cast<translation::SingleSearch*>(search_.get());
  }

  const std::shared_ptr<KvSlotPool> pool_;  // shared, because it may outlive the engine
  const std::vector<int32_t> source_slots_;
  const int32_t start_;
  std::unique_ptr<translation::Search> search_;
  translation::SingleSearch* greedy_ = nullptr;  // search_ if it is greedy, else null
  KvSlotTable target_slots_;                     // if greedy, it has all of them, in order
  size_t cached_ = 0;                            // tokens of each hypothesis, the start included
  std::vector<int32_t> given_;
};

Decoding& AtenDecodingOf(const translation::SentenceJob& job) {
  return static_cast<Decoding&>(*job.state);
}

class AtenSeq2SeqEngine final : public translation::TranslationEngine {
 public:
  AtenSeq2SeqEngine(TransformerWeights weights, size_t slots, translation::SearchTask task,
                    std::string model, bool few_shapes)
      : transformer_(std::move(weights), slots, std::move(model), few_shapes),
        task_(std::move(task)) {}

  size_t TokensTogether() const override { return transformer_.max_tokens(); }
  void Advance(std::span<translation::SentenceJob* const> jobs, size_t max_tokens,
               absl::FunctionRef<bool(size_t)> should_stop,
               runtime::WorkerContext& context) const override {
    const c10::InferenceMode inference;
    for (size_t tokens = 0; tokens < max_tokens;) {
      Begin(jobs, should_stop, context);
      std::vector<size_t> at_work;
      std::vector<Decoding*> greedy;
      std::vector<Decoding*> others;
      for (size_t i = 0; i < jobs.size(); ++i) {
        if (!jobs[i]->at_work() || jobs[i]->state == nullptr) continue;
        at_work.push_back(i);
        Decoding& decoding = AtenDecodingOf(*jobs[i]);
        // A sentence that was suspended before its end was noticed may be over.
        if (!decoding.over()) (decoding.is_greedy() ? greedy : others).push_back(&decoding);
      }
      if (at_work.empty()) return;
      const size_t step =
          greedy.empty() ? 1
                         : std::bit_floor(std::min(max_tokens - tokens, transformer_.max_tokens()));
      Continue(greedy, step, context);
      for (size_t i = 0; i < step; ++i) Score(others, context);
      tokens += step;
      Align(jobs, at_work, context);
      for (const size_t i : at_work) {
        translation::SentenceJob& job = *jobs[i];
        if (!AtenDecodingOf(job).over()) job.stopped = should_stop(i);
        if (!job.stopped) TakeFromSearch(AtenDecodingOf(job).search(), job);
        if (!job.at_work()) job.state.reset();
      }
    }
  }

 private:
  // Encodes the sources of jobs that have no state yet, as far as slots are free.
  void Begin(std::span<translation::SentenceJob* const> jobs,
             absl::FunctionRef<bool(size_t)> should_stop, runtime::WorkerContext& context) const {
    std::vector<CachedTransformer::Source> sources;
    for (size_t i = 0; i < jobs.size(); ++i) {
      translation::SentenceJob& job = *jobs[i];
      if (job.state != nullptr || !job.at_work()) continue;
      job.stopped = should_stop(i);
      job.done = !job.stopped && job.max_target == 0;
      if (!job.at_work()) continue;
      auto decoding =
          Decoding::Begin(transformer_.slots(), job, TaskOf(job, task_, transformer_.longest()));
      if (decoding == nullptr) continue;
      sources.push_back(decoding->Source(job));
      job.state = std::move(decoding);
    }
    if (!sources.empty()) transformer_.Encode(sources, context);
  }

  void Continue(std::span<Decoding* const> decodings, size_t tokens,
                runtime::WorkerContext& context) const {
    std::vector<CachedTransformer::Row> rows;
    for (Decoding* decoding : decodings) rows.push_back(decoding->GreedyRow(tokens));
    const auto next = transformer_.Continue(rows, tokens, context);
    for (size_t i = 0; i < decodings.size(); ++i) decodings[i]->Continue(next[i]);
  }

  // Decodes one more token of each sentence that is not over.
  void Score(std::span<Decoding* const> decodings, runtime::WorkerContext& context) const {
    std::vector<CachedTransformer::Row> rows;
    std::vector<Decoding*> together;
    const auto score = [&] {
      if (rows.empty()) return;
      const at::Tensor scores = transformer_.Score(rows, context);
      auto* next = scores.mutable_data_ptr<float>();
      for (Decoding* decoding : together) {
        const auto count = static_cast<int64_t>(decoding->rows());
        decoding->Advance(next, scores.size(1));
        next += count * scores.size(1);
      }
      rows.clear();
      together.clear();
    };
    for (Decoding* decoding : decodings) {
      if (decoding->over()) continue;
      if (rows.size() + decoding->rows() > transformer_.kMaxRows) score();
      decoding->AddRows(rows);
      together.push_back(decoding);
    }
    score();
  }

  // Aligns the translations whose search is over, where the job asks for it.
  void Align(std::span<translation::SentenceJob* const> jobs, std::span<const size_t> at_work,
             runtime::WorkerContext& context) const {
    std::vector<CachedTransformer::Row> rows;
    std::vector<std::pair<translation::SentenceJob*, size_t>> ended;  // and how many tokens
    for (const size_t i : at_work) {
      const Decoding& decoding = AtenDecodingOf(*jobs[i]);
      if (jobs[i]->align && decoding.over()) ended.emplace_back(jobs[i], decoding.AddFound(rows));
    }
    const std::vector<int32_t> places = transformer_.Align(rows, context);
    std::span<const int32_t> left = places;
    for (const auto& [job, tokens] : ended) {
      job->alignment = TargetOf(*job, left.first(tokens));
      left = left.subspan(tokens);
    }
  }

  const CachedTransformer transformer_;
  const translation::SearchTask task_;
};

}  // namespace

std::unique_ptr<const translation::TranslationEngine> MakeAtenSeq2SeqEngine(
    const Seq2SeqWeights& weights, const Seq2SeqConfig& config, const AtenSeq2SeqOptions& options) {
  const c10::InferenceMode inference;
  TransformerWeights uploaded = UploadWeights(weights, config, options.device);
  const size_t slots = CacheSlots(
      uploaded, options.cache_bytes > 0 ? options.cache_bytes : UsualCacheBytes(options.device));
  return std::make_unique<AtenSeq2SeqEngine>(std::move(uploaded), slots,
                                             CommonTask(config, weights.tokens()), options.model,
                                             options.shapes == models::ShapePolicy::kFew);
}

}  // namespace millrace::seq2seq
