#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace millrace::kokoro {

// Returns the greatest difference, relative to the largest value.
inline float Difference(const std::vector<float>& expected, const std::vector<float>& actual) {
  if (expected.size() != actual.size() || expected.empty()) return INFINITY;
  float largest = 0;
  float furthest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const float off = std::abs(expected[i] - actual[i]);
    furthest = off <= furthest ? furthest : off;  // also where it is no number
  }
  return furthest / largest;
}

// Compares sentences that were spoken in two ways. The first frame of the source is its own mirror
// image: in exact numbers its spectrum is real, and where that is negative, rounding, which every
// instruction set does in its own order, says whether its phase is pi or -pi. The sentence then
// begins otherwise, and the norms tell all the rest of it a little. So two sentences and a fifth of
// them all may begin otherwise; the rest of each is near.
class SentenceComparison {
 public:
  // Silence before the sentence is left out.
  void Add(const std::vector<float>& expected, const std::vector<float>& actual) {
    constexpr std::ptrdiff_t kBeginning = 128;
    ASSERT_EQ(expected.size(), actual.size());
    const auto sound =
        std::find_if(expected.begin(), expected.end(), [](float x) { return x != 0; });
    const std::ptrdiff_t rest =
        std::min(sound - expected.begin() + kBeginning, std::ssize(expected) - 1);
    ++all_;
    if (Difference(expected, actual) <= 1e-4F) ++equal_;
    EXPECT_LE(Difference({expected.begin() + rest, expected.end()},
                         {actual.begin() + rest, actual.end()}),
              1e-2F)
        << expected.size() << " samples";
  }
  ~SentenceComparison() { EXPECT_GE(equal_, all_ - std::max(2, all_ / 5)) << "of " << all_; }

 private:
  int all_ = 0;
  int equal_ = 0;
};

}  // namespace millrace::kokoro
