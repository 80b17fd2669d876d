#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/executors/convicted_requests.h"
#include "server/executors/delivered_outputs.h"
#include "server/executors/executor_process.h"
#include "server/executors/replay_policy.h"
#include "server/executors/step_gate.h"

namespace millrace::server {
namespace {

using std::chrono::seconds;
using Verdict = DeliveredOutputs::Verdict;

constexpr TimePoint kStart = TimePoint(std::chrono::hours(1));

models::Output Sentence(size_t text_index, std::string text) {
  models::TranslateOutput output;
  output.text_index = text_index;
  output.text = std::move(text);
  return output;
}

// Takes pieces of a translation's text; returns what is delivered of each, or "-" if it is dropped.
std::vector<std::string> TakeAll(DeliveredOutputs& outputs, const std::vector<std::string>& texts) {
  std::vector<std::string> delivered;
  for (const std::string& text : texts) {
    models::Output output = Sentence(0, text);
    auto& translation = std::get<models::TranslateOutput>(output);
    translation.sentence_finished = text.ends_with('.');
    const Verdict verdict = outputs.Take(output);
    delivered.push_back(verdict == Verdict::kDeliver ? translation.text
                        : verdict == Verdict::kDrop  ? "-"
                                                     : "differs");
  }
  return delivered;
}

models::Output Audio(std::vector<float> samples) {
  models::SynthesizeOutput output;
  output.samples = std::move(samples);
  return output;
}

DeliveredOutputs::Verdict Take(DeliveredOutputs& outputs, models::Output output) {
  return outputs.Take(output);
}

TEST(DeliveredOutputsTest, DropsWhatWasDeliveredAndDeliversTheRest) {
  DeliveredOutputs outputs;
  EXPECT_EQ(Take(outputs, Audio({1})), Verdict::kDeliver);
  EXPECT_EQ(Take(outputs, Audio({2, 3})), Verdict::kDeliver);
  outputs.BeginReplay();
  EXPECT_FALSE(outputs.caught_up());
  EXPECT_EQ(Take(outputs, Audio({1})), Verdict::kDrop);
  // It is replayed again before it has caught up.
  outputs.BeginReplay();
  EXPECT_EQ(Take(outputs, Audio({1})), Verdict::kDrop);
  EXPECT_EQ(Take(outputs, Audio({2, 3})), Verdict::kDrop);
  EXPECT_TRUE(outputs.caught_up());
  EXPECT_EQ(Take(outputs, Audio({4})), Verdict::kDeliver);
}

TEST(DeliveredOutputsTest, TextsOfATranslationTakeTurnsOtherwiseInAReplay) {
  DeliveredOutputs outputs;
  EXPECT_EQ(Take(outputs, Sentence(0, "a")), Verdict::kDeliver);
  EXPECT_EQ(Take(outputs, Sentence(1, "x")), Verdict::kDeliver);
  EXPECT_EQ(Take(outputs, Sentence(0, "b")), Verdict::kDeliver);
  outputs.BeginReplay();
  EXPECT_EQ(Take(outputs, Sentence(1, "x")), Verdict::kDrop);
  EXPECT_EQ(Take(outputs, Sentence(1, "y")), Verdict::kDeliver);
  EXPECT_EQ(Take(outputs, Sentence(0, "a")), Verdict::kDrop);
  EXPECT_EQ(Take(outputs, Sentence(0, "b")), Verdict::kDrop);
  EXPECT_EQ(Take(outputs, Sentence(0, "c")), Verdict::kDeliver);
}

TEST(DeliveredOutputsTest, PiecesOfASentenceAreCutOtherwiseInAReplay) {
  using ::testing::ElementsAre;
  DeliveredOutputs outputs;
  EXPECT_THAT(TakeAll(outputs, {"O g", "ato.", "Do", "is"}),
              ElementsAre("O g", "ato.", "Do", "is"));
  outputs.BeginReplay();
  EXPECT_THAT(TakeAll(outputs, {"O"}), ElementsAre("-"));
  EXPECT_FALSE(outputs.caught_up());
  outputs.BeginReplay();
  EXPECT_THAT(TakeAll(outputs, {"O gato.", "D", "ois c", "aes."}),
              ElementsAre("-", "-", " c", "aes."));
  EXPECT_TRUE(outputs.caught_up());
  // The end of a sentence is delivered although its text was before.
  DeliveredOutputs ends;
  EXPECT_THAT(TakeAll(ends, {"Oi"}), ElementsAre("Oi"));
  ends.BeginReplay();
  models::Output end = Sentence(0, "Oi");
  EXPECT_EQ(ends.Take(end), Verdict::kDeliver);
  EXPECT_EQ(std::get<models::TranslateOutput>(end).text, "");
  ends.BeginReplay();
  end = Sentence(0, "Oi");
  EXPECT_EQ(ends.Take(end), Verdict::kDrop);
  ends.BeginReplay();
  EXPECT_THAT(TakeAll(ends, {"Oh"}), ElementsAre("differs"));
}

// Takes pieces of one sentence, the last of which ends it.
std::vector<std::vector<float>> TakeSentence(DeliveredOutputs& outputs,
                                             const std::vector<std::vector<float>>& pieces,
                                             std::vector<std::string>& texts) {
  std::vector<std::vector<float>> heard;
  for (size_t i = 0; i < pieces.size(); ++i) {
    models::Output output = Audio(pieces[i]);
    auto& speech = std::get<models::SynthesizeOutput>(output);
    if (i == 0) speech.text = "Hi.";
    speech.sentence_finished = i + 1 == pieces.size();
    if (outputs.Take(output) != Verdict::kDeliver) continue;
    heard.push_back(speech.samples);
    if (!speech.text.empty()) texts.push_back(speech.text);
  }
  return heard;
}

TEST(DeliveredOutputsTest, PiecesOfSpeechAreCutOtherwiseInAReplay) {
  using ::testing::ElementsAre;
  using Piece = std::vector<float>;
  std::vector<std::string> texts;
  DeliveredOutputs outputs;
  // It dies within the second of three pieces, and the next executor has the sentence in a cache.
  models::Output first = Audio({1, 2});
  std::get<models::SynthesizeOutput>(first).sentence_finished = false;
  EXPECT_EQ(outputs.Take(first), Verdict::kDeliver);
  outputs.BeginReplay();
  EXPECT_THAT(TakeSentence(outputs, {{1, 2, 3, 4}}, texts), ElementsAre(Piece{3, 4}));
  EXPECT_TRUE(texts.empty());  // the first piece had it
  EXPECT_THAT(TakeSentence(outputs, {{5}, {6, 7}}, texts), ElementsAre(Piece{5}, Piece{6, 7}));
  EXPECT_THAT(texts, ElementsAre("Hi."));
  // The other way round.
  outputs.BeginReplay();
  EXPECT_THAT(TakeSentence(outputs, {{1}, {2, 3}, {4}}, texts), ElementsAre());
  EXPECT_THAT(TakeSentence(outputs, {{5, 6, 7}}, texts), ElementsAre());
  EXPECT_TRUE(outputs.caught_up());
  EXPECT_THAT(TakeSentence(outputs, {{8}}, texts), ElementsAre(Piece{8}));
  EXPECT_THAT(texts, ElementsAre("Hi.", "Hi."));
}

TEST(DeliveredOutputsTest, SpeechGoesOnBehindTheLastSentenceThatWasDelivered) {
  const auto piece = [](std::vector<float> samples, size_t finished_sentences) {
    models::SynthesizeOutput output;
    output.samples = std::move(samples);
    output.sentence_finished = finished_sentences > 0;
    output.spoken = {.bytes = 10 * finished_sentences, .sentences = finished_sentences};
    return models::Output(output);
  };
  DeliveredOutputs outputs;
  EXPECT_EQ(outputs.spoken(), models::SpokenSoFar());
  EXPECT_EQ(Take(outputs, piece({1, 2}, 0)), Verdict::kDeliver);
  outputs.BeginReplay();
  EXPECT_EQ(outputs.spoken(), models::SpokenSoFar()) << "half a sentence is spoken again";
  EXPECT_EQ(Take(outputs, piece({1, 2}, 0)), Verdict::kDrop);
  EXPECT_EQ(Take(outputs, piece({3}, 1)), Verdict::kDeliver);
  EXPECT_EQ(Take(outputs, piece({4}, 2)), Verdict::kDeliver);
  EXPECT_EQ(Take(outputs, piece({5}, 0)), Verdict::kDeliver);
  for (int replay = 0; replay < 2; ++replay) {
    outputs.BeginReplay();
    EXPECT_EQ(outputs.spoken(), (models::SpokenSoFar{.bytes = 20, .sentences = 2}));
    EXPECT_FALSE(outputs.caught_up());
    EXPECT_EQ(Take(outputs, piece({5}, 0)), Verdict::kDrop);
    EXPECT_TRUE(outputs.caught_up());
  }
  EXPECT_EQ(Take(outputs, piece({6}, 3)), Verdict::kDeliver);
  outputs.BeginReplay();
  EXPECT_EQ(outputs.spoken().sentences, 3u);
  EXPECT_EQ(Take(outputs, piece({7}, 4)), Verdict::kDeliver);

  outputs.BeginReplay();
  EXPECT_EQ(Take(outputs, piece({8}, 0)), Verdict::kDeliver);
  outputs.BeginReplay();
  EXPECT_EQ(Take(outputs, piece({9}, 0)), Verdict::kDiffers);
}

TEST(DeliveredOutputsTest, NoticesOtherOutputsInPlaceOfThoseThatWereDelivered) {
  for (const auto& other : {std::vector<float>{2, 1}, {3, 2}, {2, 4, 3}}) {
    DeliveredOutputs outputs;
    EXPECT_EQ(Take(outputs, Audio({1})), Verdict::kDeliver);
    EXPECT_EQ(Take(outputs, Audio({2, 3})), Verdict::kDeliver);
    outputs.BeginReplay();
    EXPECT_EQ(Take(outputs, Audio({1})), Verdict::kDrop);
    EXPECT_EQ(Take(outputs, Audio(other)), Verdict::kDiffers);
  }
}

TEST(ReplayBudgetTest, ComesBackWithTimeAndSuccess) {
  ReplayBudget budget(kStart);
  int taken = 0;
  while (budget.Take(kStart)) ++taken;
  EXPECT_EQ(taken, ReplayBudget::kMost);
  EXPECT_FALSE(budget.Take(kStart));
  EXPECT_TRUE(budget.Take(kStart + seconds(1)));
  EXPECT_TRUE(budget.Take(kStart + seconds(1)));
  EXPECT_FALSE(budget.Take(kStart + seconds(1)));
  for (int i = 0; i < 10; ++i) budget.OnSuccess();
  EXPECT_TRUE(budget.Take(kStart + seconds(1)));
  // It does not grow beyond its size.
  const TimePoint later = kStart + std::chrono::hours(10);
  taken = 0;
  while (budget.Take(later)) ++taken;
  EXPECT_EQ(taken, ReplayBudget::kMost);
}

TEST(ConvictedRequestsTest, ListsWhatIsRefusedAndHowOften) {
  ConvictedRequests convicted;
  convicted.Convict(1, "first", "executor-1", kStart);
  convicted.Convict(2, "second", "executor-2", kStart + seconds(10));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(convicted.Refuse(2, kStart + seconds(20)), "executor-2");
  const auto all = convicted.List(kStart + seconds(30));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].crash, "executor-1");
  EXPECT_EQ(all[0].model, "first");
  EXPECT_EQ(all[0].left, ConvictedRequests::kTime - seconds(30));
  EXPECT_EQ(all[0].refused, 0U);
  EXPECT_EQ(all[1].crash, "executor-2");
  EXPECT_EQ(all[1].refused, 3U);
  EXPECT_EQ(convicted.List(kStart + ConvictedRequests::kTime).size(), 1U);
}

TEST(ConvictedRequestsTest, LetsThoseThatAreClearedInAgain) {
  ConvictedRequests convicted;
  for (size_t i = 0; i < 3; ++i) convicted.Convict(i, "m", std::to_string(i), kStart);
  EXPECT_EQ(convicted.Clear("9", kStart), 0U);
  EXPECT_EQ(convicted.Clear("1", kStart), 1U);
  EXPECT_EQ(convicted.Refuse(1, kStart), std::nullopt);
  EXPECT_EQ(convicted.Refuse(2, kStart), "2");
  EXPECT_EQ(convicted.Clear("", kStart), 2U);
  EXPECT_FALSE(convicted.any());
  EXPECT_EQ(convicted.Refuse(2, kStart), std::nullopt);
  convicted.Convict(2, "m", "again", kStart);
  EXPECT_EQ(convicted.Refuse(2, kStart), "again");
}

TEST(ConvictedRequestsTest, ForgetsTheOldestAndThoseWhoseTimeIsOver) {
  ConvictedRequests convicted;
  EXPECT_FALSE(convicted.any());
  for (size_t i = 0; i <= ConvictedRequests::kMost; ++i)
    convicted.Convict(i, "m", std::to_string(i), kStart + seconds(i));
  EXPECT_TRUE(convicted.any());
  const TimePoint last = kStart + seconds(ConvictedRequests::kMost);
  EXPECT_EQ(convicted.Refuse(0, last), std::nullopt);
  EXPECT_EQ(convicted.Refuse(1, last), "1");
  // A second conviction begins its hour again.
  convicted.Convict(1, "m", "again", last);
  EXPECT_EQ(convicted.Refuse(2, kStart + ConvictedRequests::kTime + seconds(2)), std::nullopt);
  EXPECT_EQ(convicted.Refuse(1, kStart + ConvictedRequests::kTime + seconds(2)), "again");
  EXPECT_EQ(convicted.Refuse(1, last + ConvictedRequests::kTime), std::nullopt);
  EXPECT_FALSE(convicted.any());
}

TEST(StepGateTest, AStepThatMustBeAloneWaitsForOthersAndKeepsThemOut) {
  StepGate gate;
  int inside = 0;  // written only where nothing else may be inside
  std::vector<std::thread> threads;
  std::atomic<int> shared{0};
  std::atomic<bool> wrong{false};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, alone = i % 2 == 0] {
      for (int n = 0; n < 500; ++n) {
        const StepGate::Place place(gate, alone);
        if (alone) {
          if (shared != 0) wrong = true;
          ++inside;
        } else {
          ++shared;
          std::this_thread::yield();
          --shared;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(inside, 1000);
  EXPECT_FALSE(wrong);
}

TEST(StepGateTest, AllStepsAreAloneWhileOneRunsAtATime) {
  StepGate gate;
  gate.SetOneAtATime(true);
  int inside = 0;  // written by one thread at a time
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 500; ++n) {
        const StepGate::Place place(gate, /*alone=*/false);
        ++inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(inside, 2000);
}

TEST(ClassifyTest, TellsTheCausesOfDeathApart) {
  EXPECT_EQ(Classify({.signal = 11}).cause, DeathCause::kCrash);
  EXPECT_EQ(Classify({.signal = 11}).how, "signal SIGSEGV");
  EXPECT_EQ(Classify({.signal = 9}).cause, DeathCause::kKilled);
  EXPECT_EQ(Classify({.signal = 9, .out_of_memory = true}).cause, DeathCause::kOutOfMemory);
  EXPECT_EQ(Classify({.exit_status = 3}).how, "exit status 3");
  EXPECT_TRUE(Classify({.signal = 6}).Blames());
  EXPECT_FALSE(Classify({.signal = 9}).Blames());
}

}  // namespace
}  // namespace millrace::server
