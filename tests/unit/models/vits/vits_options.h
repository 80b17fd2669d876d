#pragma once

#include <chrono>
#include <filesystem>

#include "models/vits/vits_model.h"

namespace millrace::vits {

// Returns the options of a voice that WriteTinyVits wrote to the folder.
inline VitsOptions OptionsFor(const std::filesystem::path& folder) {
  VitsOptions options;
  options.weights_file = folder / "model.safetensors";
  options.voice_file = folder / "voice.json";
  options.language = "en-US";
  options.voice = "tiny";
  options.espeak_timeout = std::chrono::seconds(30);
  return options;
}

}  // namespace millrace::vits
