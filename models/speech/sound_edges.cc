#include "models/speech/sound_edges.h"

#include <algorithm>

namespace millrace::speech {
namespace {

constexpr int kWindowsPerSecond = 200;
// Silences of 50 ms; the closure of a stop consonant may be as short.
constexpr int kShortestPerSecond = 20;
constexpr float kPower = 6.3e-6F;  // -52 dBFS

size_t WindowOf(int sample_rate) {
  return std::max<size_t>(static_cast<size_t>(sample_rate / kWindowsPerSecond), 1);
}

// Returns true if the window that begins there is loud enough; the last window may be short.
bool IsHeard(std::span<const float> samples, size_t begin, size_t window) {
  const std::span<const float> part =
      samples.subspan(begin, std::min(window, samples.size() - begin));
  float sum = 0;
  for (const float sample : part) sum += sample * sample;
  return sum > kPower * static_cast<float>(part.size());
}

}  // namespace

std::optional<size_t> FirstSound(std::span<const float> samples, int sample_rate) {
  const size_t window = WindowOf(sample_rate);
  for (size_t at = 0; at < samples.size(); at += window) {
    if (IsHeard(samples, at, window)) return at;
  }
  return std::nullopt;
}

std::optional<size_t> LastSound(std::span<const float> samples, int sample_rate) {
  const size_t window = WindowOf(sample_rate);
  for (size_t end = samples.size(); end > 0; end -= std::min(end, window)) {
    const size_t begin = end - std::min(end, window);
    if (IsHeard(samples.first(end), begin, window)) return end;
  }
  return std::nullopt;
}

std::optional<Silence> LongestSilence(std::span<const float> samples, int sample_rate) {
  const size_t window = WindowOf(sample_rate);
  Silence longest;
  size_t begin = 0;  // the begin of the current silence
  for (size_t at = 0; at < samples.size(); at += window) {
    if (IsHeard(samples, at, window)) {
      begin = at + window;
    } else if (const size_t end = std::min(at + window, samples.size());
               end - begin > longest.end - longest.begin) {
      longest = {begin, end};
    }
  }
  if (longest.end - longest.begin < static_cast<size_t>(sample_rate / kShortestPerSecond))
    return std::nullopt;
  return longest;
}

}  // namespace millrace::speech
