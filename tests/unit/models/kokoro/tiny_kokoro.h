#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace millrace::kokoro {

// The shape of a small random Kokoro model. Symbols are the letters of English IPA.
struct TinyKokoro {
  int64_t symbols = 64;
  int64_t positions = 48;  // phonemes of one unit, with the marks of both ends
  int64_t durations = 6;   // frames of a phoneme at most
  std::vector<std::string> voices = {"anna", "ben"};
  // Damage: other shapes and other values, by the names of tensors.
  std::map<std::string, std::vector<int64_t>> shapes = {};
  std::map<std::string, float> values = {};
  std::map<std::string, std::string> metadata = {};
};

// Writes model.safetensors and kokoro.json to a folder.
void WriteTinyKokoro(const std::filesystem::path& folder, const TinyKokoro& shape);

}  // namespace millrace::kokoro
