#include "models/seq2seq/search_job.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

namespace millrace::seq2seq {

std::vector<int32_t> TargetOf(const translation::SentenceJob& job,
                              std::span<const int32_t> tokens) {
  tokens = tokens.subspan(std::min(job.prefix.size(), tokens.size()));
  tokens = tokens.first(std::min(job.max_target, tokens.size()));
  return {tokens.begin(), tokens.end()};
}

translation::SearchTask CommonTask(const Seq2SeqConfig& config, int64_t tokens) {
  translation::SearchTask task;
  task.tokens = tokens;
  task.start = config.start;
  task.end = config.end;
  task.forced_end = config.forced_end;
  task.suppressed = config.suppressed;
  return task;
}

translation::SearchTask TaskOf(const translation::SentenceJob& job, translation::SearchTask common,
                               size_t longest) {
  common.prefix = job.prefix;
  common.min_tokens = job.prefix.size() + job.min_target;
  // The end counts; the last token needs no position, because nothing follows it.
  common.max_tokens = std::min(job.prefix.size() + job.max_target + 1, longest);
  return common;
}

void TakeFromSearch(const translation::Search& search, translation::SentenceJob& job) {
  if (!search.rows().empty()) {
    job.target = TargetOf(job, search.Decided());
    return;
  }
  job.found = search.Found();
  if (job.found.empty()) throw std::runtime_error("the model gave scores that are no numbers");
  for (translation::Hypothesis& hypothesis : job.found)
    hypothesis.tokens = TargetOf(job, hypothesis.tokens);
  job.target = job.found.front().tokens;
  job.done = true;
}

}  // namespace millrace::seq2seq
