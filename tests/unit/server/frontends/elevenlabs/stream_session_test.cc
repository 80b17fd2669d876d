#include "server/frontends/elevenlabs/stream_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "server/security/api_key_store.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using absl::StatusCode;
using nlohmann::json;
using std::chrono::seconds;
using ::testing::HasSubstr;

// Speaks 8 samples for each byte and the pauses of the markup, and says when each word is heard.
testing::ModelHooks Voice(std::function<void()> before = [] {}) {
  return {.complete = [before = std::move(before)](models::Request& request) {
    before();
    const auto& input = std::get<models::SynthesizeInput>(request.input());
    models::SynthesizeOutput part;
    part.sample_rate = 8000;
    part.text = input.text;
    part.samples.assign(input.text.size() * 8, 0.5F);
    double pause = input.markup.pause_after;
    for (const auto& marked : input.markup.parts) pause += std::max(marked.pause, 0.0);
    part.samples.resize(part.samples.size() + static_cast<size_t>(pause * 8000));
    for (size_t at = 0; at < input.text.size();) {
      const size_t end = std::min(input.text.find(' ', at), input.text.size());
      if (end > at) {
        part.words.push_back({.text = input.text.substr(at, end - at),
                              .begin = static_cast<int64_t>(at * 8),
                              .end = static_cast<int64_t>(end * 8),
                              .character = at});
      }
      at = end + 1;
    }
    request.Emit(std::move(part));
    request.Finish(absl::OkStatus());
  }};
}

class Client {
 public:
  Client(
      Services& services, absl::StatusOr<StreamOptions> options, StreamSession::Client client = {},
      std::function<bool()> started = [] { return true; })
      : session(services, std::move(options), std::move(client), std::move(started),
                [changes = changes_] { ++*changes; }) {}

  void Send(const json& message) { SendText(message.dump()); }
  void SendText(const std::string& text) {
    session.Receive({text});
    session.Advance();
  }
  // Reads the next message, as it comes.
  json Read() {
    for (;;) {
      const int before = *changes_;
      session.Advance();
      if (auto message = session.Take()) {
        EXPECT_FALSE(message->binary);
        session.OnAllSent();
        return json::parse(message->data);
      }
      if (session.end()) return "closed " + std::to_string(static_cast<int>(session.end()->code));
      Await([&] { return *changes_ != before; });
    }
  }
  // Reads up to the last message of a text: its characters, or the error.
  std::string ReadText(std::string id = "") {
    std::string text;
    for (;;) {
      const json message = Read();
      if (message.is_string()) return text + message.get<std::string>();
      if (message.contains("error")) return message["message"];
      EXPECT_EQ(message.value("contextId", ""), id);
      audio_bytes_ +=
          message["audio"].is_null() ? 0 : Decoded(message["audio"].get<std::string>()).size();
      if (!message["alignment"].is_null()) {
        EXPECT_EQ(message["alignment"], message["normalizedAlignment"]);
        text += absl::StrJoin(message["alignment"]["chars"].get<std::vector<std::string>>(), "");
      }
      if (message["isFinal"] == true) return text;
    }
  }
  size_t audio_bytes() const { return audio_bytes_; }

  static std::string Decoded(const std::string& base64) {
    std::string bytes;
    EXPECT_TRUE(absl::Base64Unescape(base64, &bytes));
    return bytes;
  }

 private:
  const std::shared_ptr<std::atomic<int>> changes_ = std::make_shared<std::atomic<int>>(0);
  size_t audio_bytes_ = 0;

 public:
  StreamSession session;
};

class StreamSessionTest : public ::testing::Test {
 protected:
  explicit StreamSessionTest(TestBackend::Options options = {}) : backend_(options) {}

  static StreamOptions Options(bool multi) {
    StreamOptions options;
    options.multi = multi;
    options.speech.model = "joe";
    options.speech.format = models::AudioFormat::kPcmS16;
    options.speech.word_times = true;
    return options;
  }
  double Ended(StatusCode code) {
    const auto method = Method::kElevenLabsTextStream;
    return backend_.Count("joe", method, code) + backend_.Count("", method, code);
  }
  void AwaitQuiet() {
    Await([this] { return backend_.admission.in_flight() == 0; });
  }

  TestBackend backend_;
};

class SpeakingStreamSessionTest : public StreamSessionTest {
 protected:
  SpeakingStreamSessionTest() { backend_.Add(VoiceInfo("joe"), Voice()); }
};

TEST_F(SpeakingStreamSessionTest, ATextIsHeardWhileItIsWrittenAndItsEndCloses) {
  Client client(backend_.services(), Options(false));
  client.Send({{"text", " "}, {"voice_settings", nullptr}});
  client.Send({{"text", "It is "}, {"try_trigger_generation", true}});
  client.Send({{"text", "done. We"}});
  const json first = client.Read();
  EXPECT_EQ(absl::StrJoin(first["alignment"]["chars"].get<std::vector<std::string>>(), ""),
            " It is done. ");
  EXPECT_FALSE(first.contains("contextId"));
  EXPECT_TRUE(first["isFinal"].is_null());
  client.Send({{"text", " can go"}});
  client.Send({{"text", ""}});
  EXPECT_EQ(client.ReadText(), "We can go ");
  EXPECT_EQ(client.Read(), "closed 1000");
  AwaitQuiet();
  EXPECT_EQ(Ended(StatusCode::kOk), 1);
}

TEST_F(SpeakingStreamSessionTest, TimesAreOfEachMessageFromZero) {
  Client client(backend_.services(), Options(false));
  client.Send({{"text", "A bc. D"}, {"flush", false}});
  const json first = client.Read();
  EXPECT_EQ(first["alignment"]["charStartTimesMs"], json({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(first["alignment"]["charDurationsMs"], json({1, 1, 1, 1, 1, 0}));
  client.Send({{"text", "e"}, {"flush", true}});
  EXPECT_EQ(client.Read()["alignment"]["charStartTimesMs"], json({0, 1, 2}));
}

TEST_F(SpeakingStreamSessionTest, AFlushSpeaksASentenceThatHasNotEnded) {
  Client client(backend_.services(), Options(false));
  client.Send({{"text", "and then"}});
  EXPECT_FALSE(client.session.Take());
  client.Send({{"text", " "}, {"flush", true}});
  EXPECT_EQ(client.Read()["alignment"]["chars"].size(), 9U);
}

TEST_F(SpeakingStreamSessionTest, InAutoModeEachMessageIsSpoken) {
  StreamOptions options = Options(true);
  options.auto_mode = true;
  Client client(backend_.services(), options);
  client.Send({{"text", "one two "}, {"context_id", "c"}});
  EXPECT_EQ(client.Read()["contextId"], "c");
}

TEST_F(StreamSessionTest, SsmlIsSpokenBySentencesWhoseElementsAreWhole) {
  std::vector<models::SynthesizeInput> seen;
  backend_.Add(VoiceInfo("joe"), {.complete = [&](models::Request& request) {
                 seen.push_back(std::get<models::SynthesizeInput>(request.input()));
                 models::SynthesizeOutput part;
                 part.sample_rate = 8000;
                 part.text = seen.back().text;
                 part.samples.assign(80, 0.5F);
                 request.Emit(std::move(part));
                 request.Finish(absl::OkStatus());
               }});
  StreamOptions options = Options(true);
  options.speech.text_format = SpeechTextFormat::kSsmlFragment;
  Client client(backend_.services(), options);
  // The first sentence is heard while a tag is still being sent.
  client.Send({{"text", "One. <bre"}, {"context_id", "a"}, {"flush", true}});
  EXPECT_FALSE(client.Read()["audio"].is_null());
  client.Send({{"text", "ak time='1s'/><voice name='ash'>Two. Three."}, {"context_id", "a"}});
  // A flush does not cut an element.
  client.Send({{"text", " Four"}, {"context_id", "a"}, {"flush", true}});
  client.Send({{"text", "</voice> <s>five</s>"}, {"context_id", "a"}});
  client.Send({{"text", "<s>six</s>"}, {"context_id", "a"}, {"flush", true}});
  client.Send({{"context_id", "a"}, {"close_context", true}});
  while (client.Read()["isFinal"] != true) {
  }
  AwaitQuiet();
  EXPECT_EQ(Ended(StatusCode::kOk), 1);
  std::string spoken;
  models::SpeechBreak before_six = models::SpeechBreak::kNone;
  for (const models::SynthesizeInput& input : seen) {
    spoken += input.text + "|";
    for (const models::SpeechPart& part : input.markup.parts) {
      const std::string text = input.text.substr(part.begin, part.end - part.begin);
      EXPECT_EQ(part.manner.voice, text == "Two. Three. Four" ? "second" : "") << text;
      if (text == "six") before_six = std::max(input.break_before, part.break_before);
    }
  }
  EXPECT_THAT(spoken, HasSubstr("One."));
  EXPECT_THAT(spoken, HasSubstr("Two. Three. Four"));
  EXPECT_EQ(before_six, models::SpeechBreak::kSentence);
}

TEST_F(SpeakingStreamSessionTest, APauseThatStandsAloneIsHeard) {
  constexpr size_t kBytesOfPause = 2 * 8000;
  StreamOptions options = Options(false);
  options.speech.text_format = SpeechTextFormat::kSsmlFragment;
  Client alone(backend_.services(), options);
  alone.Send({{"text", "<break time=\"1s\"/>"}});
  alone.Send({{"text", ""}});
  EXPECT_EQ(alone.ReadText(), "");
  EXPECT_EQ(alone.audio_bytes(), kBytesOfPause);
  EXPECT_EQ(alone.Read(), "closed 1000");
  // So is one between two texts.
  Client between(backend_.services(), options);
  for (const char* text : {"One.", "<break time=\"1s\"/>", "Two."})
    between.Send({{"text", text}, {"flush", true}});
  between.Send({{"text", ""}});
  EXPECT_EQ(between.ReadText(), "One. Two. ");
  EXPECT_EQ(between.audio_bytes(), 2 * 8 * std::string("One.Two.").size() + kBytesOfPause);
  AwaitQuiet();
  EXPECT_EQ(Ended(StatusCode::kOk), 2);
}

TEST_F(SpeakingStreamSessionTest, BadSsmlEndsItsContextByNameAndPlace) {
  StreamOptions options = Options(true);
  options.speech.text_format = SpeechTextFormat::kSsmlFragment;
  const std::pair<std::string, std::string> cases[] = {
      {"Yes. <mark/>No. ", "text: line 1, column 6: the element 'mark' is not supported"},
      {"Yes. <voice name='bob'>No.</voice>", "<voice>: name: model 'joe' has no voice 'bob'"},
      {"Yes. <prosody rate='fast'>No.", "text: line 1, column 6: <prosody>: is not closed"},
      {"Yes. &nbsp; No.", "the entity '&nbsp;' is not allowed"},
  };
  for (const auto& [text, error] : cases) {
    Client client(backend_.services(), options);
    client.Send({{"text", "Other."}, {"context_id", "b"}, {"flush", true}});
    client.Send({{"text", text}, {"context_id", "a"}, {"flush", true}});
    client.Send({{"context_id", "a"}, {"close_context", true}});
    json message = client.Read();
    while (!message.contains("error")) message = client.Read();
    EXPECT_THAT(message["message"].get<std::string>(), HasSubstr(error));
    EXPECT_EQ(message["contextId"], "a");
    client.Send({{"context_id", "b"}, {"close_context", true}});
    message = client.Read();
    while (message["isFinal"] != true) message = client.Read();
    EXPECT_EQ(message["contextId"], "b");
  }
  AwaitQuiet();
}

TEST_F(SpeakingStreamSessionTest, NothingToSpeakIsAnEndWithoutAudio) {
  Client client(backend_.services(), Options(false));
  client.Send({{"text", ""}});
  const json last = client.Read();
  EXPECT_EQ(last["isFinal"], true);
  EXPECT_TRUE(last["audio"].is_null());
  EXPECT_EQ(client.Read(), "closed 1000");
}

TEST_F(SpeakingStreamSessionTest, TwoContextsSpeakAtOnceEachItsOwnText) {
  Client client(backend_.services(), Options(true));
  for (const char* id : {"a", "b"}) client.Send({{"text", " "}, {"context_id", id}});
  client.Send({{"text", "First text."}, {"context_id", "a"}});
  client.Send({{"text", "Other."}, {"context_id", "b"}});
  for (const char* id : {"a", "b"}) client.Send({{"context_id", id}, {"flush", true}});
  for (const char* id : {"a", "b"}) client.Send({{"context_id", id}, {"close_context", true}});
  std::map<std::string, std::string> texts;
  for (int finals = 0; finals < 2;) {
    const json message = client.Read();
    const std::string id = message["contextId"];
    if (message["isFinal"] == true) ++finals;
    if (message["alignment"].is_null()) continue;
    texts[id] += absl::StrJoin(message["alignment"]["chars"].get<std::vector<std::string>>(), "");
  }
  EXPECT_EQ(texts["a"], " First text. ");
  EXPECT_EQ(texts["b"], " Other. ");
  EXPECT_FALSE(client.session.end());
  EXPECT_TRUE(client.session.idle());
  // The same id may be used again.
  client.Send({{"text", "Again."}, {"context_id", "a"}, {"flush", true}});
  EXPECT_EQ(client.Read()["contextId"], "a");
}

TEST_F(StreamSessionTest, AContextThatIsClosedUnflushedStopsAndTheOtherDoesNot) {
  Gate gate;
  backend_.Add(VoiceInfo("joe"), Voice([&] { gate.Pass(); }));
  Client client(backend_.services(), Options(true));
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

TEST_F(SpeakingStreamSessionTest, CloseSocketSpeaksWhatIsLeftAndCloses) {
  Client client(backend_.services(), Options(true));
  client.Send({{"text", "no end"}, {"context_id", "a"}});
  client.Send({{"close_socket", true}});
  EXPECT_EQ(client.ReadText("a"), "no end ");
  EXPECT_EQ(client.Read(), "closed 1000");
}

TEST_F(SpeakingStreamSessionTest, AnErrorOfOneContextLeavesTheOthers) {
  Client client(backend_.services(), Options(true));
  client.Send({{"text", "Fine. "}, {"context_id", "good"}, {"flush", true}});
  client.Send({{"text", std::string("a\0", 2)}, {"context_id", "bad"}});
  std::vector<std::string> seen;
  for (int i = 0; i < 2; ++i) {
    const json message = client.Read();
    seen.push_back(message.contains("error") ? message["contextId"].get<std::string>() + " " +
                                                   message["error"].get<std::string>()
                                             : message["contextId"].get<std::string>());
  }
  EXPECT_THAT(seen, ::testing::UnorderedElementsAre("good", "bad invalid_request"));
  EXPECT_FALSE(client.session.end());
}

TEST_F(SpeakingStreamSessionTest, BadMessagesAreAnsweredOnceAndCloseTheSession) {
  const std::pair<std::string, std::string> cases[] = {
      {"nonsense", "the message is not valid JSON at byte 2, where 'o' stands"},
      {"{\"event\":1}", "the message has none of text"},
      {"{\"text\":[]}", "text: must be a string, not array"},
  };
  for (const auto& [text, error] : cases) {
    Client client(backend_.services(), Options(true));
    client.Send({{"text", "Yes. "}, {"context_id", "a"}});
    client.SendText(text);
    json message = client.Read();
    while (!message.contains("error")) message = client.Read();
    EXPECT_THAT(message["message"].get<std::string>(), HasSubstr(error));
    EXPECT_EQ(message["code"], 1008);
    EXPECT_EQ(client.Read(), "closed 1008");
    EXPECT_FALSE(client.session.wants_message());
  }
  Client client(backend_.services(), Options(false));
  client.session.Receive({"{}", true});
  EXPECT_EQ(client.Read()["message"], "messages must be text, not binary");
  AwaitQuiet();
}

TEST_F(SpeakingStreamSessionTest, ErrorsOfTheRequestComeAsTheFirstMessage) {
  Client wrong(backend_.services(), absl::InvalidArgumentError("output_format: 'x' is not"));
  EXPECT_EQ(wrong.Read()["message"], "output_format: 'x' is not");
  EXPECT_EQ(wrong.Read(), "closed 1008");
  StreamOptions unknown = Options(false);
  unknown.speech.model = "none";
  Client client(backend_.services(), unknown);
  client.Send({{"text", "a"}});
  const json error = client.Read();
  EXPECT_EQ(error["error"], "model_not_found");
  EXPECT_EQ(client.Read(), "closed 1008");
}

TEST_F(SpeakingStreamSessionTest, MoreContextsThanMayBeAreRefused) {
  Client client(backend_.services(), Options(true));
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
  auto client = std::make_unique<Client>(backend_.services(), Options(false));
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
                 models::SynthesizeOutput part;
                 part.sample_rate = 8000;
                 part.samples.assign(40'000, 0.5F);
                 request.Emit(std::move(part));
                 if (++steps == 1000) request.Finish(absl::OkStatus());
               }});
  Client client(backend_.services(), Options(false));
  client.Send({{"text", "A long text. "}, {"flush", true}});
  // The job is parked after the step that filled the buffer of 64 KiB.
  Await([&] { return steps == 1; });
  Client other(backend_.services(), Options(false));
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
  Client client(backend_.services(), Options(false));
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
  Client client(backend_.services(), Options(true));
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
  Client client(backend_.services(), options);
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
  Client Connect(bool sent_key, absl::StatusOr<StreamOptions> options) {
    return Client(backend_->services(), std::move(options),
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
  Client client = Connect(false, Options());
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
    Client client = Connect(false, absl::InvalidArgumentError("voice: there are: first, second"));
    client.Send(message);
    const json answer = client.Read();
    EXPECT_EQ(answer["error"], "invalid_api_key");
    EXPECT_THAT(answer["message"].get<std::string>(), HasSubstr(error));
    EXPECT_EQ(client.Read(), "closed 1008");
  }
  Client client = Connect(true, Options());
  EXPECT_EQ(client.Read()["message"], "the API key is not known");
}

}  // namespace
}  // namespace millrace::server
