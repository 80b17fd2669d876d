// Translations by way of English: two models process one request at the same time. There is no gRPC
// in this process, so that ThreadSanitizer sees every access.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <optional>
#include <string>
#include <utility>

#include "mps_runtime/base/joining_thread.h"
#include "tests/unit/server/requests/pivot_fixture.h"

namespace millrace::server {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using testing::FakeCall;
using ::testing::SizeIs;

constexpr int kPivotRounds = 20;

TEST_F(PivotTest, ASentenceIsSentWhileTheNextIsInTheFirstModel) {
  Start();
  at_second_.LetAll();
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  std::string text;
  for (int sentence = 1; sentence <= 3; ++sentence) {
    at_first_.Let(sentence);
    const std::optional<std::string> message = call.ReadOne();
    ASSERT_TRUE(message);
    text += TextOf({*message});
    if (sentence < 3) at_first_.AwaitArrived(sentence + 1);
  }
  EXPECT_EQ(text, "<a><b><c>|");
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  ExpectOne(StatusCode::kOk);
}

TEST_F(PivotTest, WhatWaitsGoesToTheSecondModelTogether) {
  Start();
  at_first_.LetAll();
  FakeCall call(Bytes({"abcd", "e"}));
  Begin(call);
  at_second_.AwaitArrived(1);
  Await([this] { return first_->metrics().source_tokens.Value() == 10; });
  at_second_.LetAll();
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(TextOf(call.written()), "<a><b><c><d>|<e>|");
  EXPECT_THAT(seen_texts(), ElementsAre(ElementsAre("a"), ElementsAre("b", "c", "d", "e")));
  EXPECT_EQ(second_->metrics().source_tokens.Value(), 10);
  EXPECT_EQ(second_->metrics().target_tokens.Value(), 15);
}

TEST_F(PivotTest, ASecondModelThatIsIdleIsWantedBeforeTheFirstHasWorked) {
  Start();
  std::atomic<int> wanted{0};
  const auto idle = ServedModel::MakeIdle(*second_, [&](const auto&, Hold::Job) { ++wanted; });
  backend_->directory.Put(idle);
  FakeCall call(Bytes({"ab"}));
  Begin(call);
  at_first_.AwaitArrived(1);
  EXPECT_EQ(wanted, 1);
  at_first_.LetAll();
  Await([&] { return backend_->scheduler.depth(idle->queue()) == 1; });
  idle->Load(
      std::make_unique<testing::FakeModel>(
          idle->info(),
          testing::ModelHooks{.complete = [this](models::Request& request) { Wrap(request); }}),
      {});
  idle->Release();
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(TextOf(call.written()), "<a><b>|");
  ExpectOne(StatusCode::kOk);
}

TEST_F(PivotTest, AUnaryCallFillsTheSecondModelsBatches) {
  Start();
  LetAll();
  FakeCall call(Bytes({std::string(40, 'a')}));
  call.Begin(*service_, "Translate");
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  v1::TranslateResponse response;
  ASSERT_TRUE(response.ParseFromString(call.reply()));
  std::string all;
  for (int i = 0; i < 40; ++i) all += "<a>";
  EXPECT_EQ(response.translations(0).text(), all);
  EXPECT_EQ(response.translations(0).source_tokens(), 80);
  EXPECT_EQ(response.translations(0).target_tokens(), 120);
  ASSERT_THAT(seen(), SizeIs(2));
  EXPECT_GE(seen()[0].texts.size(), 32U);
}

TEST_F(PivotTest, ManySentencesStayInOrder) {
  Start();
  LetAll();
  const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  std::string expected;
  for (int text = 0; text < 3; ++text) {
    for (const char letter : letters) expected += std::string("<") + letter + ">";
    expected += '|';
  }
  FakeCall call(Bytes({letters, letters, letters}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(TextOf(call.written()), expected);
}

TEST_F(PivotTest, TwoAtOnceKeepApart) {
  Start();
  LetAll();
  std::barrier start(2);
  const auto client = [&](const std::string& text, const std::string& expected) {
    for (int i = 0; i < kPivotRounds; ++i) {
      FakeCall call(Bytes({text}));
      start.arrive_and_wait();
      Begin(call);
      EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
      EXPECT_EQ(TextOf(call.written()), expected);
    }
  };
  {
    JoiningThread one([&] { client("abc", "<a><b><c>|"); });
    JoiningThread other([&] { client("xyz", "<x><y><z>|"); });
  }
  Await([this] { return backend_->admission.in_flight() == 0; });
  EXPECT_EQ(backend_->Count("pt-en", Method::kStreamTranslate, StatusCode::kOk), 2 * kPivotRounds);
}

TEST_F(PivotTest, ATextOfWhichTheFirstModelMakesNothingKeepsItsPlace) {
  Start(TwoWorkers(), [](models::Request& request) {
    request.Emit(Sentence(0, "a", true));
    request.Emit(Sentence(1, "", false));
    request.Emit(Sentence(1, "", true));
    request.Emit(Sentence(2, "c", true));
    request.Finish(absl::OkStatus());
  });
  LetAll();
  FakeCall call(Bytes({"1", "2", "3"}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(TextOf(call.written()), "<a>||<c>|");
  v1::StreamTranslateResponse nothing;
  ASSERT_TRUE(nothing.ParseFromString(call.written()[1]));
  EXPECT_EQ(nothing.text_index(), 1U);
  EXPECT_EQ(nothing.source_tokens(), 4);
}

TEST_F(PivotTest, ATranslationBeginsWithItsPrefixBehindWhatIsCopied) {
  Start(TwoWorkers(), [](models::Request& request) {
    models::TranslateOutput copied = Sentence(0, "* ", false);
    copied.source_tokens = 0;
    request.Emit(std::move(copied));
    request.Emit(Sentence(0, "a", false));
    request.Emit(Sentence(0, "b", true));
    request.Emit(Sentence(1, "c", true));
    request.Finish(absl::OkStatus());
  });
  LetAll();
  v1::TranslateRequest request = Request({"1", "2"});
  request.add_target_prefixes("Ja");
  request.add_target_prefixes("Nein");
  FakeCall call(request.SerializeAsString());
  Begin(call);
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(TextOf(call.written()), "<* >Ja<a><b>|Nein<c>|");
}

TEST_F(PivotTest, WhatTheFirstModelLostIsToldWithItsSentence) {
  Start(TwoWorkers(), [](models::Request& request) {
    request.Emit(Sentence(0, "a", false));
    models::TranslateOutput other = Sentence(0, "b", true);
    other.lost = {"x"};
    request.Emit(std::move(other));
    request.Finish(absl::OkStatus());
  });
  LetAll();
  FakeCall call(Bytes({"1"}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  v1::StreamTranslateResponse part;
  ASSERT_THAT(call.written(), SizeIs(2));
  ASSERT_TRUE(part.ParseFromString(call.written()[1]));
  EXPECT_THAT(part.lost(), ElementsAre("x"));
}

TEST_F(PivotTest, SentencesKeepTheirMarksAsideFromOneModelToTheNext) {
  struct Marks final : models::PivotSentence {};
  const auto marks = std::make_shared<const Marks>();
  Start(TwoWorkers(), [&marks](models::Request& request) {
    EXPECT_TRUE(InputOf(request).for_pivot);
    request.Emit(Sentence(0, "a", false));
    models::TranslateOutput marked = Sentence(0, "b", true);
    marked.pivot_sentence = marks;
    request.Emit(std::move(marked));
    request.Finish(absl::OkStatus());
  });
  at_first_.LetAll();
  FakeCall call(Bytes({"1"}));
  call.Begin(*service_, "Translate");
  at_second_.LetAll();
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  ASSERT_THAT(seen(), SizeIs(1));
  EXPECT_FALSE(seen()[0].for_pivot);
  EXPECT_THAT(seen()[0].pivot_sentences, ElementsAre(nullptr, marks));
}

TEST_F(PivotTest, OnlyAStreamWantsItsFirstSentenceSoon) {
  std::atomic<int> soon{0};
  Start(TwoWorkers(), [&soon](models::Request& request) {
    if (InputOf(request).first_soon) ++soon;
    TranslateLetter(request);
  });
  LetAll();
  FakeCall unary(Bytes({"a"}));
  unary.Begin(*service_, "Translate");
  EXPECT_EQ(unary.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(soon, 0);
  FakeCall stream(Bytes({"a"}));
  Begin(stream);
  EXPECT_EQ(stream.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(soon, 1);
}

}  // namespace
}  // namespace millrace::server
