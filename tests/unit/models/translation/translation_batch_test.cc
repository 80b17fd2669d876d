#include "models/translation/translation_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_worker_context.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace millrace::translation {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

class Sink final : public models::OutputSink {
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
      if (worked) clock_.Advance(milliseconds(1));
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

  std::unique_ptr<models::Request> MakeRequest(models::TranslateInput input, Sink& sink) {
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
  StepLimits limits_{.time = milliseconds(4)};
  SearchOptions search_;
  size_t max_target_ = 0;
  EchoEngine engine_{clock_};
  Vocabularies vocabularies_;
  TranslationCache::ForModel cache_;
  models::FakeWorkerContext context_;
};

const char kLong[] = "the cat sat on the mat the cat sat on the mat the cat sat on the mat";
const char kShort[] = "the cat";

TEST_F(TranslationBatchTest, WorkLeftFallsWithEachStepToNothing) {
  models::TranslateInput input{.texts = {std::string(kLong) + ". " + kLong, kShort}};
  const double estimate = EstimateWork(input);
  EXPECT_GT(estimate, 2 * sizeof(kLong) + sizeof(kShort));
  Sink sink;
  const auto request = MakeRequest(std::move(input), sink);
  Step({request.get()});
  double left = request->work_left();
  EXPECT_NEAR(left + request->work_done(), estimate, 0.2 * estimate);
  EXPECT_LT(left, estimate);
  while (true) {
    Step({request.get()});
    EXPECT_LT(request->work_left(), left);
    left = request->work_left();
    if (request->outcome()) break;
  }
  EXPECT_EQ(left, 0);
  EXPECT_NEAR(request->TakeWorkDone(), estimate, 0.2 * estimate);
}

TEST_F(TranslationBatchTest, TagsAreNoWorkAndEachHypothesisIs) {
  EXPECT_DOUBLE_EQ(
      EstimateWork({.texts = {"<p class='x'>ab</p>"}, .format = models::TextFormat::kHtml}),
      EstimateWork({.texts = {"ab"}}));
  EXPECT_DOUBLE_EQ(EstimateWork({.texts = {"ab"}, .search = {.beam_size = 4}}),
                   4 * EstimateWork({.texts = {"ab"}}));
}

TEST_F(TranslationBatchTest, AStepEndsWhenItsTimeIsOver) {
  Sink sink;
  const auto request = MakeRequest({{kLong}}, sink);
  Step({request.get()});
  EXPECT_EQ(engine_.calls.size(), 3u);  // calls of 1, 2 and 4 tokens
  EXPECT_TRUE(sink.parts.empty());
  EXPECT_FALSE(request->outcome());
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), kLong);
  ASSERT_EQ(sink.parts.size(), 1u);
  EXPECT_EQ(sink.parts[0].target_tokens, 18);
}

TEST_F(TranslationBatchTest, AnEngineHasItsOwnNumberOfTokensInACall) {
  engine_.together = 2;
  Sink sink;
  const auto request = MakeRequest({{kLong}}, sink);
  Step({request.get()});
  EXPECT_EQ(engine_.calls.size(), 2u);
  // The first token of a stream does not wait for a second.
  Sink stream_sink;
  const auto stream = MakeRequest({.texts = {kLong}, .partial = true}, stream_sink);
  engine_.calls.clear();
  Step({stream.get()});
  EXPECT_EQ(engine_.calls.size(), 2u);  // each has one token
  EXPECT_FALSE(stream_sink.parts.empty());
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), kLong);
}

TEST_F(TranslationBatchTest, AStepMakesRoomOnceMoreThanAQuarterHasEnded) {
  limits_.time = milliseconds(1000);
  for (const size_t together : {1, 2}) {
    engine_.together = together;
    Sink sinks[4];
    std::vector<std::unique_ptr<models::Request>> requests;
    std::vector<models::Request*> all;
    for (size_t i = 0; i < 4; ++i) {
      requests.push_back(MakeRequest({{i < 2 ? kShort : kLong}}, sinks[i]));
      all.push_back(requests.back().get());
    }
    Step(all);
    EXPECT_EQ(sinks[1].Text(), kShort);
    // An engine that is faster for fewer sentences goes on with those that are left.
    EXPECT_EQ(requests[3]->outcome().has_value(), together == 1);
    while (!requests[3]->outcome()) Step({requests[2].get(), requests[3].get()});
    EXPECT_EQ(sinks[3].Text(), kLong);
  }
}

TEST_F(TranslationBatchTest, ARequestThatWasPreparedAheadIsTranslatedTheSame) {
  const std::string text = std::string(kLong) + ". The cat. " + kShort;
  std::string texts[2];
  for (const bool ahead : {false, true}) {
    Sink sink;
    const auto request = MakeRequest({.texts = {text, kShort}}, sink);
    if (ahead) {
      TranslationBatch::PrepareAhead(*request, Settings(), limits_.max_source_tokens, vocabularies_,
                                     cache_);
      ASSERT_NE(request->state(), nullptr);
      EXPECT_EQ(static_cast<TranslationPlan*>(request->state())->units().size(), 1u);
    }
    while (!request->outcome()) Step({request.get()});
    EXPECT_TRUE(request->outcome()->ok());
    texts[ahead ? 1 : 0] = sink.Text();
  }
  EXPECT_FALSE(texts[0].empty());
  EXPECT_EQ(texts[1], texts[0]);
}

TEST_F(TranslationBatchTest, OthersJoinAndLeaveWhileOneIsAtWork) {
  Sink long_sink;
  Sink short_sink;
  const auto long_request = MakeRequest({{kLong}}, long_sink);
  const auto short_request = MakeRequest({{kShort}}, short_sink);
  Step({long_request.get()});
  Step({long_request.get(), short_request.get()});
  ASSERT_TRUE(short_request->outcome());
  EXPECT_EQ(short_sink.Text(), kShort);
  EXPECT_FALSE(long_request->outcome());
  while (!long_request->outcome()) Step({long_request.get()});
  EXPECT_EQ(long_sink.Text(), kLong);
}

TEST_F(TranslationBatchTest, ALongTextLeavesRoomForThoseWhoCome) {
  limits_.max_rows = 4;
  std::string document;
  for (int i = 0; i < 40; ++i) document += "The cat sat on the mat.\n";
  Sink sinks[3];
  const auto one = MakeRequest({{document}}, sinks[0]);
  const auto two = MakeRequest({{document}}, sinks[1]);
  Step({one.get()});
  EXPECT_THAT(engine_.calls.front(), 4u);
  engine_.calls.clear();
  Step({one.get(), two.get()});
  EXPECT_EQ(engine_.calls.front(), 5u);  // one for the newcomer, though all places are taken
  while (sinks[1].parts.empty()) Step({one.get(), two.get()});
  engine_.calls.clear();
  Step({one.get(), two.get()});
  EXPECT_EQ(engine_.calls.front(), 4u);
  while (!one->outcome() || !two->outcome()) {
    std::vector<models::Request*> unfinished;
    for (models::Request* request : {one.get(), two.get()}) {
      if (!request->outcome()) unfinished.push_back(request);
    }
    Step(unfinished);
    for (const size_t size : engine_.calls) EXPECT_LE(size, 5u);
  }
  EXPECT_EQ(sinks[0].parts.size(), 40u);
  // Both had as many places.
  EXPECT_EQ(sinks[1].Text(), sinks[0].Text());
}

TEST_F(TranslationBatchTest, HypothesesCountAsSentencesDo) {
  limits_.max_rows = 8;
  search_.beam_size = 4;
  std::string document;
  for (int i = 0; i < 40; ++i) document += "the cat sat on the mat\n";
  Sink sink;
  const auto request = MakeRequest({{document}}, sink);
  Step({request.get()});
  EXPECT_EQ(engine_.calls.front(), 2u);
  Step({request.get()});
  EXPECT_EQ(engine_.calls.back(), 2u);
}

TEST_F(TranslationBatchTest, AStepEndsWhenNothingCanBegin) {
  Sink sink;
  const auto request = MakeRequest({{kLong}}, sink);
  engine_.full = true;
  Step({request.get()});
  EXPECT_EQ(engine_.calls.size(), 1u);
  engine_.full = false;
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), kLong);
}

TEST_F(TranslationBatchTest, WhatIsBegunAtOnceIsBoundedByItsTokens) {
  limits_.max_step_tokens = 20;
  std::string document;
  for (int i = 0; i < 40; ++i) document += "the cat sat on the mat\n";
  Sink sink;
  const auto request = MakeRequest({{document}}, sink);
  Step({request.get()});
  EXPECT_EQ(engine_.calls.front(), 3u);  // 7 tokens, with their end
}

TEST_F(TranslationBatchTest, PartsComeAsTheyAreDecided) {
  Sink sink;
  const auto request = MakeRequest({.texts = {kLong}, .partial = true}, sink);
  Step({request.get()});
  ASSERT_EQ(sink.parts.size(), 1u);  // ended for the first token's sake
  EXPECT_LE(engine_.calls.size(), 2u);
  EXPECT_FALSE(sink.parts[0].sentence_finished);
  EXPECT_FALSE(sink.parts[0].text_finished);
  while (!request->outcome()) {
    Step({request.get()});
    EXPECT_TRUE(std::string(kLong).starts_with(sink.Text()));
  }
  EXPECT_EQ(sink.Text(), kLong);
  EXPECT_GT(sink.parts.size(), 3u);
  EXPECT_TRUE(sink.parts.back().text_finished);
  EXPECT_TRUE(sink.parts.back().sentence_finished);
  EXPECT_EQ(sink.parts.back().target_tokens, 18);
}

TEST_F(TranslationBatchTest, NobodyWaitsForTheFirstTokenOfWhatIsCopied) {
  Sink sink;
  const auto request = MakeRequest({.texts = {"\xE6\xBC\xA2", kLong}, .partial = true}, sink);
  Step({request.get()});
  EXPECT_EQ(engine_.calls.size(), 3u);  // calls of 1, 2 and 4 tokens
}

TEST_F(TranslationBatchTest, WhatFailedHalfwayBeginsAnew) {
  Sink sink;
  const auto request = MakeRequest({.texts = {kLong}, .partial = true}, sink);
  Step({request.get()});
  engine_.fail_after_tokens = 6;
  EXPECT_THROW(
      {
        for (;;) Step({request.get()});
      },
      std::runtime_error);
  EXPECT_FALSE(sink.parts.empty());
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), kLong);
}

TEST_F(TranslationBatchTest, ADroppedBatchLosesNothing) {
  Sink sink;
  const auto request = MakeRequest({{kLong, kShort}}, sink);
  Prepare({request.get()});
  Prepare({request.get()})->Forward(context_);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), std::string(kLong) + kShort);
}

TEST_F(TranslationBatchTest, ACallerWhoLeavesTakesHisSentencesAlong) {
  Sink sinks[2];
  const auto leaver = MakeRequest({{kLong, kLong}}, sinks[0]);
  const auto other = MakeRequest({{kLong}}, sinks[1]);
  Step({leaver.get(), other.get()});
  sinks[0].Cancel();
  Step({leaver.get(), other.get()});
  ASSERT_TRUE(leaver->outcome());
  EXPECT_EQ(leaver->outcome()->code(), absl::StatusCode::kCancelled);
  while (!other->outcome()) Step({other.get()});
  EXPECT_EQ(sinks[1].Text(), kLong);
}

TEST_F(TranslationBatchTest, NeitherCompanyNorACacheChangesWhatAStreamSays) {
  engine_.longest = 12;
  limits_.max_rows = 4;
  const auto translate = [this](size_t company) {
    std::vector<Sink> sinks(company + 1);
    std::vector<std::unique_ptr<models::Request>> requests;
    requests.push_back(
        MakeRequest({.texts = {"the cat sat on\n\nthe cat sat on the mat and the dog "
                               "ran on the mat on the cat sat on the mat"},
                     .partial = true},
                    sinks[0]));
    for (size_t i = 1; i <= company; ++i)
      requests.push_back(MakeRequest({.texts = {"the cat sat on", "the dog ran on"}}, sinks[i]));
    std::vector<models::Request*> at_work;
    for (const auto& request : requests) at_work.push_back(request.get());
    while (!at_work.empty()) {
      Step(at_work);
      std::erase_if(at_work, [](const models::Request* request) { return request->outcome(); });
    }
    std::string text = sinks[0].Text();
    for (const models::TranslateOutput& part : sinks[0].parts)
      for (const std::string& lost : part.lost) text += " lost: " + lost;
    return text;
  };
  const std::string alone = translate(0);
  EXPECT_THAT(alone, ::testing::HasSubstr("lost: the cat sat on the mat and"));
  for (const size_t company : {1, 3, 8}) EXPECT_EQ(translate(company), alone);
  TranslationCache cache({uint64_t{1} << 20, 100});
  cache_ = cache.MakeForModel();
  EXPECT_EQ(translate(0), alone);
  EXPECT_EQ(translate(0), alone);
  EXPECT_GT(cache.stats().hits, 0u);
}

TEST_F(TranslationBatchTest, WhatACacheKnowsNeverReachesTheEngine) {
  TranslationCache cache({uint64_t{1} << 20, 100});
  cache_ = cache.MakeForModel();
  std::string first;
  for (int round = 0; round < 2; ++round) {
    Sink sink;
    const auto request = MakeRequest({{"the cat sat.  the dog\nran"}}, sink);
    while (!request->outcome()) Step({request.get()});
    EXPECT_TRUE(request->outcome()->ok());
    ASSERT_EQ(sink.parts.size(), 3u);  // two spaces divide, too
    EXPECT_GT(sink.parts[0].source_tokens, 0);
    EXPECT_GT(sink.parts[0].target_tokens, 0);
    if (round == 0) {
      first = sink.Text();
      engine_.calls.clear();
    } else {
      EXPECT_EQ(sink.Text(), first);
    }
  }
  EXPECT_TRUE(engine_.calls.empty());
  // A word that comes out as it was is looked for within its carrier sentence and a command as
  // well.
  EXPECT_EQ(cache.stats().hits, 5u);
}

TEST_F(TranslationBatchTest, AWarmUpRunsWhateverACacheKnows) {
  TranslationCache cache({uint64_t{1} << 20, 100});
  cache_ = cache.MakeForModel();
  for (int round = 0; round < 2; ++round) {
    engine_.calls.clear();
    Sink sink;
    models::TranslateInput input{{kShort}};
    input.use_cache = false;
    const auto request = MakeRequest(std::move(input), sink);
    while (!request->outcome()) Step({request.get()});
    EXPECT_FALSE(engine_.calls.empty());
  }
  EXPECT_EQ(cache.stats().entries + cache.stats().misses, 0u);
}

TEST_F(TranslationBatchTest, ASentenceThatWasStoppedIsNotRemembered) {
  TranslationCache cache({uint64_t{1} << 20, 100});
  cache_ = cache.MakeForModel();
  Sink sink;
  const auto request = MakeRequest({{kLong}}, sink);
  Step({request.get()});
  sink.Cancel();
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(cache.stats().entries, 0u);
}

TEST_F(TranslationBatchTest, EqualPartsOfASentenceAreTranslatedOnce) {
  limits_.max_source_tokens = 8;
  std::string text;
  for (int i = 0; i < 200; ++i) text += "the cat sat on the mat ";
  Sink sink;
  const auto request = MakeRequest({{text}}, sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), text);
  // Seven tokens each of a pattern of six.
  EXPECT_LE(std::ranges::max(engine_.calls), 7u);
}

TEST_F(TranslationBatchTest, WhatLosesContentIsTranslatedAgainInParts) {
  engine_.longest = 10;
  Sink sink;
  const auto request = MakeRequest({{kLong, kShort}}, sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), std::string(kLong) + kShort);
  for (const models::TranslateOutput& part : sink.parts) EXPECT_TRUE(part.lost.empty());
  EXPECT_EQ(std::ranges::count_if(sink.parts, &models::TranslateOutput::text_finished), 2);
  EXPECT_GE(sink.parts.size(), 3u);
}

TEST_F(TranslationBatchTest, WhatIsLostInTheSmallestPartsTooIsNamed) {
  engine_.longest = 0;
  engine_.forgetful_tokens = 0;
  Sink sink;
  const auto request = MakeRequest({{kLong}}, sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), kLong);  // as it is, because there is no translation
  for (const models::TranslateOutput& part : sink.parts) EXPECT_EQ(part.lost.size(), 1u);
}

TEST_F(TranslationBatchTest, WhatLoopsAndCannotBeDividedStaysAsItIs) {
  engine_.loops = true;
  Sink sink;
  const auto request = MakeRequest({{"the cat sat on the mat"}}, sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), "the cat sat on the mat");
  EXPECT_THAT(sink.parts.back().lost, ElementsAre("the cat sat on the mat"));
}

TEST_F(TranslationBatchTest, WhatWasSentStaysAndItsLossIsNamed) {
  engine_.longest = 10;
  engine_.forgetful_tokens = 5;
  Sink sink;
  models::TranslateInput input{{kLong}};
  input.partial = true;
  const auto request = MakeRequest(std::move(input), sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), std::string(kLong).substr(0, sink.Text().size()));
  EXPECT_THAT(sink.parts.back().lost, ElementsAre(kLong));
}

TEST_F(TranslationBatchTest, AStreamSendsWhatIsEasilyLostOnceItWasInspected) {
  engine_.longest = 12;
  const std::string text = std::string(kLong) + " and " + kLong;
  Sink whole;
  Sink stream;
  for (Sink* sink : {&whole, &stream}) {
    const auto request = MakeRequest({.texts = {text}, .partial = sink == &stream}, *sink);
    while (!request->outcome()) Step({request.get()});
    for (const models::TranslateOutput& part : sink->parts) EXPECT_TRUE(part.lost.empty());
  }
  EXPECT_EQ(stream.Text(), text);
  EXPECT_EQ(stream.Text(), whole.Text());
}

TEST_F(TranslationBatchTest, ARequestsOwnLengthLimitIsNoLoss) {
  max_target_ = 4;
  Sink sink;
  const auto request = MakeRequest({{kLong}}, sink);
  engine_.longest = 10;
  while (!request->outcome()) Step({request.get()});
  ASSERT_EQ(sink.parts.size(), 1u);
  EXPECT_TRUE(sink.parts[0].lost.empty());
}

TEST_F(TranslationBatchTest, ALongSentenceIsCutAtItsClauses) {
  limits_.max_source_tokens = 16;
  Sink sink;
  const std::string text =
      "the cat sat on the mat and the cat sat on the mat and the cat sat on the mat";
  const auto request = MakeRequest({{text}}, sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), text);
  ASSERT_GE(sink.parts.size(), 2u);
  for (size_t i = 0; i + 1 < sink.parts.size(); ++i)
    EXPECT_TRUE(sink.parts[i].text.ends_with("mat ")) << sink.parts[i].text;
}

TEST_F(TranslationBatchTest, CapitalsThatTheVocabularyLacksAreReadAsSmallLetters) {
  Sink sink;
  const auto request = MakeRequest({{"THE CAT SAT."}}, sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), "THE CAT SAT.");
  EXPECT_EQ(sink.parts[0].source_tokens, 4);
}

TEST_F(TranslationBatchTest, MarkupComesOutAroundWhatIsTranslated) {
  Sink sink;
  models::TranslateInput input{{"<p>the <b>cat</b> sat</p> <p>one\n two</p>"}};
  input.format = models::TextFormat::kHtml;
  input.partial = true;
  const auto request = MakeRequest(std::move(input), sink);
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(sink.Text(), "<p>the <b>cat</b> sat</p> <p>one\n two</p>");
  // A sentence with marks comes as a whole.
  for (const models::TranslateOutput& part : sink.parts) EXPECT_TRUE(part.sentence_finished);
}

TEST_F(TranslationBatchTest, ALongSentenceIsNotCutWithinItsMarks) {
  limits_.max_source_tokens = 8;
  Sink sink;
  std::string text;
  for (int i = 0; i < 40; ++i) text += "the <i>cat {x}</i> sat ";
  models::TranslateInput input{{text}};
  input.format = models::TextFormat::kHtml;
  const auto request = MakeRequest(std::move(input), sink);
  while (!request->outcome()) Step({request.get()});
  const std::string got = sink.Text();
  size_t kept = 0;
  for (size_t at = got.find("{x}"); at != std::string::npos; at = got.find("{x}", at + 1)) ++kept;
  EXPECT_EQ(kept, 40u);
  EXPECT_EQ(std::ranges::count(got, '<'), 80);
}

TEST_F(TranslationBatchTest, ASentenceGoesToAnotherModelWithItsMarksAside) {
  const std::string page = "<p>the <b>cat</b> sat</p> <p>one\n <i>two</i></p>";
  Sink first_sink;
  models::TranslateInput first{.texts = {page}, .format = models::TextFormat::kHtml};
  first.for_pivot = true;
  const auto first_request = MakeRequest(std::move(first), first_sink);
  while (!first_request->outcome()) Step({first_request.get()});
  EXPECT_EQ(first_sink.Text(), page);
  models::TranslateInput second{.texts = {}, .format = models::TextFormat::kHtml};
  for (const models::TranslateOutput& part : first_sink.parts) {
    ASSERT_NE(part.pivot_sentence, nullptr);
    second.texts.emplace_back("<i>is not read</i>");
    second.pivot_sentences.push_back(part.pivot_sentence);
  }
  Sink second_sink;
  const auto second_request = MakeRequest(std::move(second), second_sink);
  while (!second_request->outcome()) Step({second_request.get()});
  EXPECT_EQ(second_sink.Text(), page);
  EXPECT_EQ(second_sink.parts.front().pivot_sentence, nullptr);
}

TEST_F(TranslationBatchTest, APlainSentenceGoesToAnotherModelAsText) {
  Sink sink;
  models::TranslateInput input{{"the cat sat\n\nthe {x} sat"}};
  input.for_pivot = true;
  const auto request = MakeRequest(std::move(input), sink);
  while (!request->outcome()) Step({request.get()});
  ASSERT_EQ(sink.parts.size(), 2u);
  EXPECT_EQ(sink.parts[0].pivot_sentence, nullptr);
  EXPECT_NE(sink.parts[1].pivot_sentence, nullptr);
}

TEST_F(TranslationBatchTest, AFirstSentenceThatIsWantedSoonIsTranslatedAlone) {
  Sink sink;
  std::string page = "<div><p>";
  for (int i = 0; i < 4; ++i) page += std::string(kLong) + ".\n<p>";
  models::TranslateInput input{.texts = {page}, .format = models::TextFormat::kHtml};
  input.first_soon = true;
  const auto request = MakeRequest(std::move(input), sink);
  const auto is_translated = [](const auto& part) { return part.target_tokens > 0; };
  while (std::ranges::none_of(sink.parts, is_translated)) Step({request.get()});
  EXPECT_EQ(std::ranges::max(engine_.calls), 1u);
  engine_.calls.clear();
  while (!request->outcome()) Step({request.get()});
  EXPECT_EQ(engine_.calls.front(), 3u);
  EXPECT_EQ(sink.Text(), page);
}

// Translates the sentences that it knows.
class TableEngine final : public TranslationEngine {
 public:
  TableEngine(const Vocabularies& vocabularies, std::map<std::string, std::string> table)
      : vocabularies_(vocabularies), table_(std::move(table)) {}

  void Advance(std::span<SentenceJob* const> jobs, size_t, absl::FunctionRef<bool(size_t)>,
               runtime::WorkerContext&) const override {
    for (SentenceJob* job : jobs) {
      const std::span<const int32_t> source(job->source);
      const auto found = table_.find(vocabularies_.source->Decode(source.first(source.size() - 1)));
      if (found == table_.end()) {
        ADD_FAILURE() << vocabularies_.source->Decode(source);
      } else {
        job->target = vocabularies_.target->Encode(found->second, 100).tokens;
      }
      job->done = true;
    }
  }

 private:
  const Vocabularies& vocabularies_;
  const std::map<std::string, std::string> table_;
};

// Sentences between a language with spaces and one without. Those in capitals are read in small
// letters, which are all that the vocabulary has; before a small letter none would end.
class UnspacedTranslationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    english_ = Load("tiny.spm", bergamot::kTinyTokens);
    chinese_ = Load("tiny-zh.spm", kChineseTokens);
  }

  std::string ToChinese(const std::string& text,
                        models::TextFormat format = models::TextFormat::kText) {
    return Translate({english_, chinese_}, "en", "zh", {.texts = {text}, .format = format},
                     {{"the cat.", "猫。"}, {"the dog ran!", "狗去了！"}});
  }
  std::string ToEnglish(const std::string& text,
                        models::TextFormat format = models::TextFormat::kText) {
    return Translate({chinese_, english_}, "zh", "en", {.texts = {text}, .format = format},
                     {{"猫。", "the cat."}, {"狗去了！", "the dog ran!"}});
  }

 private:
  static constexpr int64_t kChineseTokens = 81;

  static std::shared_ptr<const Vocabulary> Load(const std::string& name, int64_t tokens) {
    auto loaded = Vocabulary::Load(bergamot::TestDataFolder() / name, tokens);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded.ok() ? *std::move(loaded) : nullptr;
  }

  static std::string Translate(const Vocabularies& vocabularies, const std::string& source,
                               const std::string& target, models::TranslateInput input,
                               std::map<std::string, std::string> table) {
    const TableEngine engine(vocabularies, std::move(table));
    millrace::testing::FakeClock clock;
    models::FakeWorkerContext context;
    Sink sink;
    models::Request request(std::move(input), TimePoint::max(), sink, clock);
    models::Request* requests[] = {&request};
    const auto settings_of = [&](const models::TranslateInput&) {
      return TranslationSettings{
          .frame = {.after = {0}}, .source_language = source, .target_language = target};
    };
    while (!request.outcome()) {
      TranslationBatch batch(requests, {}, settings_of, vocabularies, engine);
      batch.Forward(context);
      batch.Complete();
    }
    EXPECT_TRUE(request.outcome()->ok()) << *request.outcome();
    return sink.Text();
  }

  std::shared_ptr<const Vocabulary> english_;
  std::shared_ptr<const Vocabulary> chinese_;
};

TEST_F(UnspacedTranslationTest, ChineseHasNoSpaceBetweenSentences) {
  EXPECT_EQ(ToChinese("THE CAT. THE DOG RAN!"), "猫。狗去了！");
  EXPECT_EQ(ToChinese("the cat.\nthe dog ran!\n\n  the cat. "), "猫。\n狗去了！\n\n  猫。");
  EXPECT_EQ(ToChinese("the cat."), "猫。");
}

TEST_F(UnspacedTranslationTest, EnglishHasASpaceBetweenSentencesOfChinese) {
  EXPECT_EQ(ToEnglish("猫。狗去了！猫。"), "the cat. the dog ran! the cat.");
  EXPECT_EQ(ToEnglish("猫。\n狗去了！"), "the cat.\nthe dog ran!");
  EXPECT_EQ(ToEnglish("猫。 狗去了！"), "the cat. the dog ran!");
  EXPECT_EQ(ToEnglish("猫。"), "the cat.");
}

TEST_F(UnspacedTranslationTest, SentencesOfMarkupAreJoinedAlike) {
  constexpr auto kHtml = models::TextFormat::kHtml;
  EXPECT_EQ(ToChinese("<p>THE CAT. <b>THE DOG RAN!</b></p> <p>the cat.</p>", kHtml),
            "<p>猫。<b>狗去了！</b></p> <p>猫。</p>");
  EXPECT_EQ(ToEnglish("<p>猫。<b>狗去了！</b></p><p>猫。</p>", kHtml),
            "<p>the cat. <b>the dog ran!</b></p><p>the cat.</p>");
}

TEST_F(UnspacedTranslationTest, WhatIsCopiedStaysAsItIsWritten) {
  EXPECT_EQ(ToChinese("THE CAT. 2021. THE DOG RAN!"), "猫。2021. 狗去了！");
}

}  // namespace
}  // namespace millrace::translation
