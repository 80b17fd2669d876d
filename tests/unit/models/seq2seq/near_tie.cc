#include "tests/unit/models/seq2seq/near_tie.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "models/seq2seq/search_job.h"
#include "models/seq2seq/sentence_decoder.h"

namespace millrace::seq2seq {
namespace {

constexpr size_t kLongest = 64;

// A search in which one token is likelier than the network says, behind one history.
class NudgedSearch final : public translation::Search {
 public:
  NudgedSearch(std::unique_ptr<Search> search, std::vector<int32_t> history, int32_t token,
               float nudge)
      : search_(std::move(search)), history_(std::move(history)), token_(token), nudge_(nudge) {}

  std::span<const Row> rows() const override { return search_->rows(); }
  std::span<const int32_t> Tokens(size_t row) const override { return search_->Tokens(row); }
  void Advance(float* logits, int64_t stride) override {
    for (size_t row = 0; row < rows().size(); ++row) {
      if (std::ranges::equal(Tokens(row), history_))
        logits[static_cast<int64_t>(row) * stride + token_] += nudge_;
    }
    search_->Advance(logits, stride);
  }
  std::span<const int32_t> Decided() const override { return search_->Decided(); }
  std::vector<translation::Hypothesis> Found() const override { return search_->Found(); }

 private:
  const std::unique_ptr<Search> search_;
  const std::vector<int32_t> history_;
  const int32_t token_;
  const float nudge_;
};

bool Finds(const Seq2SeqNetwork& network, const translation::SentenceJob& job,
           std::unique_ptr<translation::Search> search) {
  SentenceDecoder decoder(network);
  DecodingScratch scratch;
  std::vector<SentenceDecoder::Entry> entries;
  entries.push_back({job.source, std::move(search)});
  const auto sentences = decoder.Begin(std::move(entries), scratch);
  SentenceDecoding* const sentence = sentences.front().get();
  while (!sentence->over()) decoder.Step({&sentence, 1}, scratch);
  return std::ranges::equal(sentence->search().Found(), job.found,
                            [&](const auto& found, const auto& wanted) {
                              return TargetOf(job, found.tokens) == wanted.tokens;
                            });
}

}  // namespace

bool IsNearTie(const Seq2SeqNetwork& network, const Seq2SeqConfig& config,
               const translation::SentenceJob& found, const translation::SentenceJob& expected) {
  const translation::SearchTask task =
      TaskOf(found, CommonTask(config, network.tokens()), kLongest);
  for (const translation::SentenceJob* job : {&found, &expected}) {
    for (const translation::Hypothesis& hypothesis : job->found) {
      std::vector<int32_t> history = {task.start};
      history.insert(history.end(), found.prefix.begin(), found.prefix.end());
      std::vector<int32_t> tokens = hypothesis.tokens;
      tokens.push_back(task.end);
      for (const int32_t token : tokens) {
        for (const float nudge : {kNearTie, -kNearTie}) {
          if (Finds(network, found,
                    std::make_unique<NudgedSearch>(translation::MakeSearch(found.search, task),
                                                   history, token, nudge)))
            return true;
        }
        history.push_back(token);
      }
    }
  }
  return false;
}

}  // namespace millrace::seq2seq
