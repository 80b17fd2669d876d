#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/core/model.h"
#include "models/core/request.h"
#include "tests/fakes/fake_worker_context.h"

namespace millrace::models {

// Keeps what a request gives.
class Collector final : public OutputSink {
 public:
  void Emit(Output output) override {
    parts.push_back(std::get<SynthesizeOutput>(std::move(output)));
  }

  std::vector<SynthesizeOutput> parts;
};

inline SynthesizeInput Say(const std::string& text) {
  SynthesizeInput input;
  input.text = text;
  return input;
}

// Runs a request to its end, as a worker does; returns its outcome.
inline absl::Status SpeakAll(const Model& model, const SynthesizeInput& input, Collector& sink) {
  FakeWorkerContext context;
  Request request(input, TimePoint::max(), sink);
  std::vector<Request*> requests = {&request};
  while (!request.outcome()) {
    const std::unique_ptr<Batch> batch = model.Prepare(requests);
    if (batch == nullptr) continue;
    batch->Forward(context);
    batch->Complete();
  }
  return *request.outcome();
}

inline std::vector<float> Samples(const Model& model, const SynthesizeInput& input) {
  Collector sink;
  const absl::Status status = SpeakAll(model, input, sink);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<float> all;
  for (const SynthesizeOutput& part : sink.parts)
    all.insert(all.end(), part.samples.begin(), part.samples.end());
  return all;
}

}  // namespace millrace::models
