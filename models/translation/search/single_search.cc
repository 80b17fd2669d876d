#include "models/translation/search/single_search.h"

#include <cmath>
#include <utility>

#include "models/kernels/float_kernels.h"

namespace millrace::translation {

SingleSearch::SingleSearch(const SearchOptions& options, SearchTask task)
    : options_(options),
      task_(std::move(task)),
      rules_(options_, task_),
      sampler_(options_),
      history_{task_.start},
      row_{.word = task_.start, .parent = 0} {}

void SingleSearch::Advance(float* logits, int64_t) {
  static const auto argmax = kernels::SupportedFloatKernels().front()->argmax;
  const std::span<float> scores(logits, static_cast<size_t>(task_.words));
  rules_.Apply(history_, scores);
  const int32_t word =
      options_.sample ? sampler_.Draw(scores) : static_cast<int32_t>(argmax(logits, task_.words));
  Append(std::isfinite(scores[static_cast<size_t>(word)]) ? word : -1);
}

int32_t SingleSearch::GivenWord(size_t ahead) const {
  const size_t written = history_.size() - 1 + ahead;
  if (task_.forced_end && written + 1 == task_.max_words) return task_.end;
  return written < task_.prefix.size() ? task_.prefix[written] : -1;
}

void SingleSearch::Append(int32_t word) {
  history_.push_back(word);
  row_.word = word;
  failed_ = word < 0;
  done_ = failed_ || word == task_.end || history_.size() > task_.max_words;
}

std::vector<Hypothesis> SingleSearch::Found() const {
  if (failed_) return {};
  Hypothesis found;
  found.words.assign(history_.begin() + 1, history_.end());
  if (!found.words.empty() && found.words.back() == task_.end) found.words.pop_back();
  return {std::move(found)};
}

}  // namespace millrace::translation
