#include "models/speech/time_stretch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>

namespace millrace::speech {
namespace {

// A piece has two periods of the deepest voices, 80 Hz, and is sought within half a period on
// either side, so that there is always a place where the waves match.
constexpr int kStepsPerSecond = 80;  // half of a piece, by which the next one follows
constexpr int kSearchesPerSecond = 160;
constexpr int64_t kCoarse = 4;  // samples between the places that are tried first

// The lanes let the compiler vectorize the sums.
constexpr size_t kLanes = 8;

// Returns how well the waves match: the correlation, divided by the root of the energy of `b`.
float Match(const float* a, const float* b, size_t size) {
  std::array<float, kLanes> products = {};
  std::array<float, kLanes> squares = {};
  for (size_t i = 0; i + kLanes <= size; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      products[lane] += a[i + lane] * b[i + lane];
      squares[lane] += b[i + lane] * b[i + lane];
    }
  }
  const float energy = std::accumulate(squares.begin(), squares.end(), 1e-9F);
  return std::accumulate(products.begin(), products.end(), 0.0F) / std::sqrt(energy);
}

// Returns the place in from..to, `by` apart, whose wave matches best; among equals the nearest to
// the middle.
int64_t BestMatch(const float* wave, const float* samples, int64_t from, int64_t to, int64_t by,
                  size_t size) {
  int64_t best = (from + to) / 2;
  float match = Match(wave, samples + best, size);
  for (int64_t place = from; place <= to; place += by) {
    if (const float other = Match(wave, samples + place, size); other > match) {
      match = other;
      best = place;
    }
  }
  return best;
}

}  // namespace

std::vector<float> StretchTime(std::span<const float> samples, double speed, int sample_rate) {
  if (speed == 1 || samples.empty()) return {samples.begin(), samples.end()};
  const int64_t step = std::max(sample_rate / kStepsPerSecond, 1);
  const int64_t search = sample_rate / kSearchesPerSecond;
  const int64_t piece = 2 * step;
  const auto size = static_cast<int64_t>(samples.size());
  const int64_t wanted = std::llround(static_cast<double>(size) / speed);
  // Silence on either side leaves room for the search.
  const int64_t margin = piece + search + step;
  std::vector<float> padded(static_cast<size_t>(size + 2 * margin), 0.0F);
  std::copy(samples.begin(), samples.end(), padded.begin() + margin);
  const float* const source = padded.data() + margin;
  std::vector<float> rising(static_cast<size_t>(step));
  for (int64_t i = 0; i < step; ++i) {
    rising[static_cast<size_t>(i)] =
        static_cast<float>(0.5 - 0.5 * std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) /
                                                static_cast<double>(step)));
  }
  std::vector<float> stretched(static_cast<size_t>(wanted), 0.0F);
  int64_t follows = 0;  // where the sound goes on behind the first half of the last piece
  for (int64_t at = 0; at < wanted; at += step) {
    // The middle of the piece, which is heard most, comes at its time.
    int64_t place =
        std::min<int64_t>(std::llround(static_cast<double>(at + step) * speed), size + step) - step;
    const float* const wave = source + std::min(follows, size);
    if (at > 0) {
      for (const int64_t by : {kCoarse, int64_t{1}}) {
        const int64_t reach = by == 1 ? kCoarse - 1 : search;
        place =
            BestMatch(wave, source, place - reach, place + reach, by, static_cast<size_t>(piece));
      }
    }
    const int64_t count = std::min(step, wanted - at);
    for (int64_t i = 0; i < count; ++i) {
      const float weight = rising[static_cast<size_t>(i)];
      stretched[static_cast<size_t>(at + i)] = (1 - weight) * wave[i] + weight * source[place + i];
    }
    follows = place + step;
  }
  return stretched;
}

}  // namespace millrace::speech
