#include "server/frontends/http/translate_reply.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "tests/unit/server/frontends/test_server.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;

// Nothing that is waited for takes as long, unless the test fails.
constexpr milliseconds kPatience = std::chrono::seconds(30);

void Wrap(models::Request& request) {
  const auto& input = std::get<models::TranslateInput>(request.input());
  models::TranslateOutput part;
  part.text = input.source_language + input.target_language + "(" + input.texts.front() + ")";
  part.text_finished = true;
  request.Emit(std::move(part));
  request.Finish(absl::OkStatus());
}

class TranslateReplyTest : public ::testing::Test {
 protected:
  std::shared_ptr<TranslateReply> Start(const std::string& source, const std::string& target) {
    return Start(server_, source, target);
  }
  static std::shared_ptr<TranslateReply> Start(TestServer& server, const std::string& source,
                                               const std::string& target) {
    TranslationRequest request;
    request.input.texts = {"x"};
    request.input.source_language = source;
    request.input.target_language = target;
    auto reply = std::make_shared<TranslateReply>(server.services(), "id");
    reply->Start(MakeTranslationWorks(std::move(request), server.services()));
    return reply;
  }
  double Ended(const std::string& model, absl::StatusCode code) {
    return server_.Count(model, Method::kHttpTranslate, code);
  }

  TestServer server_;
};

TEST_F(TranslateReplyTest, TheTranslationIsThereAtTheEnd) {
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = Wrap});
  auto reply = Start("en", "pt");
  EXPECT_EQ(reply->Wait(kPatience), absl::OkStatus());
  EXPECT_EQ(reply->TakeResults().front().text, "enpt(x)");
  reply.reset();
  Await([&] { return Ended("en-pt", absl::StatusCode::kOk) == 1; });
  Await([&] { return server_.admission.in_flight() == 0; });
}

TEST_F(TranslateReplyTest, TwoModelsAnswerTogether) {
  server_.Add(TranslatorInfo("pt-en", "pt", "en"), {.complete = Wrap});
  server_.Add(TranslatorInfo("en-de", "en", "de"), {.complete = Wrap});
  auto reply = Start("pt", "de");
  EXPECT_EQ(reply->Wait(kPatience), absl::OkStatus());
  EXPECT_EQ(reply->TakeResults().front().text, "ende(pten(x))");
}

TEST_F(TranslateReplyTest, WorksFollowOneAnotherOnOneTicket) {
  Gate gate;
  server_.Add(TranslatorInfo("en-de", "en", "de"), {.complete = Wrap});
  server_.Add(TranslatorInfo("pt-de", "pt", "de"),
              {.forward = [&gate](models::Request&) { gate.Pass(); }, .complete = Wrap});
  TranslateReply::Works works;
  for (const char* source : {"en", "pt"}) {
    TranslationRequest request;
    request.input.texts = {source};
    request.input.source_language = source;
    request.input.target_language = "de";
    works.push_back(*MakeTranslationWork(std::move(request), server_.services()));
  }
  works[0].texts.resize(2);
  works[1].places = {1};
  auto reply = std::make_shared<TranslateReply>(server_.services(), "id");
  reply->Start(std::move(works));
  EXPECT_EQ(reply->Wait(kPatience), std::nullopt);  // the first has ended, the second begins
  gate.AwaitInside();
  EXPECT_EQ(server_.admission.in_flight(), 1);
  // Requests that were let in go on when no more are.
  server_.admission.Close();
  gate.Open();
  EXPECT_EQ(reply->Wait(kPatience), absl::OkStatus());
  const auto results = reply->TakeResults();
  EXPECT_EQ(results[0].text, "ende(en)");
  EXPECT_EQ(results[1].text, "ptde(pt)");
  reply.reset();
  Await([&] { return server_.admission.in_flight() == 0; });
  EXPECT_EQ(Ended("pt-de", absl::StatusCode::kOk), 1);
}

TEST_F(TranslateReplyTest, NothingToTranslateEndsAtOnce) {
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = Wrap});
  auto reply = Start("pt", "pt");
  EXPECT_EQ(reply->Wait(milliseconds(0)), absl::OkStatus());
  EXPECT_EQ(reply->TakeResults().front().text, "x");
}

TEST_F(TranslateReplyTest, WhatIsRefusedEndsAtOnce) {
  server_.Add(TranslatorInfo("en-pt", "en", "pt"), {.complete = Wrap});
  EXPECT_EQ(Start("xx", "pt")->Wait(milliseconds(0))->code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Ended("", absl::StatusCode::kNotFound), 1);
  server_.admission.Close();
  EXPECT_EQ(Start("en", "pt")->Wait(milliseconds(0))->code(), absl::StatusCode::kUnavailable);
}

TEST_F(TranslateReplyTest, AClientThatLeavesStopsTheWorkOfEitherModel) {
  for (const bool second : {false, true}) {
    Gate gate;
    const testing::ModelHooks stuck = {.forward = [&gate](models::Request&) { gate.Pass(); },
                                       .complete = [](models::Request&) {}};
    server_.Add(TranslatorInfo("pt-en", "pt", "en"),
                second ? testing::ModelHooks{.complete = Wrap} : stuck);
    server_.Add(TranslatorInfo("en-de", "en", "de"), stuck);
    auto reply = Start("pt", "de");
    gate.AwaitInside();
    EXPECT_EQ(reply->Wait(milliseconds(0)), std::nullopt);
    reply->Abandon();
    gate.Open();  // a request that never finishes goes on until nobody is seen to want it
    EXPECT_EQ(reply->Wait(kPatience)->code(), absl::StatusCode::kCancelled);
    reply.reset();
    Await([&] { return server_.admission.in_flight() == 0; });
  }
  EXPECT_EQ(Ended("pt-en", absl::StatusCode::kCancelled), 2);
}

TEST_F(TranslateReplyTest, WorkThatWaitsForItsSecondModelLeavesTheQueueWithItsClient) {
  Gate first;
  Gate second;
  TestServer server({.workers = 1});
  models::ModelInfo together = TranslatorInfo("pt-en", "pt", "en");
  together.batching.max_batch = 2;
  server.Add(together, {.forward = [&first](models::Request&) { first.Pass(); }, .complete = Wrap});
  server.Add(TranslatorInfo("en-de", "en", "de"),
             {.forward = [&second](models::Request&) { second.Pass(); }, .complete = Wrap});
  auto before = Start(server, "pt", "en");
  first.AwaitInside();
  auto served = Start(server, "pt", "de");
  auto waiting = Start(server, "pt", "de");
  first.Open();
  second.AwaitInside();
  waiting->Abandon();
  // The only worker is with the other one.
  const auto end = waiting->Wait(kPatience);
  second.Open();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(served->Wait(kPatience), absl::OkStatus());
}

}  // namespace
}  // namespace millrace::server
