#pragma once

#include <sndfile.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

inline std::vector<float> Sine(double hertz, int rate, double seconds, float amplitude = 0.5F) {
  std::vector<float> samples(static_cast<size_t>(std::lround(rate * seconds)));
  for (size_t i = 0; i < samples.size(); ++i) {
    const double angle = 2 * std::numbers::pi * hertz * static_cast<double>(i) / rate;
    samples[i] = amplitude * static_cast<float>(std::sin(angle));
  }
  return samples;
}

// How much of the samples is a sine of that frequency: its share of their energy, 0..1.
inline double ShareOf(double hertz, int rate, const std::vector<float>& samples, size_t begin,
                      size_t end) {
  double real = 0;
  double imaginary = 0;
  double energy = 0;
  for (size_t i = begin; i < end; ++i) {
    const double angle = 2 * std::numbers::pi * hertz * static_cast<double>(i) / rate;
    real += samples[i] * std::cos(angle);
    imaginary += samples[i] * std::sin(angle);
    energy += samples[i] * samples[i];
  }
  return 2 * (real * real + imaginary * imaginary) / (static_cast<double>(end - begin) * energy);
}

struct Decoded {
  int rate = 0;
  int format = 0;              // libsndfile's
  sf_count_t frames = 0;       // as the header says
  std::vector<float> samples;  // as many as there are
};

// Returns libsndfile's reading of a file; rate 0 when it does not know it.
inline Decoded Decode(const std::string& bytes) {
  struct Source {
    std::string_view bytes;
    sf_count_t at = 0;
  } source{.bytes = bytes};
  SF_VIRTUAL_IO io = {
      .get_filelen =
          [](void* self) {
            return static_cast<sf_count_t>(static_cast<Source*>(self)->bytes.size());
          },
      .seek =
          [](sf_count_t offset, int whence, void* self) {
            auto& s = *static_cast<Source*>(self);
            if (whence == SEEK_CUR) offset += s.at;
            if (whence == SEEK_END) offset += static_cast<sf_count_t>(s.bytes.size());
            return s.at = offset;
          },
      .read =
          [](void* out, sf_count_t count, void* self) {
            auto& s = *static_cast<Source*>(self);
            const sf_count_t left = static_cast<sf_count_t>(s.bytes.size()) - s.at;
            count = std::max<sf_count_t>(0, std::min(count, left));
            std::memcpy(out, s.bytes.data() + s.at, static_cast<size_t>(count));
            s.at += count;
            return count;
          },
      .write = [](const void*, sf_count_t, void*) -> sf_count_t { return 0; },
      .tell = [](void* self) { return static_cast<Source*>(self)->at; }};
  SF_INFO info = {};
  SNDFILE* file = sf_open_virtual(&io, SFM_READ, &info, &source);
  Decoded decoded;
  if (file == nullptr) return decoded;
  decoded.rate = info.samplerate;
  decoded.format = info.format;
  decoded.frames = info.frames;
  std::vector<float> piece(4096);
  for (sf_count_t count; (count = sf_read_float(file, piece.data(), 4096)) > 0;)
    decoded.samples.insert(decoded.samples.end(), piece.begin(), piece.begin() + count);
  sf_close(file);
  return decoded;
}

}  // namespace millrace::models
