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
      row_{.token = task_.start, .parent = 0} {}

void SingleSearch::Advance(float* logits, int64_t) {
  static const auto argmax = kernels::SupportedFloatKernels().front()->argmax;
  const std::span<float> scores(logits, static_cast<size_t>(task_.tokens));
  rules_.Apply(history_, scores);
  const int32_t token =
      options_.sample ? sampler_.Draw(scores) : static_cast<int32_t>(argmax(logits, task_.tokens));
  Append(std::isfinite(scores[static_cast<size_t>(token)]) ? token : -1);
}

int32_t SingleSearch::GivenToken(size_t ahead) const {
  const size_t written = history_.size() - 1 + ahead;
  if (task_.forced_end && written + 1 == task_.max_tokens) return task_.end;
  if (written < task_.prefix.size()) return task_.prefix[written];
  return written < task_.min_tokens ? AnyTokenBut(task_.end) : kAnyToken;
}

void SingleSearch::Append(int32_t token) {
  history_.push_back(token);
  row_.token = token;
  failed_ = token < 0;
  done_ = failed_ || token == task_.end || history_.size() > task_.max_tokens;
}

std::vector<Hypothesis> SingleSearch::Found() const {
  if (failed_) return {};
  Hypothesis found;
  found.tokens.assign(history_.begin() + 1, history_.end());
  if (!found.tokens.empty() && found.tokens.back() == task_.end) found.tokens.pop_back();
  return {std::move(found)};
}

}  // namespace millrace::translation
