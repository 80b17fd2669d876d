#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/core/payload.h"
#include "tests/unit/models/speech/speak.h"

namespace millrace::speech {

// Returns an input with times, so that outputs have all that they can have.
inline models::SynthesizeInput SayWithTimes(const std::string& text) {
  models::SynthesizeInput input = Say(text);
  input.word_times = true;
  input.phoneme_times = true;
  return input;
}

// Returns the outputs of a request, which must succeed.
inline std::vector<models::SynthesizeOutput> OutputsOf(const models::Model& model,
                                                       const models::SynthesizeInput& input) {
  Collector sink;
  const absl::Status status = SpeakAll(model, input, sink);
  EXPECT_TRUE(status.ok()) << status;
  return std::move(sink.parts);
}

// Expects the same outputs, bit by bit.
inline void ExpectSame(const std::vector<models::SynthesizeOutput>& got,
                       const std::vector<models::SynthesizeOutput>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].sample_rate, expected[i].sample_rate) << i;
    EXPECT_TRUE(got[i].samples == expected[i].samples) << i;
    EXPECT_EQ(got[i].sentence_index, expected[i].sentence_index) << i;
    EXPECT_EQ(got[i].text, expected[i].text) << i;
    EXPECT_EQ(got[i].sentence_finished, expected[i].sentence_finished) << i;
    EXPECT_TRUE(got[i].words == expected[i].words) << i;
    EXPECT_TRUE(got[i].phonemes == expected[i].phonemes) << i;
  }
}

// Expects a request that one call of Prepare ends, without a batch.
inline std::vector<models::SynthesizeOutput> OutputsWithoutABatch(
    const models::Model& model, const models::SynthesizeInput& input) {
  Collector sink;
  models::Request request(input, TimePoint::max(), sink);
  std::vector<models::Request*> requests = {&request};
  EXPECT_EQ(model.Prepare(requests), nullptr);
  EXPECT_TRUE(request.outcome() && request.outcome()->ok());
  return std::move(sink.parts);
}

}  // namespace millrace::speech
