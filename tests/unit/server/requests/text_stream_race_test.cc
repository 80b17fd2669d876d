// Speech of a text that is still being written, as messages, sentences and ends come at the same
// moment. No gRPC in this process: TSan sees every access.

#include <gtest/gtest.h>

#include <barrier>
#include <optional>
#include <string>
#include <utility>

#include "millrace/v1/synthesis.pb.h"
#include "mps_runtime/base/joining_thread.h"
#include "tests/fakes/at_once.h"
#include "tests/fakes/fake_call.h"
#include "tests/unit/server/requests/exchange.h"
#include "tests/unit/server/requests/fake_voice.h"

namespace millrace::server {
namespace {

using absl::StatusCode;
using testing::FakeCall;

constexpr int kTextStreamRounds = 20;

std::string Config() {
  v1::SynthesizeTextStreamRequest message;
  message.mutable_config()->set_model("m");
  return message.SerializeAsString();
}

std::string Say(const std::string& text) {
  v1::SynthesizeTextStreamRequest message;
  message.set_text(text);
  message.set_flush(true);
  return message.SerializeAsString();
}

// Returns the text that a message speaks.
std::string TextOf(const std::string& bytes) {
  v1::StreamSynthesizeResponse response;
  EXPECT_TRUE(response.ParseFromString(bytes));
  return response.text();
}

// The parameter: whether a client that leaves is told of by OnCancel before its reads fail.
class TextStreamRaceTest : public ::testing::TestWithParam<bool> {
 protected:
  void AddVoice(testing::ModelHooks hooks) {
    if (!hooks.prepare && !hooks.forward) hooks.complete = SpeakBytes;
    backend_.Add(VoiceInfo("m"), std::move(hooks));
  }
  // A call to which its config is on its way.
  FakeCall::Options CallOptions() const { return {.tells_cancel_first = GetParam()}; }
  void Begin(FakeCall& call) {
    call.Send(Config());
    call.Begin(synthesis_, "SynthesizeTextStream");
  }
  double Ended(StatusCode code) {
    return backend_.Count("m", Method::kSynthesizeTextStream, code) +
           backend_.Count("", Method::kSynthesizeTextStream, code);
  }
  double Ended() {
    double sum = 0;
    for (size_t code = 0; code < kStatusCodes; ++code) sum += Ended(static_cast<StatusCode>(code));
    return sum;
  }
  void AwaitQuiet() {
    Await([this] { return backend_.admission.in_flight() == 0; });
  }

  TestBackend backend_;
  SynthesisService synthesis_{backend_.services()};
};

INSTANTIATE_TEST_SUITE_P(CancelFirst, TextStreamRaceTest, ::testing::Bool());

TEST_P(TextStreamRaceTest, TextArrivesAsSentencesEnd) {
  AddVoice({});
  for (int i = 0; i < kTextStreamRounds; ++i) {
    FakeCall call{CallOptions()};
    std::barrier start(2);
    JoiningThread client([&] {
      start.arrive_and_wait();
      for (int k = 0; k < 10; ++k) call.Send(Say("Sentence " + std::to_string(k) + ". "));
      call.EndMessages();
    });
    Begin(call);
    start.arrive_and_wait();
    EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
    std::string spoken;
    for (const std::string& message : call.written()) spoken += TextOf(message);
    std::string said;
    for (int k = 0; k < 10; ++k) said += "Sentence " + std::to_string(k) + ". ";
    EXPECT_EQ(spoken, said);
  }
  AwaitQuiet();
  EXPECT_EQ(Ended(StatusCode::kOk), kTextStreamRounds);
}

TEST_P(TextStreamRaceTest, TheTextEndsAsItsLastSentenceDoes) {
  std::barrier start(2);
  AddVoice({.forward = [&](models::Request&) { start.arrive_and_wait(); }, .complete = SpeakBytes});
  for (int i = 0; i < kTextStreamRounds; ++i) {
    FakeCall call{CallOptions()};
    call.Send(Config());
    call.Send(Say("One."));
    call.Begin(synthesis_, "SynthesizeTextStream");
    JoiningThread client([&] {
      start.arrive_and_wait();
      call.EndMessages();
    });
    EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  }
  AwaitQuiet();
  EXPECT_EQ(Ended(StatusCode::kOk), kTextStreamRounds);
}

TEST_P(TextStreamRaceTest, TheClientLeavesAsASentenceEnds) {
  std::barrier start(2);
  AddVoice({.forward = [&](models::Request&) { start.arrive_and_wait(); }, .complete = SpeakBytes});
  for (int i = 0; i < kTextStreamRounds; ++i) {
    FakeCall call{CallOptions()};
    call.Send(Config());
    call.Send(Say("One."));
    call.Begin(synthesis_, "SynthesizeTextStream");
    JoiningThread client([&] {
      start.arrive_and_wait();
      call.Leave();
    });
    call.RunToEnd().IgnoreError();
  }
  AwaitQuiet();
  EXPECT_EQ(Ended(StatusCode::kCancelled), kTextStreamRounds);
}

TEST_P(TextStreamRaceTest, TheClientLeavesBetweenSentences) {
  AddVoice({});
  for (int i = 0; i < kTextStreamRounds; ++i) {
    FakeCall call{CallOptions()};
    Begin(call);
    call.Send(Say("One."));
    const std::optional<std::string> message = call.ReadOne();
    ASSERT_TRUE(message);
    EXPECT_EQ(TextOf(*message), "One.");
    call.Leave();
    call.RunToEnd().IgnoreError();
  }
  AwaitQuiet();
  EXPECT_EQ(Ended(StatusCode::kCancelled), kTextStreamRounds);
}

TEST_P(TextStreamRaceTest, ABadMessageArrivesAsASentenceEnds) {
  std::barrier start(2);
  AddVoice({.forward = [&](models::Request&) { start.arrive_and_wait(); }, .complete = SpeakBytes});
  for (int i = 0; i < kTextStreamRounds; ++i) {
    FakeCall call{CallOptions()};
    call.Send(Config());
    call.Send(Say("One."));
    call.Begin(synthesis_, "SynthesizeTextStream");
    JoiningThread client([&] {
      start.arrive_and_wait();
      call.Send(Config());
    });
    EXPECT_EQ(call.RunToEnd(), absl::InvalidArgumentError("config: is for the first message only"));
  }
  AwaitQuiet();
  EXPECT_EQ(Ended(StatusCode::kInvalidArgument), kTextStreamRounds);
}

TEST_P(TextStreamRaceTest, ABadMessageArrivesAsTheClientLeaves) {
  AddVoice({});
  for (int i = 0; i < kTextStreamRounds; ++i) {
    FakeCall call{CallOptions()};
    Begin(call);
    testing::AllAtOnce([&] { call.Send(Config()); }, [&] { call.Leave(); },
                       [&] {
                         const absl::Status status = call.RunToEnd();
                         EXPECT_FALSE(status.ok());
                       });
  }
  AwaitQuiet();
  EXPECT_EQ(Ended(), kTextStreamRounds);
  EXPECT_EQ(Ended(StatusCode::kOk), 0);
}

TEST_P(TextStreamRaceTest, AnIdleCallIsFoundStalledAsTextArrives) {
  AddVoice({});
  for (int i = 0; i < kTextStreamRounds; ++i) {
    FakeCall call{CallOptions()};
    Begin(call);
    int aborted = 0;
    absl::Status status;
    testing::AllAtOnce(
        [&] {
          call.Send(Say("One."));
          call.EndMessages();
        },
        [&] { aborted = backend_.streams.AbortStalled(TimePoint::max()); },
        [&] { status = call.RunToEnd(); });
    if (aborted == 0) {
      EXPECT_EQ(status, absl::OkStatus());
    }
  }
  AwaitQuiet();
  EXPECT_EQ(Ended(), kTextStreamRounds);
}

TEST_P(TextStreamRaceTest, TheServerStopsAsTextArrives) {
  for (int i = 0; i < kTextStreamRounds / 2; ++i) {
    TestBackend backend;
    backend.Add(VoiceInfo("m"), {.complete = SpeakBytes});
    SynthesisService synthesis(backend.services());
    FakeCall call{CallOptions()};
    call.Send(Config());
    call.Begin(synthesis, "SynthesizeTextStream");
    testing::AllAtOnce(
        [&] {
          call.Send(Say("One. "));
          call.Send(Say("Two."));
          call.EndMessages();
        },
        [&] { backend.CloseScheduler(); },
        [&] {
          const absl::Status status = call.RunToEnd();
          EXPECT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
        });
    Await([&] { return backend.admission.in_flight() == 0; });
  }
}

TEST_P(TextStreamRaceTest, ADrainLetsTheWholeTextBeSpoken) {
  AddVoice({});
  FakeCall call{CallOptions()};
  Begin(call);
  call.Send(Say("One."));
  ASSERT_TRUE(call.ReadOne());
  backend_.admission.Close();
  call.Send(Say("Two."));
  ASSERT_TRUE(call.ReadOne());
  call.EndMessages();
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  AwaitQuiet();
}

}  // namespace
}  // namespace millrace::server
