#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace millrace::vits {

// The shape of a small random voice. The defaults have odd sizes on purpose: channels that fill no
// block of the kernels.
struct TinyVits {
  int64_t symbols = 64;
  int64_t hidden = 24;
  int64_t heads = 2;
  int64_t layers = 2;
  int64_t latent = 20;
  int64_t flow_hidden = 24;
  int64_t generator = 40;  // channels before the first upsampling; each halves them
  std::vector<int64_t> strides = {4, 2};
  std::vector<int64_t> flow_dilations = {1, 2};
  std::vector<int64_t> block_kernels = {3, 5};
  std::vector<int64_t> block_dilations = {1, 3};
  bool paired = false;
  int64_t speakers = 0;  // 0: one speaker without a name
  bool reads_letters = false;
  // Damage: other shapes and other values, by the names of tensors.
  std::map<std::string, std::vector<int64_t>> shapes = {};
  std::map<std::string, float> values = {};
};

// Writes model.safetensors and voice.json to a folder.
void WriteTinyVits(const std::filesystem::path& folder, const TinyVits& shape);

}  // namespace millrace::vits
