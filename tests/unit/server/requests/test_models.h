#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "models/core/model_info.h"
#include "models/core/request.h"

namespace millrace::server {

// Waits for what another thread is about to do; the test's time limit is the bound.
inline void Await(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::yield();
}

// A gate in a model's forward: the test knows when a step is inside, and lets it go.
class Gate {
 public:
  // Runs on the worker.
  void Pass() {
    ++inside_;
    Await([this] { return open_.load(); });
  }
  // Runs on the test's thread.
  void AwaitInside(int steps = 1) {
    Await([&] { return inside_.load() >= steps; });
  }
  void Open() { open_ = true; }

 private:
  std::atomic<int> inside_{0};
  std::atomic<bool> open_{false};
};

inline models::ModelInfo InferInfo(const std::string& name) {
  models::ModelInfo info;
  info.name = name;
  info.platform = "torchscript";
  info.infer().inputs = {{"INPUT0", models::DataType::kFp32, {4}}};
  info.infer().outputs = {{"OUTPUT0", models::DataType::kFp32, {4}}};
  return info;
}

inline models::ModelInfo TranslatorInfo(const std::string& name, const std::string& source,
                                        const std::string& target) {
  models::ModelInfo info;
  info.name = name;
  info.details = models::TranslationInfo{.source_language = source, .target_language = target};
  return info;
}

inline models::ModelInfo VoiceInfo(const std::string& name) {
  models::ModelInfo info;
  info.name = name;
  info.details = models::SpeechInfo{.voices = {"first", "second"}, .sample_rate = 8000};
  return info;
}

// Gives back what came in.
inline void Echo(models::Request& request) {
  models::InferOutput output;
  output.outputs = std::get<models::InferInput>(request.input()).inputs;
  for (models::Tensor& tensor : output.outputs) tensor.name = "OUTPUT0";
  request.Emit(std::move(output));
  request.Finish(absl::OkStatus());
}

}  // namespace millrace::server
