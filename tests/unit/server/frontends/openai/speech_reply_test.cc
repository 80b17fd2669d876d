#include "server/frontends/http/speech_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "server/frontends/openai/speech_framing.h"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/server/frontends/test_server.h"
#include "tests/unit/server/requests/fake_voice.h"
#include "tests/unit/server/requests/infer_request.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;

// Nothing that is waited for takes as long, unless the test fails.
constexpr milliseconds kPatience = std::chrono::seconds(30);

struct StepsDone final : models::RequestState {
  size_t count = 0;
};

// A voice whose steps each speak that many samples of 8 kHz.
testing::ModelHooks::Hook SpeakParts(size_t parts, size_t samples, std::atomic<size_t>* steps) {
  return [=](models::Request& request) {
    if (request.state() == nullptr) request.set_state(std::make_unique<StepsDone>());
    size_t& done = static_cast<StepsDone&>(*request.state()).count;
    models::SynthesizeOutput part = Sound(samples);
    part.sentence_index = done;
    request.Emit(std::move(part));
    ++*steps;
    if (++done == parts) request.Finish(absl::OkStatus());
  };
}

class SpeechReplyTest : public ::testing::Test {
 protected:
  // Says something in plain samples.
  std::shared_ptr<SpeechReply> Start(SpeechFraming framing = SpeechFraming::kAudio,
                                     uint32_t sample_rate = 0) {
    SpeechRequest request;
    request.text = "x";
    request.sample_rate = sample_rate;
    request.format = models::AudioFormat::kPcmS16;
    auto reply = std::make_shared<SpeechReply>(server_.services(), "id");
    reply->Start(MakeSpeechWork(std::move(request), models::AudioContainer::kStream,
                                kMaxStreamCharacters, server_.services()),
                 std::make_unique<OpenAiFramer>(framing, models::AudioFormat::kPcmS16, 1));
    return reply;
  }
  std::shared_ptr<ServedModel> AddVoice(size_t parts, size_t samples) {
    return server_.Add(VoiceInfo("joe"), {.complete = SpeakParts(parts, samples, &steps_)});
  }
  static std::string TakeAll(SpeechReply& reply, absl::Status& end) {
    std::string all;
    for (;;) {
      SpeechReply::Piece piece = reply.Take(kPatience);
      all += piece.bytes;
      if (!piece.end) continue;
      end = *piece.end;
      return all;
    }
  }
  // The only worker serves another request, of the model null.
  void PassTheWorker() {
    grpc::ClientContext context;
    inference::ModelInferResponse response;
    ASSERT_TRUE(inference::GRPCInferenceService::NewStub(server_.channel)
                    ->ModelInfer(&context, InferRequest("null"), &response)
                    .ok());
  }
  void AwaitAllEnded() {
    Await([this] { return server_.admission.in_flight() == 0; });
  }
  double Ended(absl::StatusCode code) { return server_.Count("joe", Method::kHttpSpeech, code); }

  std::atomic<size_t> steps_{0};
  TestServer server_{{.workers = 1, .max_buffered_bytes = 64 << 10}};
};

TEST_F(SpeechReplyTest, TheAudioComesInOrderAndTheEndIsCountedOnce) {
  AddVoice(3, 1000);
  auto reply = Start();
  absl::Status end;
  EXPECT_EQ(TakeAll(*reply, end).size(), 6000U);
  EXPECT_TRUE(end.ok()) << end;
  reply->Delivered();
  reply->Abandon();  // as the connection does at its end
  reply.reset();
  AwaitAllEnded();
  EXPECT_EQ(Ended(absl::StatusCode::kOk), 1);
  EXPECT_EQ(Ended(absl::StatusCode::kCancelled), 0);
}

TEST_F(SpeechReplyTest, WhatTheEncoderHeldBackComesAtTheEnd) {
  AddVoice(2, 4000);
  auto reply = Start(SpeechFraming::kAudio, 24000);
  absl::Status end;
  EXPECT_EQ(TakeAll(*reply, end).size(), 2U * 24000);
}

TEST_F(SpeechReplyTest, WhatWasNotDeliveredIsCountedAsCancelled) {
  AddVoice(1, 1000);
  auto reply = Start();
  absl::Status end;
  TakeAll(*reply, end);
  reply->Abandon();
  reply.reset();
  AwaitAllEnded();
  EXPECT_EQ(Ended(absl::StatusCode::kCancelled), 1);
}

TEST_F(SpeechReplyTest, AudioMayBeTakenBeforeAllIsSpoken) {
  Gate gate;
  server_.Add(VoiceInfo("joe"), {.complete = [&](models::Request& request) {
                if (request.state() != nullptr) gate.Pass();
                SpeakParts(2, 1000, &steps_)(request);
              }});
  auto reply = Start();
  const SpeechReply::Piece first = reply->Take(kPatience);
  EXPECT_EQ(first.bytes.size(), 2000U);
  EXPECT_FALSE(first.end);
  const SpeechReply::Piece nothing = reply->Take(milliseconds(1));
  EXPECT_TRUE(nothing.bytes.empty());
  EXPECT_FALSE(nothing.end);
  gate.Open();
  absl::Status end;
  EXPECT_EQ(TakeAll(*reply, end).size(), 2000U);
}

TEST_F(SpeechReplyTest, ASlowReaderParksTheJobAndGetsItAll) {
  const auto voice = AddVoice(200, 8000);  // 16 KB each, of which four may wait
  server_.Add(InferInfo("null"), {.complete = Echo});
  auto reply = Start();
  // The only worker has served others, and the job neither ran nor waits: it is parked.
  for (bool parked = false; !parked;) {
    const size_t before = steps_.load();
    const bool waited = server_.scheduler.depth(voice->queue()) != 0;
    PassTheWorker();
    parked = before > 0 && steps_.load() == before && !waited &&
             server_.scheduler.depth(voice->queue()) == 0;
  }
  EXPECT_LE(steps_.load(), 6U);
  absl::Status end;
  EXPECT_EQ(TakeAll(*reply, end).size(), 200U * 16000);
  EXPECT_TRUE(end.ok());
  EXPECT_EQ(steps_.load(), 200U);
}

TEST_F(SpeechReplyTest, AClientThatLeavesStopsItsWork) {
  AddVoice(1'000'000, 8000);
  auto reply = Start();
  Await([&] { return steps_.load() > 0; });
  reply->Abandon();
  reply.reset();
  AwaitAllEnded();  // also when it was parked meanwhile
  EXPECT_LT(steps_.load(), 1'000'000U);
  EXPECT_EQ(Ended(absl::StatusCode::kCancelled), 1);
}

TEST_F(SpeechReplyTest, AClientThatLeavesWhileItsJobIsParkedStopsIt) {
  AddVoice(1'000'000, 100'000);  // the first already is more than may wait
  auto reply = Start();
  Await([&] { return steps_.load() == 1; });
  reply->Abandon();
  reply->Abandon();
  reply.reset();
  AwaitAllEnded();
  EXPECT_EQ(Ended(absl::StatusCode::kCancelled), 1);
}

TEST_F(SpeechReplyTest, AnErrorDoesNotWaitBehindAudio) {
  server_.Add(VoiceInfo("joe"), {.complete = [this](models::Request& request) {
                SpeakParts(100, 1000, &steps_)(request);
                if (steps_.load() == 2) throw std::runtime_error("device lost");
              }});
  server_.Add(InferInfo("null"), {.complete = Echo});
  auto reply = Start();
  Await([&] { return steps_.load() == 2; });
  PassTheWorker();  // so it has failed
  const SpeechReply::Piece piece = reply->Take(kPatience);
  EXPECT_EQ(piece.bytes, "");
  ASSERT_TRUE(piece.end);
  EXPECT_EQ(piece.end->code(), absl::StatusCode::kInternal);
  reply.reset();
  AwaitAllEnded();
  EXPECT_EQ(Ended(absl::StatusCode::kInternal), 1);
}

TEST_F(SpeechReplyTest, WhatIsRefusedEndsAtOnce) {
  auto reply = Start();
  const SpeechReply::Piece piece = reply->Take(milliseconds(0));
  ASSERT_TRUE(piece.end);
  EXPECT_EQ(piece.end->code(), absl::StatusCode::kNotFound);
  reply.reset();
  EXPECT_EQ(server_.Count("", Method::kHttpSpeech, absl::StatusCode::kNotFound), 1);
}

// The server allows 20 s. Each of ten steps takes `step`.
class TimedSpeechReplyTest : public ::testing::Test {
 protected:
  absl::StatusCode EndOf(SpeechFraming framing, Duration step) {
    testing::FakeClock clock;
    TestServer server({.workers = 1, .max_request_time = std::chrono::seconds(20), .clock = clock});
    std::atomic<size_t> steps = 0;
    server.Add(VoiceInfo("joe"),
               {.complete = [&, speak = SpeakParts(10, 1, &steps)](models::Request& request) {
                 clock.Advance(step);
                 if (!request.ShouldStop()) speak(request);
               }});
    SpeechRequest request;
    request.text = "x";
    auto reply = std::make_shared<SpeechReply>(server.services(), "id");
    auto framer = std::make_unique<OpenAiFramer>(framing, request.format, 1);
    reply->Start(MakeSpeechWork(std::move(request), models::AudioContainer::kStream,
                                kMaxStreamCharacters, server.services()),
                 std::move(framer));
    for (;;) {
      const SpeechReply::Piece piece = reply->Take(std::chrono::seconds(10));
      if (piece.end) return piece.end->code();
    }
  }
};

TEST_F(TimedSpeechReplyTest, AStreamHasTheServersTimeForEachPart) {
  EXPECT_EQ(EndOf(SpeechFraming::kAudio, std::chrono::seconds(19)), absl::StatusCode::kOk);
  EXPECT_EQ(EndOf(SpeechFraming::kAudio, std::chrono::seconds(21)),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(TimedSpeechReplyTest, AnAnswerThatIsSentAsAWholeHasItForAll) {
  EXPECT_EQ(EndOf(SpeechFraming::kWholeCaption, std::chrono::seconds(1)), absl::StatusCode::kOk);
  EXPECT_EQ(EndOf(SpeechFraming::kWholeCaption, std::chrono::seconds(3)),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(SpeechReplyTest, EventsHoldTheAudioAsBase64) {
  AddVoice(1, 3);
  auto reply = Start(SpeechFraming::kEvents);
  absl::Status end;
  EXPECT_EQ(TakeAll(*reply, end),
            "data: {\"type\":\"speech.audio.delta\",\"audio\":\"AEAAQABA\"}\n\n"
            "data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":1,"
            "\"output_tokens\":1,\"total_tokens\":2}}\n\n");
}

TEST_F(SpeechReplyTest, AWholeCaptionIsBounded) {
  AddVoice(1'000'000, 8000 * 60);  // a minute in each
  auto reply = Start(SpeechFraming::kWholeCaption);
  absl::Status end;
  EXPECT_EQ(TakeAll(*reply, end), "");
  EXPECT_EQ(end.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      end.message(),
      "text: its speech is longer than one object may hold, 64 MiB; ask for a stream of them");
  EXPECT_LT(steps_.load(), 100U);
  reply.reset();
  AwaitAllEnded();
  EXPECT_EQ(Ended(absl::StatusCode::kInvalidArgument), 1);
}

}  // namespace
}  // namespace millrace::server
