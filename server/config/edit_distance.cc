#include "server/config/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/strings/ascii.h"

namespace millrace {
namespace {

// Returns the Levenshtein distance, whatever the case of letters, computed with one row.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = absl::ascii_tolower(a[i - 1]) == absl::ascii_tolower(b[j - 1]);
      const size_t substituted = diagonal + (same ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Suggestion(std::string_view word, std::span<const std::string> candidates) {
  constexpr size_t kLongestWord = 256;
  if (word.size() > kLongestWord) return "";
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? "" : ", did you mean " + *best + "?";
}

}  // namespace millrace
