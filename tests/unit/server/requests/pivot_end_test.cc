// The ends of translations by way of English: failures, deadlines, clients that leave or read
// slowly, and a server that stops. There is no gRPC in this process, so that ThreadSanitizer sees
// every access.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "server/frontends/http/translate_reply.h"
#include "tests/unit/server/requests/infer_request.h"
#include "tests/unit/server/requests/pivot_fixture.h"

namespace millrace::server {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using testing::FakeCall;
using ::testing::SizeIs;

constexpr int kEndRounds = 20;

TEST_F(PivotTest, AFailureOfTheSecondModelStopsTheFirst) {
  const auto stops_behind_b = [this](models::Request& request) {
    if (at_first_.arrived() == 3) Await([&] { return request.ShouldStop(); });
    TranslateLetter(request);
  };
  Start(TwoWorkers(), stops_behind_b, [this](models::Request& request) {
    if (InputOf(request).texts.back() == "b") throw std::runtime_error("device lost");
    Wrap(request);
  });
  LetAll();
  FakeCall call(Bytes({"abcdef"}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd().code(), StatusCode::kInternal);
  EXPECT_LE(at_first_.arrived(), 3);
  ExpectOne(StatusCode::kInternal);
}

TEST_F(PivotTest, AFailureOfTheFirstModelEndsTheRequestOnceTheSecondHasStopped) {
  const auto fails = [this](models::Request& request) {
    TranslateLetter(request);
    at_second_.AwaitArrived(1);
    throw std::runtime_error("device lost");
  };
  Start(TwoWorkers(), fails,
        [](models::Request& request) { Await([&] { return request.ShouldStop(); }); });
  LetAll();
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd().code(), StatusCode::kInternal);
  ExpectOne(StatusCode::kInternal);
}

TEST_F(PivotTest, WhatTheSecondModelRefusesEndsTheRequest) {
  Start();
  backend_->Add(TranslatorInfo("en-de", "en", "de"), {.validate = [](const models::Input& input) {
                  return std::get<models::TranslateInput>(input).texts.front() == "b"
                             ? absl::OutOfRangeError("too much")
                             : absl::OkStatus();
                }});
  at_first_.LetAll();
  FakeCall call(Bytes({"b"}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd(), absl::OutOfRangeError("too much"));
  ExpectOne(StatusCode::kOutOfRange);
}

TEST_F(PivotTest, AClientThatLeavesStopsBothModels) {
  Start();
  at_first_.Let(1);
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_first_.AwaitArrived(2);
  at_second_.AwaitArrived(1);
  JoiningThread runs([&] { EXPECT_EQ(call.RunToEnd().code(), StatusCode::kCancelled); });
  call.Leave();
  Await([&] { return call.told_of_cancel(); });
  LetAll();
  runs.join();
  EXPECT_TRUE(seen().empty());
  ExpectOne(StatusCode::kCancelled);
}

TEST_F(PivotTest, AClientThatLeavesInTheFirstModelNeverReachesTheSecond) {
  Start();
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_first_.AwaitArrived(1);
  JoiningThread runs([&] { EXPECT_EQ(call.RunToEnd().code(), StatusCode::kCancelled); });
  call.Leave();
  Await([&] { return call.told_of_cancel(); });
  LetAll();
  runs.join();
  EXPECT_EQ(at_second_.arrived(), 0);
  ExpectOne(StatusCode::kCancelled);
}

TEST_F(PivotTest, AClientThatLeavesOnceTheFirstModelHasEndedStopsTheSecond) {
  Start();
  at_first_.LetAll();
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_second_.AwaitArrived(1);
  Await([this] { return first_->metrics().source_tokens.Value() == 6; });
  JoiningThread runs([&] { EXPECT_EQ(call.RunToEnd().code(), StatusCode::kCancelled); });
  call.Leave();
  Await([&] { return call.told_of_cancel(); });
  at_second_.LetAll();
  runs.join();
  ExpectOne(StatusCode::kCancelled);
}

TEST_F(PivotTest, AClientThatLeavesTakesBothWaitingJobsWithIt) {
  Start({.workers = 1});
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_first_.AwaitArrived(1);
  Gate gate;
  AddOther(gate);
  FakeCall holds(InferRequest("other").SerializeAsString());
  holds.Begin(*other_, "ModelInfer");
  at_first_.Let(1);
  gate.AwaitInside();  // the only worker
  ASSERT_EQ(backend_->scheduler.depth(first_->queue()), 1U);
  ASSERT_EQ(backend_->scheduler.depth(second_->queue()), 1U);
  call.Leave();
  EXPECT_EQ(call.RunToEnd().code(), StatusCode::kCancelled);
  EXPECT_EQ(backend_->scheduler.depth(first_->queue()), 0U);
  EXPECT_EQ(backend_->scheduler.depth(second_->queue()), 0U);
  gate.Open();
  EXPECT_EQ(holds.RunToEnd(), absl::OkStatus());
  ExpectOne(StatusCode::kCancelled);
}

TEST_F(PivotTest, AClientLeavesAtAnyMoment) {
  Start();
  LetAll();
  for (int i = 0; i < 5 * kEndRounds; ++i) {
    FakeCall call(Bytes({"abcdefgh"}));
    std::barrier start(2);
    JoiningThread leaves([&] {
      start.arrive_and_wait();
      for (int spin = 0; spin < 20 * (i % kEndRounds); ++spin) std::this_thread::yield();
      call.Leave();
    });
    start.arrive_and_wait();
    Begin(call);
    const StatusCode code = call.RunToEnd().code();
    EXPECT_TRUE(code == StatusCode::kOk || code == StatusCode::kCancelled) << code;
  }
  Await([this] { return backend_->admission.in_flight() == 0; });
}

TEST_F(PivotTest, TheDeadlinePassesBetweenTheModels) {
  Start({.workers = 1, .clock = clock_}, [this](models::Request& request) {
    TranslateLetter(request);
    clock_.Advance(std::chrono::hours(2));
  });
  LetAll();
  FakeCall call(Bytes({"a"}));
  Begin(call);
  EXPECT_EQ(call.RunToEnd().code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(at_second_.arrived(), 0);
  ExpectOne(StatusCode::kDeadlineExceeded);
}

TEST_F(PivotTest, TheDeadlinePassesInBothModels) {
  Start({.workers = 2, .clock = clock_});
  at_first_.Let(1);
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_first_.AwaitArrived(2);
  at_second_.AwaitArrived(1);
  clock_.Advance(std::chrono::hours(2));
  LetAll();
  EXPECT_EQ(call.RunToEnd().code(), StatusCode::kDeadlineExceeded);
  ExpectOne(StatusCode::kDeadlineExceeded);
}

TEST_F(PivotTest, AServerThatStopsEndsWhatWaits) {
  Start();
  at_first_.Let(1);
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_first_.AwaitArrived(2);
  at_second_.AwaitArrived(1);
  backend_->CloseScheduler();
  LetAll();
  EXPECT_EQ(call.RunToEnd().code(), StatusCode::kUnavailable);
  ExpectOne(StatusCode::kUnavailable);
}

TEST_F(PivotTest, ADrainWaitsForBothModels) {
  Start();
  at_first_.Let(1);
  FakeCall call(Bytes({"abc"}));
  Begin(call);
  at_first_.AwaitArrived(2);
  backend_->admission.Close();
  LetAll();
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(TextOf(call.written()), "<a><b><c>|");
  ExpectOne(StatusCode::kOk);
}

// Each job of the second model is one step.
TEST_F(PivotTest, TheSecondModelWaitsForASlowReader) {
  padding_.assign(4 << 10, ' ');
  Start({.workers = 1, .max_buffered_bytes = 1 << 10});
  LetAll();
  FakeCall call(Bytes({"abcdef"}));
  call.StopReading();
  Begin(call);
  call.AwaitWrite();
  Await([this] { return first_->metrics().source_tokens.Value() == 12; });
  // The only worker serves another request behind all that there is to do.
  Gate open;
  open.Open();
  AddOther(open);
  FakeCall other(InferRequest("other").SerializeAsString());
  other.Begin(*other_, "ModelInfer");
  EXPECT_EQ(other.RunToEnd(), absl::OkStatus());
  EXPECT_THAT(seen_texts(), ElementsAre(ElementsAre("a")));
  call.ReadOn();
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_THAT(call.written(), SizeIs(6));
  ExpectOne(StatusCode::kOk);
}

TEST_F(PivotTest, ASlowReaderThatLeavesEndsBothModels) {
  padding_.assign(4 << 10, ' ');
  Start({.workers = 2, .max_buffered_bytes = 1 << 10});
  at_first_.Let(2);
  at_second_.LetAll();
  FakeCall call(Bytes({"abcdef"}));
  call.StopReading();
  Begin(call);
  call.AwaitWrite();
  at_first_.AwaitArrived(3);
  JoiningThread runs([&] { EXPECT_EQ(call.RunToEnd().code(), StatusCode::kCancelled); });
  call.Leave();
  Await([&] { return call.told_of_cancel(); });
  at_first_.LetAll();
  runs.join();
  ExpectOne(StatusCode::kCancelled);
}

TEST_F(PivotTest, OverHttpGroupsOfTextsFollowOneAnother) {
  Start();
  LetAll();
  for (int i = 0; i < kEndRounds; ++i) {
    TranslationRequest request;
    request.input.texts = {"ab", "c"};
    request.input.source_language = "pt";
    request.input.target_language = "de";
    auto reply = std::make_shared<TranslateReply>(backend_->services(), "request-id");
    std::vector<TranslationWork> works;
    for (int work = 0; work < 2; ++work)
      works.push_back(*MakeTranslationWork(request, backend_->services()));
    reply->Start(std::move(works));
    std::optional<absl::Status> end;
    while (!end) end = reply->Wait(std::chrono::milliseconds(1));
    EXPECT_EQ(*end, absl::OkStatus());
    const std::vector<TranslationResults::Text> results = reply->TakeResults();
    EXPECT_EQ(results[0].text, "<a><b><a><b>");
    EXPECT_EQ(results[1].text, "<c><c>");
  }
}

}  // namespace
}  // namespace millrace::server
