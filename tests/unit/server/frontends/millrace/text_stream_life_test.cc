// How calls with a text that is still being written end: failures, clients that leave, drains.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "millrace/v1/synthesis.grpc.pb.h"
#include "tests/unit/server/frontends/millrace/text_stream_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;

TEST_F(TextStreamTest, AFailedJobEndsTheCall) {
  server_.Add(VoiceInfo("broken"), {.complete = [](models::Request& request) {
                request.Finish(absl::InternalError("broke"));
              }});
  TextStreamClient client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("broken");
  request.set_text("One.");
  request.set_flush(true);
  client.Write(request);
  const grpc::Status status = client.Finish();
  EXPECT_EQ(status.error_code(), StatusCode::INTERNAL);
  EXPECT_EQ(status.error_message(), "broke");
}

// A message that is wrong while a sentence is spoken ends the call with what is wrong.
TEST_F(TextStreamTest, ABadMessageStopsTheJobUnderWay) {
  std::atomic<bool> begun{false};
  server_.Add(VoiceInfo("slow"), {.complete = [&](models::Request& request) {
                begun = true;
                if (request.ShouldStop()) request.Finish(absl::CancelledError("stopped"));
              }});
  TextStreamClient client(server_);
  v1::SynthesizeTextStreamRequest request;
  request.mutable_config()->set_model("slow");
  request.set_text("One.");
  request.set_flush(true);
  client.Write(request);
  Await([&] { return begun.load(); });
  client.Configure();
  const grpc::Status status = client.Finish();
  EXPECT_EQ(status.error_message(), "config: is for the first message only");
}

TEST_F(TextStreamTest, ACancelledCallLeavesNothingBehind) {
  std::atomic<bool> begun{false};
  server_.Add(VoiceInfo("slow"), {.complete = [&](models::Request&) { begun = true; }});
  {
    TextStreamClient idle(server_);
    idle.Configure();
    TextStreamClient busy(server_);
    v1::SynthesizeTextStreamRequest request;
    request.mutable_config()->set_model("slow");
    request.set_text("One.");
    request.set_flush(true);
    busy.Write(request);
    Await([&] { return begun.load(); });
  }
  Await([&] { return server_.admission.in_flight() == 0; });
}

// gRPC tells of the end of what the client sends before it tells that the client has gone.
TEST_F(TextStreamTest, AClientThatLeavesBetweenSentencesIsCountedAsCancelled) {
  const auto ended = [&](absl::StatusCode code) {
    return server_.Count("joe", Method::kSynthesizeTextStream, code);
  };
  constexpr int kClients = 20;
  for (int i = 0; i < kClients; ++i) {
    TextStreamClient client(server_);
    client.Configure();
    client.Say("One.", true);
    Await([&] { return voice_.seen().size() > static_cast<size_t>(i); });
  }
  Await([&] { return ended(absl::StatusCode::kCancelled) == kClients; });
  EXPECT_EQ(ended(absl::StatusCode::kOk), 0);
}

// A client that sends faster than the voice speaks is not read from for ever.
TEST_F(TextStreamTest, AThousandSentencesAtOnceAreSpokenInOrder) {
  TextStreamClient client(server_);
  client.Configure();
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    const std::string sentence = "Sentence number " + std::to_string(i) + " is here. ";
    text += sentence;
    client.Say(sentence);
  }
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
  std::string spoken;
  for (const auto& input : voice_.seen()) {
    EXPECT_LE(input.text.size(), 10'000U);
    spoken += input.text;
  }
  EXPECT_EQ(spoken, text);
  EXPECT_EQ(client.bytes, 2 * text.size());
}

TEST_F(TextStreamTest, ManyClientsThatLeaveAtAnyTimeDoNoHarm) {
  for (int round = 0; round < 30; ++round) {
    TextStreamClient client(server_);
    client.Configure();
    for (int i = 0; i < round % 7; ++i) client.Say("One. Two. Three");
    if (round % 3 == 0) client.Done();
    if (round % 2 == 0) client.context.TryCancel();
  }
  Await([&] { return server_.admission.in_flight() == 0; });
}

// Text that cannot be spoken is left out, however much of it there is.
TEST_F(TextStreamTest, AnyNumberOfMarksIsNoEnd) {
  TextStreamClient client(server_);
  client.Configure();
  for (int i = 0; i < 5; ++i) client.Say(std::string(4001, '-'), true);
  client.Say("Yes", true);
  EXPECT_EQ(client.Read(), "0 Yes");
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
  for (const auto& input : voice_.seen()) EXPECT_TRUE(input.part_of_text);
}

// A call that was let in is not refused halfway, neither by a full queue nor by a drain.
TEST_F(TextStreamTest, ACallUnderWayGoesOnDuringADrain) {
  TextStreamClient client(server_);
  client.Configure();
  client.Say("One", true);
  EXPECT_EQ(client.Read(), "0 One");
  server_.admission.Close();
  client.Say("Two", true);
  EXPECT_EQ(client.Read(), "1 Two");
  client.Done();
  EXPECT_TRUE(client.Finish().ok());
  TextStreamClient late(server_);
  late.Configure();
  late.Say("Three", true);
  EXPECT_EQ(late.Finish().error_code(), StatusCode::UNAVAILABLE);
}

// Sentences end while clients leave: the call belongs to one thread at a time.
TEST_F(TextStreamTest, ClientsThatLeaveAsSentencesEndDoNoHarm) {
  constexpr int kClients = 8, kRounds = 150;
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([this, i] {
      for (int round = 0; round < kRounds; ++round) {
        TextStreamClient client(server_);
        client.Configure();
        client.Say("One. Two. Three", true);
        if (round % 4 != 0) client.Read();
        if ((round + i) % 2 == 0) {
          client.context.TryCancel();
        } else {
          client.Done();
        }
      }
    });
  }
  for (std::thread& client : clients) client.join();
  Await([&] { return server_.admission.in_flight() == 0; });
}

TEST_F(TextStreamTest, AnIdleStreamCountsAsWaiting) {
  TextStreamClient client(server_);
  client.Configure();
  client.Say("One. T");
  EXPECT_EQ(client.Read(), "0 One. ");
  // Nothing comes: the registry ends it once its patience is over.
  Await([&] { return server_.streams.AbortStalled(TimePoint::max()) == 1; });
  EXPECT_EQ(client.Finish().error_code(), StatusCode::CANCELLED);
}

}  // namespace
}  // namespace millrace::server
