#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "tests/unit/models/speech/speak.h"

namespace millrace::speech {

// How requests that were in one batch ended, and their audio.
struct SpokenTogether {
  std::vector<absl::Status> statuses;
  std::vector<std::vector<std::vector<float>>> audio;  // by sentence
};

inline std::vector<std::vector<float>> SentencesOf(const Collector& sink) {
  std::vector<std::vector<float>> sentences;
  for (const models::SynthesizeOutput& part : sink.parts) sentences.push_back(part.samples);
  return sentences;
}

// Runs requests to their ends, all that are left in each step.
inline SpokenTogether SpeakTogether(const models::Model& model,
                                    const std::vector<models::SynthesizeInput>& inputs) {
  std::deque<Collector> sinks(inputs.size());
  std::deque<models::Request> requests;
  for (size_t i = 0; i < inputs.size(); ++i)
    requests.emplace_back(inputs[i], TimePoint::max(), sinks[i]);
  std::vector<models::Request*> together;
  for (models::Request& request : requests) together.push_back(&request);
  testing::RunToEnds(model, std::move(together));
  SpokenTogether spoken;
  for (size_t i = 0; i < inputs.size(); ++i) {
    spoken.statuses.push_back(*requests[i].outcome());
    spoken.audio.push_back(SentencesOf(sinks[i]));
  }
  return spoken;
}

// Cancels one of two requests whose batch is prepared: it says nothing, and the other one is
// spoken.
inline void ExpectACancelledRequestCostsTheBatchNothing(const models::Model& model) {
  models::FakeWorkerContext context;
  Collector cancelled, heard;
  models::Request first(Say("Hello there."), TimePoint::max(), cancelled);
  models::Request second(Say("Good morning."), TimePoint::max(), heard);
  std::vector<models::Request*> requests = {&first, &second};
  const std::unique_ptr<models::Batch> batch = model.Prepare(requests);
  ASSERT_NE(batch, nullptr);
  cancelled.Cancel();
  batch->Forward(context);
  batch->Complete();
  EXPECT_TRUE(cancelled.parts.empty());
  EXPECT_FALSE(first.outcome());
  ASSERT_EQ(heard.parts.size(), 1U);
  EXPECT_TRUE(second.outcome() && second.outcome()->ok());
}

}  // namespace millrace::speech
