#include "server/frontends/wyoming/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

#include "tests/unit/server/frontends/wyoming/session_fixture.h"

namespace millrace::server {
namespace {

using absl::StatusCode;
using nlohmann::json;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SpeakingSessionTest, DescribeIsAnsweredWithInfo) {
  Client client = Connect();
  client.SendBytes("{\"type\":\"describe\"}\n");
  const auto events = client.Read();
  ASSERT_THAT(TypesOf(events), ElementsAre("info"));
  EXPECT_EQ(events[0].data.at("tts").at(0).at("voices").size(), 2U);
}

TEST_F(SpeakingSessionTest, PingIsAnsweredWithItsText) {
  Client client = Connect();
  client.Send("ping", {{"text", "a \u00fc"}});
  client.Send("ping");
  const auto events = client.Read();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].type, "pong");
  EXPECT_EQ(events[0].data.at("text"), "a \u00fc");
  EXPECT_TRUE(events[1].data.at("text").is_null());
}

TEST_F(SpeakingSessionTest, UnknownEventsAreDropped) {
  Client client = Connect();
  client.SendBytes(
      "{\"type\":\"audio-chunk\",\"data\":{\"rate\":16000},\"payload_length\":3}\nabc"
      "{\"type\":\"of-the-future\"}\n{\"type\":\"ping\"}\n");
  EXPECT_THAT(TypesOf(client.Read()), ElementsAre("pong"));
}

TEST_F(SpeakingSessionTest, ATextIsSpokenAsSamplesOfOneFormat) {
  Client client = Connect();
  client.Send("synthesize",
              {{"text", "Good morning. How are you?"}, {"voice", {{"name", "second"}}}});
  const auto events = client.ReadUntil("audio-stop");
  EXPECT_THAT(TypesOf(events), ElementsAre("audio-start", "audio-chunk", "audio-stop"));
  EXPECT_EQ(events.front().data,
            json::parse(R"({"rate":8000,"width":2,"channels":1,"timestamp":0})"));
  EXPECT_EQ(events[1].data, events.front().data);
  EXPECT_EQ(events[1].payload.size(), 2 * std::string("Good morning. How are you?").size());
  EXPECT_TRUE(events.back().data.at("timestamp").is_null());
  // As a whole, in one job.
  EXPECT_THAT(voice_.texts(), ElementsAre("Good morning. How are you?"));
  AwaitQuiet();
  EXPECT_EQ(Ended(Method::kWyomingSpeech, StatusCode::kOk), 1);
  EXPECT_FALSE(client.session.over());
}

TEST_F(SpeakingSessionTest, MembersWithoutEffectAreToldWithTheAudio) {
  Client client = Connect();
  client.Send("synthesize", {{"text", "Go"}, {"voice", {{"name", "second"}, {"pitch", 2}}}});
  EXPECT_EQ(client.ReadUntil("audio-stop").front().data.at("warning"),
            "ignored members: voice.pitch");
  client.Send("synthesize-start", {{"rate", 1}, {"context", {{"a", 1}}}});
  client.Send("synthesize-chunk", {{"text", "Go"}});
  client.Send("synthesize-stop");
  EXPECT_EQ(client.ReadUntil("synthesize-stopped").front().data.at("warning"),
            "ignored members: context, rate");
}

TEST_F(SpeakingSessionTest, TimestampsAreThoseOfTheAudio) {
  Client client = Connect();
  client.Send("synthesize", {{"text", std::string(20'000, 'a')}});
  const auto events = client.ReadUntil("audio-stop");
  size_t samples = 0;
  for (const ReadEvent& event : events) {
    if (event.type != "audio-chunk") continue;
    EXPECT_EQ(event.data.at("timestamp"), samples / 8);
    samples += event.payload.size() / 2;
  }
  EXPECT_EQ(samples, 20'000U);
  EXPECT_GT(events.size(), 4U);
}

TEST_F(SpeakingSessionTest, ATextInPiecesIsHeardWhileItIsWritten) {
  Client client = Connect();
  client.Send("synthesize-start", {{"voice", {{"name", "joe/first"}}}});
  client.Send("synthesize-chunk", {{"text", "It is "}});
  client.Send("synthesize-chunk", {{"text", "done. We"}});
  EXPECT_THAT(TypesOf(client.ReadUntil("audio-chunk")), ElementsAre("audio-start", "audio-chunk"));
  client.Send("synthesize-chunk", {{"text", " can go"}});
  // Home Assistant sends the whole text again, for servers that do not take pieces.
  client.Send("synthesize", {{"text", "It is done. We can go"}});
  client.Send("synthesize-stop");
  const auto events = client.ReadUntil("synthesize-stopped");
  EXPECT_THAT(TypesOf(events), ElementsAre("audio-chunk", "audio-stop", "synthesize-stopped"));
  EXPECT_THAT(voice_.texts(), ElementsAre("It is done. ", "We can go"));
  AwaitQuiet();
  EXPECT_EQ(Ended(Method::kWyomingTextStream, StatusCode::kOk), 1);
  EXPECT_EQ(Ended(Method::kWyomingSpeech, StatusCode::kOk), 0);
}

TEST_F(SpeakingSessionTest, AConnectionSpeaksOneTextAfterAnother) {
  Client client = Connect();
  for (int i = 0; i < 3; ++i) {
    client.Send("synthesize", {{"text", "Yes."}});
    EXPECT_THAT(TypesOf(client.ReadUntil("audio-stop")),
                ElementsAre("audio-start", "audio-chunk", "audio-stop"));
    client.Send("synthesize-start");
    client.Send("synthesize-chunk", {{"text", "No."}});
    client.Send("synthesize-stop");
    client.ReadUntil("synthesize-stopped");
  }
  AwaitQuiet();
  EXPECT_EQ(Ended(Method::kWyomingSpeech, StatusCode::kOk), 3);
}

TEST_F(SpeakingSessionTest, NothingToSpeakGivesAudioWithoutSamples) {
  Client client = Connect();
  for (const char* text : {"", " ", "... \U0001F44D"}) {
    client.Send("synthesize", {{"text", text}});
    EXPECT_THAT(TypesOf(client.ReadUntil("audio-stop")), ElementsAre("audio-start", "audio-stop"))
        << text;
  }
  client.Send("synthesize-start");
  client.Send("synthesize-stop");
  EXPECT_THAT(TypesOf(client.ReadUntil("synthesize-stopped")),
              ElementsAre("audio-start", "audio-stop", "synthesize-stopped"));
  EXPECT_TRUE(voice_.texts().empty());
}

TEST_F(SpeakingSessionTest, AnErrorNamesWhatIsWrongAndEndsTheSession) {
  const std::pair<std::string, std::string> cases[] = {
      {EventBytes("synthesize"), "INVALID_ARGUMENT text: is missing"},
      {EventBytes("synthesize", {{"text", "a"}, {"voice", {{"name", "x"}}}}),
       "INVALID_ARGUMENT voice.name: 'x' is not available; these are: joe/first, joe/second"},
      {EventBytes("synthesize", {{"text", std::string("a\0", 2)}}),
       "INVALID_ARGUMENT text: has a NUL at byte 1, which is not allowed"},
      {EventBytes("synthesize-start", {{"text_format", "html"}}),
       "INVALID_ARGUMENT text_format: 'html' is not allowed; it is text, tags or ssml"},
      {EventBytes("synthesize-start") + EventBytes("synthesize-chunk", {{"text", 5}}),
       "INVALID_ARGUMENT text: must be a string, not number '5'"},
      {EventBytes("synthesize-chunk", {{"text", "a"}}),
       "FAILED_PRECONDITION synthesize-chunk: needs synthesize-start before it"},
      {EventBytes("synthesize-stop"),
       "FAILED_PRECONDITION synthesize-stop: needs synthesize-start before it"},
      {EventBytes("synthesize-start") + EventBytes("synthesize-start"),
       "FAILED_PRECONDITION synthesize-start: comes before the synthesize-stop of the text before"},
      {EventBytes("select-program", {{"name", "piper"}}),
       "INVALID_ARGUMENT name: 'piper' is not allowed; the only program is millrace"},
      {EventBytes("select-program", {{"name", 5}}),
       "INVALID_ARGUMENT name: must be a string, not number '5'"},
      {EventBytes("select-program"), "INVALID_ARGUMENT name: is missing"},
      {"nonsense\n", "INVALID_ARGUMENT line: is not valid JSON at byte 2, where 'o' stands"},
  };
  for (const auto& [bytes, error] : cases) {
    Client client = Connect();
    // Events behind an error are not looked at.
    client.SendBytes(bytes + EventBytes("ping"));
    EXPECT_EQ(client.ReadError(), error);
    EXPECT_TRUE(client.Read().empty());
  }
  AwaitQuiet();
  EXPECT_EQ(Ended(Method::kWyomingSpeech, StatusCode::kInvalidArgument), 3);
}

TEST_F(SpeakingSessionTest, TheOnlyProgramMayBeSelected) {
  Client client = Connect();
  client.Send("select-program", {{"name", "millrace"}});
  client.Send("ping");
  EXPECT_THAT(TypesOf(client.Read()), ElementsAre("pong"));
}

TEST_F(SpeakingSessionTest, BeforeTheModelsAreThereRequestsAreUnavailable) {
  started_ = false;
  for (const char* type : {"describe", "synthesize", "synthesize-start"}) {
    Client client = Connect();
    client.Send(type, {{"text", "Yes."}});
    EXPECT_THAT(client.ReadError(), HasSubstr("UNAVAILABLE the server is starting")) << type;
  }
}

TEST_F(SpeakingSessionTest, ADrainingServerTakesNoRequests) {
  backend_.admission.Close();
  Client client = Connect();
  client.Send("synthesize", {{"text", "Yes."}});
  EXPECT_THAT(client.ReadError(), ::testing::StartsWith("UNAVAILABLE "));
}

TEST_F(SpeakingSessionTest, AFullServerRefuses) {
  Gate gate;
  TestBackend full({.workers = 1, .max_requests = 1});
  full.Add(VoiceInfo("joe"), voice_.Hooks([&] { gate.Pass(); }));
  ModelsAnswer<std::string> info(full.directory, MakeInfoEvent);
  const WyomingContext context{.services = full.services(),
                               .info = info,
                               .started = [] { return true; },
                               .event_timeout = seconds(15),
                               .idle_timeout = seconds(15),
                               .stall_timeout = seconds(15),
                               .text_timeout = seconds(15)};
  Client first(context);
  first.Send("synthesize", {{"text", "Yes."}});
  gate.AwaitInside();
  Client second(context);
  second.Send("synthesize", {{"text", "Yes."}});
  EXPECT_THAT(second.ReadError(), ::testing::StartsWith("RESOURCE_EXHAUSTED "));
  gate.Open();
  first.ReadUntil("audio-stop");
}

// Damages bytes in a few places, always the same for a number.
std::string Damaged(std::string bytes, unsigned number) {
  std::minstd_rand random(number);
  for (unsigned changes = random() % 4 + 1; changes-- > 0 && !bytes.empty();) {
    const size_t at = random() % bytes.size();
    const size_t length = random() % 20;
    constexpr char kBytes[] = "\0\n{}[]\":,019-e\xff\xc3";
    switch (random() % 4) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = kBytes[random() % (sizeof(kBytes) - 1)];
        break;
      case 2:
        bytes.erase(at, length);
        break;
      default:
        bytes.insert(at, bytes.substr(random() % bytes.size(), length));
    }
  }
  return bytes;
}

TEST_F(SpeakingSessionTest, DamagedEventsGiveAtMostOneErrorAtTheEnd) {
  const std::string whole =
      EventBytes("describe") + "{\"type\":\"audio-chunk\",\"payload_length\":3}\nabc" +
      EventBytes("synthesize", {{"text", "One."}, {"voice", {{"name", "joe/first"}}}}) +
      EventBytes("synthesize-start", {{"voice", {{"language", "en"}}}}) +
      EventBytes("synthesize-chunk", {{"text", "Two. T\u00fcr"}}) +
      EventBytes("synthesize-chunk", {{"text", "en."}}) + EventBytes("synthesize-stop") +
      EventBytes("ping", {{"text", "x"}});
  size_t errors = 0;
  for (unsigned number = 1; number <= 2000; ++number) {
    Client client = Connect();
    const std::string bytes = Damaged(whole, number);
    for (size_t at = 0; at < bytes.size() && client.session.wants_bytes(); at += number % 50 + 1)
      client.SendBytes(bytes.substr(at, number % 50 + 1));
    bool failed = false;
    for (const ReadEvent& event : client.Read()) {
      EXPECT_FALSE(failed) << number << ": " << event.type << " after an error";
      failed = event.type == "error";
    }
    EXPECT_EQ(failed, client.session.over()) << number;
    errors += failed ? 1 : 0;
  }
  AwaitQuiet();
  EXPECT_GT(errors, 500U);
  EXPECT_LT(errors, 2000U);
}

}  // namespace
}  // namespace millrace::server
