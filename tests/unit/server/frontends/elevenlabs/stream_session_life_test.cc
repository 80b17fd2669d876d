// How sessions end: contexts that are closed, clients that leave or do not read, time limits, keys.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "nlohmann/json.hpp"
#include "server/frontends/elevenlabs/stream_session.h"
#include "server/security/api_key_store.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/server/frontends/elevenlabs/stream_session_fixture.h"
#include "tests/unit/server/requests/fake_voice.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using absl::StatusCode;
using nlohmann::json;
using std::chrono::seconds;
using ::testing::HasSubstr;

TEST_F(StreamSessionTest, AContextThatIsClosedUnflushedStopsAndTheOtherDoesNot) {
  Gate gate;
  backend_.Add(VoiceInfo("joe"), Voice([&] { gate.Pass(); }));
  StreamClient client(backend_.services(), Options(true));
  client.Send({{"text", "To be stopped. And"}, {"context_id", "a"}});
  client.Send({{"text", "To be heard. "}, {"context_id", "b"}, {"flush", true}});
  gate.AwaitInside(2);
  client.Send({{"context_id", "a"}, {"close_context", true}});
  const json last = client.Read();
  EXPECT_EQ(last["contextId"], "a");
  EXPECT_EQ(last["isFinal"], true);
  gate.Open();
  client.Send({{"context_id", "b"}, {"close_context", true}});
  EXPECT_EQ(client.ReadText("b"), "To be heard. ");
  AwaitQuiet();
  EXPECT_EQ(Ended(StatusCode::kCancelled), 1);
  EXPECT_EQ(Ended(StatusCode::kOk), 1);
}

TEST_F(SpeakingStreamSessionTest, MoreContextsThanMayBeAreRefused) {
  StreamClient client(backend_.services(), Options(true));
  for (size_t i = 0; i < StreamSession::kMaxContexts; ++i)
    client.Send({{"text", " "}, {"context_id", std::to_string(i)}});
  client.Send({{"text", " "}, {"context_id", "x"}});
  const json error = client.Read();
  EXPECT_EQ(error["error"], "max_active_conversations");
  EXPECT_EQ(error["contextId"], "x");
  client.Send({{"context_id", "0"}, {"close_context", true}});
  EXPECT_EQ(client.Read()["isFinal"], true);
  client.Send({{"text", "Now. "}, {"context_id", "x"}, {"flush", true}});
  EXPECT_EQ(client.Read()["contextId"], "x");
}

TEST_F(StreamSessionTest, AClientThatLeavesStopsTheWork) {
  Gate gate;
  backend_.Add(VoiceInfo("joe"), Voice([&] { gate.Pass(); }));
  auto client = std::make_unique<StreamClient>(backend_.services(), Options(false));
  client->Send({{"text", "One. Two. Three"}});
  gate.AwaitInside();
  client.reset();
  gate.Open();
  AwaitQuiet();
  EXPECT_EQ(Ended(StatusCode::kCancelled), 1);
}

TEST_F(StreamSessionTest, AClientThatNeverReadsHoldsNoWorkerAndLittleMemory) {
  std::atomic<int> steps{0};
  backend_.Add(VoiceInfo("joe"), {.complete = [&](models::Request& request) {
                 request.Emit(Sound(40'000));
                 if (++steps == 1000) request.Finish(absl::OkStatus());
               }});
  StreamClient client(backend_.services(), Options(false));
  client.Send({{"text", "A long text. "}, {"flush", true}});
  // The job is parked after the step that filled the buffer of 64 KiB.
  Await([&] { return steps == 1; });
  StreamClient other(backend_.services(), Options(false));
  other.Send({{"text", "Another. "}, {"flush", true}});
  Await([&] { return steps == 2; });
  EXPECT_LE(steps, 2);
  EXPECT_FALSE(client.Read()["audio"].is_null());
}

class TimedStreamSessionTest : public StreamSessionTest {
 protected:
  TimedStreamSessionTest()
      : StreamSessionTest({.max_request_time = seconds(100), .clock = Clock()}) {
    backend_.Add(VoiceInfo("joe"), Voice());
  }
  static testing::FakeClock& Clock() {
    static testing::FakeClock clock;
    return clock;
  }
};

TEST_F(TimedStreamSessionTest, ATextThatIsNotContinuedIsEndedByTheInactivityTimeout) {
  StreamClient client(backend_.services(), Options(false));
  client.Send({{"text", "and then"}});
  EXPECT_EQ(client.session.due(), Clock().Now() + seconds(20));
  Clock().Advance(seconds(19));
  client.Send({{"text", " "}});
  Clock().Advance(seconds(19));
  client.session.Advance();
  EXPECT_FALSE(client.session.end());
  Clock().Advance(seconds(1));
  EXPECT_EQ(client.Read()["error"], "input_timeout_exceeded");
  EXPECT_EQ(client.Read(), "closed 1008");
  AwaitQuiet();
}

TEST_F(TimedStreamSessionTest, AContextThatIsNotContinuedIsSpokenToItsEnd) {
  StreamClient client(backend_.services(), Options(true));
  client.Send({{"text", "and then"}, {"context_id", "c"}});
  Clock().Advance(seconds(15));
  // Shows that the client lives.
  client.Send({{"text", ""}, {"context_id", "c"}});
  Clock().Advance(seconds(15));
  client.session.Advance();
  EXPECT_FALSE(client.session.Take());
  Clock().Advance(seconds(5));
  EXPECT_EQ(client.ReadText("c"), "and then ");
  EXPECT_FALSE(client.session.end());
  Clock().Advance(seconds(20));
  EXPECT_EQ(client.Read()["error"], "input_timeout_exceeded");
}

TEST_F(TimedStreamSessionTest, ATextLastsNoLongerThanARequestMay) {
  StreamOptions options = Options(true);
  options.inactivity_timeout = seconds(180);
  StreamClient client(backend_.services(), options);
  client.Send({{"text", "and then"}, {"context_id", "c"}});
  Clock().Advance(seconds(100));
  const json error = client.Read();
  EXPECT_EQ(error["error"], "timeout");
  EXPECT_EQ(error["contextId"], "c");
}

class LockedStreamSessionTest : public ::testing::Test {
 protected:
  LockedStreamSessionTest() {
    EXPECT_TRUE(
        AppendApiKeyLine(folder_.path() / "keys", *ApiKeyLine("ann", Role::kUser, "secret")).ok());
    keys_ = *ApiKeyStore::Open(folder_.path() / "keys", {.poll_interval = {}});
    backend_ = std::make_unique<TestBackend>(TestBackend::Options{.keys = keys_.get()});
    backend_->Add(VoiceInfo("joe"), Voice());
  }
  StreamClient Connect(bool sent_key, absl::StatusOr<StreamOptions> options) {
    return StreamClient(backend_->services(), std::move(options),
                        {.caller = {},
                         .access = absl::UnauthenticatedError("the API key is not known"),
                         .sent_key = sent_key});
  }
  static StreamOptions Options() {
    StreamOptions options;
    options.speech.model = "joe";
    options.speech.format = models::AudioFormat::kPcmS16;
    return options;
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<ApiKeyStore> keys_;
  std::unique_ptr<TestBackend> backend_;
};

TEST_F(LockedStreamSessionTest, TheFirstMessageMayHaveTheKey) {
  StreamClient client = Connect(false, Options());
  client.Send({{"text", " "}, {"xi_api_key", "secret"}});
  client.Send({{"text", "Yes. "}, {"flush", true}});
  EXPECT_FALSE(client.Read()["audio"].is_null());
}

TEST_F(LockedStreamSessionTest, WithoutAKnownKeyNothingIsTold) {
  const std::pair<json, std::string> cases[] = {
      {{{"text", "Yes. "}}, "an API key is needed"},
      {{{"text", "Yes. "}, {"xi_api_key", "wrong"}}, "the API key is not known"},
  };
  for (const auto& [message, error] : cases) {
    // An error of the request would tell the names of voices.
    StreamClient client =
        Connect(false, absl::InvalidArgumentError("voice: there are: first, second"));
    client.Send(message);
    const json answer = client.Read();
    EXPECT_EQ(answer["error"], "invalid_api_key");
    EXPECT_THAT(answer["message"].get<std::string>(), HasSubstr(error));
    EXPECT_EQ(client.Read(), "closed 1008");
  }
  StreamClient client = Connect(true, Options());
  EXPECT_EQ(client.Read()["message"], "the API key is not known");
}

}  // namespace
}  // namespace millrace::server
