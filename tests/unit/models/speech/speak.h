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

namespace millrace::speech {

// Keeps what a request gives.
class Collector final : public models::OutputSink {
 public:
  void Emit(models::Output output) override {
    parts.push_back(std::get<models::SynthesizeOutput>(std::move(output)));
  }

  std::vector<models::SynthesizeOutput> parts;
};

inline models::SynthesizeInput Say(const std::string& text) {
  models::SynthesizeInput input;
  input.text = text;
  return input;
}

// Runs a request to its end, as a worker does; returns its outcome.
inline absl::Status SpeakAll(const models::Model& model, const models::SynthesizeInput& input,
                             Collector& sink) {
  models::FakeWorkerContext context;
  models::Request request(input, TimePoint::max(), sink);
  std::vector<models::Request*> requests = {&request};
  while (!request.outcome()) {
    const std::unique_ptr<models::Batch> batch = model.Prepare(requests);
    if (batch == nullptr) continue;
    batch->Forward(context);
    batch->Complete();
  }
  return *request.outcome();
}

inline std::vector<float> Samples(const models::Model& model,
                                  const models::SynthesizeInput& input) {
  Collector sink;
  const absl::Status status = SpeakAll(model, input, sink);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<float> all;
  for (const models::SynthesizeOutput& part : sink.parts)
    all.insert(all.end(), part.samples.begin(), part.samples.end());
  return all;
}

}  // namespace millrace::speech
