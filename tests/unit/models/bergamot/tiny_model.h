#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace millrace::bergamot {

// A safetensors file in the making.
struct TinyTensor {
  std::string dtype;  // "I8", "I32" or "F32"
  std::vector<int64_t> shape;
  std::string bytes;
};
using TinyTensors = std::map<std::string, TinyTensor>;

inline constexpr int64_t kTinyTokens =
    72;  // as many as the pieces of tests/data/translation/tiny.spm
inline constexpr int64_t kTinyDim = 128;

// Random weights of a Bergamot model with two encoder and two decoder layers.
TinyTensors MakeTinyTensors(uint32_t seed, int64_t dim = kTinyDim, int64_t hidden = 256);
// Gives the source a vocabulary of its own: its token i has the embedding and the shortlist of the
// shared token rows[i].
void SplitVocabulary(std::span<const int32_t> rows, TinyTensors& tensors);
TinyTensor FloatTensor(const std::vector<float>& values);
TinyTensor IntTensor(const std::vector<int32_t>& values);
void WriteSafetensors(const std::filesystem::path& path, const TinyTensors& tensors);

// tests/data/translation
std::filesystem::path TestDataFolder();

}  // namespace millrace::bergamot
