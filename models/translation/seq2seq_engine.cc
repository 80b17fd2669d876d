#include "models/translation/seq2seq_engine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/translation/seq2seq/decoding_session.h"

namespace millrace::models {

Seq2SeqEngine::Seq2SeqEngine(std::unique_ptr<const Seq2SeqNetwork> network,
                             const Seq2SeqConfig& config, const SearchOptions& options,
                             size_t longest)
    : network_(std::move(network)), options_(options), longest_(longest) {
  task_.words = network_->words();
  task_.start = config.start;
  task_.end = config.end;
  task_.forced_end = config.forced_end;
  task_.suppressed = config.suppressed;
}

SearchTask Seq2SeqEngine::TaskOf(const SentenceJob& job) const {
  SearchTask task = task_;
  task.prefix = job.prefix;
  // With the end; the last word needs no place, for nothing follows it.
  task.max_words = std::min(job.prefix.size() + job.max_target + 1, longest_);
  return task;
}

void Seq2SeqEngine::Translate(std::span<SentenceJob> jobs,
                              absl::FunctionRef<bool(size_t)> should_stop,
                              runtime::WorkerContext&) const {
  DecodingSession session(*network_);
  std::vector<DecodingSession::Entry> entries;
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].stopped = should_stop(i);
    if (jobs[i].stopped || jobs[i].max_target == 0) continue;
    entries.push_back({i, jobs[i].source, MakeSearch(options_, TaskOf(jobs[i]))});
  }
  session.Join(std::move(entries));
  while (session.size() > 0) {
    for (DecodingSession::Result& result : session.Step()) {
      if (result.found.empty())
        throw std::runtime_error("the model gave scores that are no numbers");
      SentenceJob& job = jobs[result.id];
      const std::vector<int32_t>& words = result.found.front().words;
      const size_t begin = std::min(job.prefix.size(), words.size());
      const size_t end = std::min(begin + job.max_target, words.size());
      job.target.assign(words.begin() + static_cast<std::ptrdiff_t>(begin),
                        words.begin() + static_cast<std::ptrdiff_t>(end));
    }
    session.Remove([&](size_t id) {
      jobs[id].stopped = should_stop(id);
      return jobs[id].stopped;
    });
  }
}

}  // namespace millrace::models
