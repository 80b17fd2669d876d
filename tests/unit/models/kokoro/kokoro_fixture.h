#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/kokoro/kokoro_model.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/kokoro/tiny_kokoro.h"
#include "tests/unit/models/speech/speak.h"
#include "tests/unit/models/text_english/tiny_lexicon.h"

namespace millrace::kokoro {

// Loads Kokoro on small random weights, with the real espeak-ng.
class KokoroFixture : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<models::Model>> TryLoad(const TinyKokoro& shape = {},
                                                         const std::string& voice = "",
                                                         const std::string& language = "en-US") {
    WriteTinyKokoro(folder_.path(), shape);
    return TryLoadAgain(voice, language);
  }
  absl::StatusOr<std::unique_ptr<models::Model>> TryLoadAgain(
      const std::string& voice = "", const std::string& language = "en-US") {
    KokoroOptions options;
    options.weights_file = folder_.path() / "model.safetensors";
    options.config_file = folder_.path() / "kokoro.json";
    std::ofstream(folder_.path() / "lexicon", std::ios::binary)
        << testing::LexiconBytes({{"one", "gwˈʌn"}, {"two", "gtˈu"}}, language == "en-GB" ? 1 : 0);
    options.lexicon_file = folder_.path() / "lexicon";
    options.chinese_lexicon_file = chinese_lexicon_;
    options.language = language;
    options.voice = voice;
    options.espeak_program = espeak_program_;
    options.espeak_timeout = std::chrono::seconds(30);
    options.shapes = shapes_;
    options.cache = cache_;
    models::ModelInfo info;
    info.name = "tiny";
    return KokoroModel::Load(options, info);
  }
  std::unique_ptr<models::Model> Load(const TinyKokoro& shape = {}, const std::string& voice = "") {
    auto model = TryLoad(shape, voice);
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }

  const testing::TemporaryFolder folder_;
  models::ShapePolicy shapes_ = models::ShapePolicy::kExact;  // kPadded: as on an accelerator
  speech::SpeechCache::ForModel cache_;
  std::filesystem::path chinese_lexicon_;  // empty: none
  std::string espeak_program_ = "espeak-ng";
};

}  // namespace millrace::kokoro
