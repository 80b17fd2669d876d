#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace millrace::speech {

// These functions find where speech is audible in a voice's samples: at least -52 dBFS over 5 ms,
// which is 40 dB below the loudest sounds. Samples are mono, -1 .. 1; results count samples, to 5
// ms. Thread-safe; linear time.

// Return where the first sound begins and where the last one ends; nullopt if there is none.
std::optional<size_t> FirstSound(std::span<const float> samples, int sample_rate);
std::optional<size_t> LastSound(std::span<const float> samples, int sample_rate);

struct Silence {
  size_t begin = 0;
  size_t end = 0;
};

// Returns the longest silence of at least 50 ms; nullopt if there is none.
std::optional<Silence> LongestSilence(std::span<const float> samples, int sample_rate);

}  // namespace millrace::speech
