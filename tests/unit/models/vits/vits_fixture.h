#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>

#include "models/core/model_kind.h"
#include "models/vits/vits_kind.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/vits/tiny_vits.h"

namespace millrace::vits {

// Loads a voice that WriteTinyVits writes, with the real espeak-ng.
class VitsFixture : public ::testing::Test {
 protected:
  VitsFixture() {
    config_.file = "model.safetensors";
    config_.voice_file = "voice.json";
    config_.language = "en-US";
    config_.voice = "tiny";
    context_.folder = folder_.path();
    context_.espeak.timeout = std::chrono::seconds(30);
  }

  // Loads the voice that was written last.
  absl::StatusOr<std::unique_ptr<models::Model>> TryLoad() const {
    models::ModelInfo info;
    info.name = "tiny-voice";
    return kLoader.load(config_, context_, std::move(info));
  }
  std::unique_ptr<models::Model> Load(const TinyVits& shape) const {
    WriteTinyVits(folder_.path(), shape);
    auto model = TryLoad();
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }

  const testing::TemporaryFolder folder_;
  VitsConfig config_;
  models::LoadContext context_;
};

}  // namespace millrace::vits
