#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/core/model.h"
#include "models/core/request.h"
#include "tests/fakes/run_model.h"

namespace millrace::speech {

using Collector = testing::Collector<models::SynthesizeOutput>;

inline models::SynthesizeInput Say(const std::string& text) {
  models::SynthesizeInput input;
  input.text = text;
  return input;
}

// Runs a request to its end, as a worker does; returns its outcome.
inline absl::Status SpeakAll(const models::Model& model, const models::SynthesizeInput& input,
                             Collector& sink) {
  models::Request request(input, TimePoint::max(), sink);
  return testing::RunToEnd(model, request);
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
