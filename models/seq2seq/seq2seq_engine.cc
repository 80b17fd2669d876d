#include "models/seq2seq/seq2seq_engine.h"

#include <utility>

#include "models/seq2seq/search_job.h"

namespace millrace::seq2seq {
namespace {

struct Seq2SeqState final : translation::SentenceState {
  explicit Seq2SeqState(std::unique_ptr<SentenceDecoding> decoding)
      : decoding(std::move(decoding)) {}

  const std::unique_ptr<SentenceDecoding> decoding;
};

SentenceDecoding& SentenceDecodingOf(const translation::SentenceJob& job) {
  return *static_cast<Seq2SeqState&>(*job.state).decoding;
}

}  // namespace

Seq2SeqEngine::Seq2SeqEngine(std::unique_ptr<const Seq2SeqNetwork> network,
                             const Seq2SeqConfig& config, size_t longest)
    : network_(std::move(network)),
      longest_(longest),
      task_(CommonTask(config, network_->tokens())),
      decoder_(std::make_unique<SentenceDecoder>(*network_)) {}

void Seq2SeqEngine::Take(translation::SentenceJob& job, DecodingScratch& scratch) const {
  const SentenceDecoding& decoding = SentenceDecodingOf(job);
  if (decoding.over() && job.align) {
    const std::vector<translation::Hypothesis> found = decoding.search().Found();
    if (!found.empty() && !found.front().tokens.empty()) {
      std::vector<int32_t> tokens = found.front().tokens;
      tokens.insert(tokens.begin(), task_.start);
      tokens.pop_back();
      job.alignment =
          TargetOf(job, network_->decoder().Align(tokens, decoding.memory(), scratch.layers));
    }
  }
  TakeFromSearch(decoding.search(), job);
  if (job.done) job.state.reset();
}

std::unique_ptr<DecodingScratch> Seq2SeqEngine::TakeScratch() const {
  MutexLock lock(mu_);
  if (scratches_.empty()) return std::make_unique<DecodingScratch>();
  std::unique_ptr<DecodingScratch> scratch = std::move(scratches_.back());
  scratches_.pop_back();
  return scratch;
}

void Seq2SeqEngine::GiveScratch(std::unique_ptr<DecodingScratch> scratch) const {
  // Buffers of a rare wide step are not kept.
  constexpr size_t kMostLogits = size_t{32} << 20;
  if (scratch->logits.floats() > kMostLogits) return;
  MutexLock lock(mu_);
  scratches_.push_back(std::move(scratch));
}

void Seq2SeqEngine::Begin(std::span<translation::SentenceJob* const> jobs,
                          absl::FunctionRef<bool(size_t)> should_stop,
                          DecodingScratch& scratch) const {
  std::vector<translation::SentenceJob*> begun;
  std::vector<SentenceDecoder::Entry> entries;
  for (size_t i = 0; i < jobs.size(); ++i) {
    translation::SentenceJob& job = *jobs[i];
    if (job.state != nullptr) continue;
    job.stopped = should_stop(i);
    job.done = !job.stopped && job.max_target == 0;
    if (!job.at_work()) continue;
    begun.push_back(&job);
    entries.push_back(
        {job.source, translation::MakeSearch(job.search, TaskOf(job, task_, longest_))});
  }
  auto decodings = decoder_->Begin(std::move(entries), scratch);
  for (size_t i = 0; i < begun.size(); ++i)
    begun[i]->state = std::make_unique<Seq2SeqState>(std::move(decodings[i]));
}

void Seq2SeqEngine::Advance(std::span<translation::SentenceJob* const> jobs, size_t max_tokens,
                            absl::FunctionRef<bool(size_t)> should_stop,
                            runtime::WorkerContext&) const {
  std::unique_ptr<DecodingScratch> scratch = TakeScratch();
  Begin(jobs, should_stop, *scratch);
  std::vector<size_t> at_work;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i]->at_work()) at_work.push_back(i);
  }
  std::vector<SentenceDecoding*> sentences;
  for (size_t tokens = 0; tokens < max_tokens && !at_work.empty(); ++tokens) {
    sentences.clear();
    for (const size_t i : at_work) sentences.push_back(&SentenceDecodingOf(*jobs[i]));
    decoder_->Step(sentences, *scratch);
    std::erase_if(at_work, [&](size_t i) {
      translation::SentenceJob& job = *jobs[i];
      if (SentenceDecodingOf(job).over()) {
        Take(job, *scratch);
      } else if (job.stopped = should_stop(i); job.stopped) {
        job.state.reset();
      }
      return !job.at_work();
    });
  }
  for (const size_t i : at_work) Take(*jobs[i], *scratch);
  GiveScratch(std::move(scratch));
}

}  // namespace millrace::seq2seq
