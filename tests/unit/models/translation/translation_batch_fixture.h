#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "models/translation/translation_batch.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace millrace::translation {

class TranslationSink final : public models::OutputSink {
 public:
  void Emit(models::Output output) override {
    parts.push_back(std::get<models::TranslateOutput>(output));
  }

  std::string Text() const {
    std::string text;
    for (const models::TranslateOutput& part : parts) text += part.text;
    return text;
  }

  std::vector<models::TranslateOutput> parts;
};

struct CountingState final : SentenceState {
  size_t tokens = 0;
};

// Translates each token by itself, a millisecond a token of all sentences together.
class EchoEngine final : public TranslationEngine {
 public:
  explicit EchoEngine(millrace::testing::FakeClock& clock) : clock_(clock) {}

  size_t TokensTogether() const override { return together; }
  void Advance(std::span<SentenceJob* const> jobs, size_t max_tokens,
               absl::FunctionRef<bool(size_t)> should_stop,
               runtime::WorkerContext&) const override {
    calls.push_back(jobs.size());
    if (full) return;
    for (SentenceJob* job : jobs) {
      EXPECT_TRUE(job->at_work());
      if (job->state == nullptr) {
        job->state = std::make_unique<CountingState>();
        EXPECT_TRUE(job->target.empty());
      }
    }
    for (size_t token = 0; token < max_tokens; ++token) {
      bool worked = false;
      for (size_t i = 0; i < jobs.size(); ++i) {
        SentenceJob& job = *jobs[i];
        if (!job.at_work()) continue;
        worked = true;
        auto& state = static_cast<CountingState&>(*job.state);
        job.target.push_back(job.source[loops ? 0 : state.tokens]);
        ++state.tokens;
        if (fail_after_tokens != 0 && state.tokens == fail_after_tokens) {
          fail_after_tokens = 0;
          throw std::runtime_error("broken");
        }
        job.done = state.tokens + 1 == job.source.size();
        if (job.source.size() > longest && state.tokens >= forgetful_tokens) {
          job.target.resize(forgetful_tokens);
          job.done = true;
        }
        job.stopped = !job.done && should_stop(i);
        if (!job.at_work()) job.state.reset();
      }
      if (worked) clock_.Advance(std::chrono::milliseconds(1));
    }
  }

  mutable std::vector<size_t> calls;  // sentences of each
  mutable size_t fail_after_tokens = 0;
  bool full = false;   // begins nothing
  bool loops = false;  // says the first token over and over
  size_t together = 1;
  // A source with more tokens than this loses all but some in translation.
  size_t longest = 1000;
  size_t forgetful_tokens = 3;

 private:
  millrace::testing::FakeClock& clock_;
};

class TranslationBatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto vocabulary =
        Vocabulary::Load(bergamot::TestDataFolder() / "tiny.spm", bergamot::kTinyTokens);
    ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
    vocabularies_.source = vocabularies_.target = *std::move(vocabulary);
  }

  std::unique_ptr<models::Request> MakeRequest(models::TranslateInput input,
                                               TranslationSink& sink) {
    return std::make_unique<models::Request>(std::move(input), TimePoint::max(), sink, clock_);
  }
  std::unique_ptr<TranslationBatch> Prepare(const std::vector<models::Request*>& requests) {
    return std::make_unique<TranslationBatch>(
        requests, limits_, [this](const models::TranslateInput&) { return Settings(); },
        vocabularies_, engine_, cache_);
  }
  TranslationSettings Settings() const {
    return {.frame = {.after = {0}},
            .search = search_,
            .max_target = max_target_,
            .source_language = "en"};
  }
  void Step(const std::vector<models::Request*>& requests) {
    const auto batch = Prepare(requests);
    batch->Forward(context_);
    batch->Complete();
  }

  millrace::testing::FakeClock clock_;
  StepLimits limits_{.time = std::chrono::milliseconds(4)};
  SearchOptions search_;
  size_t max_target_ = 0;
  EchoEngine engine_{clock_};
  Vocabularies vocabularies_;
  TranslationCache::ForModel cache_;
  models::FakeWorkerContext context_;
};

inline const char kLong[] = "the cat sat on the mat the cat sat on the mat the cat sat on the mat";
inline const char kShort[] = "the cat";

}  // namespace millrace::translation
