#include "models/translation/search/logits_rules.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace millrace::translation {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

float& ScoreOf(std::span<float> scores, int32_t token) {
  return scores[static_cast<size_t>(token)];
}

void Force(int32_t token, std::span<float> scores) {
  std::ranges::fill(scores, kMinusInfinity);
  ScoreOf(scores, token) = 0;
}

}  // namespace

void LogitsRules::Apply(std::span<const int32_t> history, std::span<float> scores) const {
  const size_t written = history.size() - 1;  // without the start
  if (task_.forced_end && written + 1 == task_.max_tokens) return Force(task_.end, scores);
  if (written < task_.prefix.size()) return Force(task_.prefix[written], scores);
  if (options_.repetition_penalty != 1.0F) PenaliseRepetition(history, scores);
  if (options_.no_repeat_ngram_size > 0) ForbidRepeatedNgrams(history, scores);
  for (const int32_t token : task_.suppressed) ScoreOf(scores, token) = kMinusInfinity;
  if (written < task_.min_tokens) ScoreOf(scores, task_.end) = kMinusInfinity;
}

void LogitsRules::PenaliseRepetition(std::span<const int32_t> history,
                                     std::span<float> scores) const {
  std::vector<int32_t> tokens(history.begin(), history.end());
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  for (const int32_t token : tokens) {
    float& score = ScoreOf(scores, token);
    score = score < 0 ? score * options_.repetition_penalty : score / options_.repetition_penalty;
  }
}

void LogitsRules::ForbidRepeatedNgrams(std::span<const int32_t> history,
                                       std::span<float> scores) const {
  const auto size = static_cast<size_t>(options_.no_repeat_ngram_size);
  if (history.size() < size) return;
  // The token after an earlier occurrence of the last size - 1 tokens would repeat an n-gram.
  const std::span<const int32_t> last = history.last(size - 1);
  for (size_t begin = 0; begin + size <= history.size(); ++begin) {
    if (std::ranges::equal(history.subspan(begin, size - 1), last))
      ScoreOf(scores, history[begin + size - 1]) = kMinusInfinity;
  }
}

}  // namespace millrace::translation
