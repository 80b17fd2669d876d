#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "models/core/model_kind.h"
#include "models/kokoro/kokoro_kind.h"
#include "models/speech/speech_cache.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/kokoro/tiny_kokoro.h"
#include "tests/unit/models/speech/speak.h"
#include "tests/unit/models/text/english/tiny_lexicon.h"

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
    std::ofstream(folder_.path() / "lexicon", std::ios::binary)
        << testing::LexiconBytes({{"one", "gwˈʌn"}, {"two", "gtˈu"}}, language == "en-GB" ? 1 : 0);
    config_.file = "model.safetensors";
    config_.config_file = "kokoro.json";
    config_.lexicon_file = "lexicon";
    config_.language = language;
    config_.voice = voice;
    context_.folder = folder_.path();
    context_.espeak.timeout = std::chrono::seconds(30);
    models::ModelInfo info;
    info.name = "tiny";
    return kLoader.load(config_, context_, std::move(info));
  }
  std::unique_ptr<models::Model> Load(const TinyKokoro& shape = {}, const std::string& voice = "") {
    auto model = TryLoad(shape, voice);
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }

  const testing::TemporaryFolder folder_;
  KokoroConfig config_;
  models::LoadContext context_;  // shapes that are not kExact: as on an accelerator
};

}  // namespace millrace::kokoro
