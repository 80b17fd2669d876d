#include "models/translation/search/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "models/kernels/float_kernels.h"

namespace millrace::translation {
namespace {

constexpr float kLowestScore = -std::numeric_limits<float>::infinity();

}  // namespace

BeamSearch::BeamSearch(const SearchOptions& options, SearchTask task)
    : options_(options),
      task_(std::move(task)),
      rules_(options_, task_),
      live_{{.history = {task_.start}, .score = 0}},
      rows_{{.token = task_.start, .parent = 0}} {}

void BeamSearch::Advance(float* logits, int64_t stride) {
  const std::vector<Candidate> candidates = BestCandidates(logits, stride);
  if (candidates.empty()) found_.clear();  // no score was finite
  const bool full = found_.size() == beam();
  const bool keeps = !(full && options_.early_stopping == EarlyStopping::kAtBeams);
  for (size_t i = 0; keeps && i < std::min(candidates.size(), beam()); ++i) {
    if (Ends(candidates[i])) Keep(candidates[i]);
  }
  Continue(candidates);
  if (IsOver()) rows_.clear();
}

std::vector<BeamSearch::Candidate> BeamSearch::BestCandidates(float* logits, int64_t stride) const {
  static const auto log_sum_exp = kernels::SupportedFloatKernels().front()->log_sum_exp;
  const size_t wanted = 2 * beam();
  const auto better = [](const Candidate& a, const Candidate& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.row != b.row ? a.row < b.row : a.token < b.token;
  };
  std::vector<Candidate> best;  // a heap with the worst at the front
  best.reserve(wanted + 1);
  for (size_t row = 0; row < live_.size(); ++row, logits += stride) {
    const std::span<float> scores(logits, static_cast<size_t>(task_.tokens));
    const float total = log_sum_exp(logits, task_.tokens);
    for (float& score : scores) score -= total;
    rules_.Apply(live_[row].history, scores);
    float worst = best.size() < wanted ? kLowestScore : best.front().score;
    for (size_t token = 0; token < scores.size(); ++token) {
      const float score = scores[token] + live_[row].score;
      // The earlier one of equal scores wins.
      if (!(score > worst)) continue;
      best.push_back({score, static_cast<int32_t>(row), static_cast<int32_t>(token)});
      std::ranges::push_heap(best, better);
      if (best.size() > wanted) {
        std::ranges::pop_heap(best, better);
        best.pop_back();
      }
      if (best.size() == wanted) worst = best.front().score;
    }
  }
  std::ranges::sort(best, better);
  return best;
}

bool BeamSearch::Ends(const Candidate& candidate) const {
  return candidate.token == task_.end || written() + 1 >= task_.max_tokens;
}

float BeamSearch::Score(float log_probability, size_t tokens) const {
  return log_probability /
         static_cast<float>(
             std::pow(static_cast<double>(tokens), static_cast<double>(options_.length_penalty)));
}

void BeamSearch::Keep(const Candidate& candidate) {
  const std::vector<int32_t>& history = live_[static_cast<size_t>(candidate.row)].history;
  Hypothesis found;
  found.score = Score(candidate.score, history.size());
  // The new hypothesis goes after equal scores.
  const auto place =
      std::ranges::upper_bound(found_, found.score, std::ranges::greater(), &Hypothesis::score);
  if (place == found_.end() && found_.size() == beam()) return;
  found.tokens.assign(history.begin() + 1, history.end());
  if (candidate.token != task_.end) found.tokens.push_back(candidate.token);
  found_.insert(place, std::move(found));
  if (found_.size() > beam()) found_.pop_back();
}

void BeamSearch::Continue(const std::vector<Candidate>& candidates) {
  std::vector<Live> next;
  rows_.clear();
  for (const Candidate& candidate : candidates) {
    if (next.size() == beam()) break;
    if (Ends(candidate)) continue;
    Live& live = next.emplace_back(live_[static_cast<size_t>(candidate.row)]);
    live.history.push_back(candidate.token);
    live.score = candidate.score;
    rows_.push_back({.token = candidate.token, .parent = candidate.row});
  }
  live_ = std::move(next);
}

bool BeamSearch::IsOver() const {
  if (live_.empty()) return true;
  if (found_.size() < beam()) return false;
  if (options_.early_stopping == EarlyStopping::kAtBeams) return true;
  const bool at_longest =
      options_.early_stopping == EarlyStopping::kNever && options_.length_penalty > 0;
  const float hoped = Score(live_.front().score, at_longest ? task_.max_tokens : written());
  return !(hoped > found_.back().score);
}

std::span<const int32_t> BeamSearch::Decided() const {
  std::span<const int32_t> decided = std::span(live_.front().history).subspan(1);
  const auto agree = [&decided](std::span<const int32_t> tokens) {
    const auto differs = std::ranges::mismatch(decided, tokens).in1;
    decided = decided.first(static_cast<size_t>(differs - decided.begin()));
  };
  for (const Live& live : live_) agree(std::span(live.history).subspan(1));
  for (const Hypothesis& found : found_) agree(found.tokens);
  return decided;
}

std::vector<Hypothesis> BeamSearch::Found() const {
  std::vector<Hypothesis> found = found_;
  if (found.size() > static_cast<size_t>(options_.hypotheses))
    found.resize(static_cast<size_t>(options_.hypotheses));
  return found;
}

}  // namespace millrace::translation
