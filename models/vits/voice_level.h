#pragma once

#include <span>

namespace millrace::vits {

// Makes samples louder, or quieter, by so many decibels. What would be above -2 dBFS is bent, so
// that nothing reaches full scale; each sample by itself, so that pieces sound as the whole does.
// Thread-safe.
void ApplyGain(float decibels, std::span<float> samples);

}  // namespace millrace::vits
