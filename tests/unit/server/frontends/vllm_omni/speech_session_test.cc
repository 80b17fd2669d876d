#include "server/frontends/vllm_omni/speech_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/server/requests/fake_voice.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using absl::StatusCode;
using nlohmann::json;
using std::chrono::seconds;
using ::testing::ElementsAre;

// Speaks a sample for each byte of a text and the pause behind it, and fails for "bad".
testing::ModelHooks Voice() {
  return {.complete = [](models::Request& request) {
    const auto& input = std::get<models::SynthesizeInput>(request.input());
    if (input.text.find("bad") != std::string::npos)
      return request.Finish(absl::InternalError("cannot speak that"));
    models::SynthesizeOutput part = Sound(input.text.size(), input.text);
    if (!input.text.empty()) request.Emit(std::move(part));
    if (input.markup.pause_after > 0) {
      models::SynthesizeOutput pause;
      pause.sample_rate = 8000;
      pause.samples.assign(static_cast<size_t>(input.markup.pause_after * 8000), 0.0F);
      request.Emit(std::move(pause));
    }
    request.Finish(absl::OkStatus());
  }};
}

class SpeechSessionTest : public ::testing::Test {
 protected:
  SpeechSessionTest() { backend_.Add(VoiceInfo("joe"), Voice()); }

  std::unique_ptr<SpeechSession> Connect(const absl::Status& access = absl::OkStatus()) {
    return std::make_unique<SpeechSession>(
        SpeechSession::Context{
            .services = backend_.services(), .names = names_, .started = [] { return true; }},
        Caller(), access, [this] { ++changes_; });
  }
  static void Send(SpeechSession& session, const json& message) {
    session.Receive({message.dump()});
    session.Advance();
  }
  // The next message: "type ..." or "N bytes".
  std::string Read(SpeechSession& session) {
    for (;;) {
      const int before = changes_;
      session.Advance();
      if (const auto message = session.Take()) {
        session.OnAllSent();
        if (message->binary) return std::to_string(message->data.size()) + " bytes";
        const json event = json::parse(message->data);
        const std::string type = event.at("type");
        if (type == "error") return "error " + event.at("message").get<std::string>();
        std::string text = type + " " + event.at("utterance_index").dump();
        if (event.contains("sentence_index")) text += " " + event["sentence_index"].dump();
        if (event.contains("sentence_text"))
          text += " " + event["sentence_text"].get<std::string>();
        if (event.contains("total_bytes")) text += " " + event["total_bytes"].dump();
        if (event.value("error", false)) text += " failed";
        if (event.contains("total_sentences")) text += " " + event["total_sentences"].dump();
        return text;
      }
      if (session.end()) return "closed " + std::to_string(static_cast<int>(session.end()->code));
      Await([&] { return changes_ != before; });
    }
  }
  std::vector<std::string> ReadUtterance(SpeechSession& session) {
    std::vector<std::string> all;
    do {
      all.push_back(Read(session));
    } while (!all.back().starts_with("session.done") && !all.back().starts_with("closed"));
    return all;
  }

  static testing::FakeClock& Clock() {
    static testing::FakeClock clock;
    return clock;
  }
  std::atomic<int> changes_{0};
  TestBackend backend_{TestBackend::Options{.max_request_time = seconds(100), .clock = Clock()}};
  const std::shared_ptr<const SpeechNames> names_ =
      std::make_shared<const SpeechNames>(backend_.directory, backend_.services().voice_aliases);
  const json config_ = {
      {"type", "session.config"}, {"voice", "second"}, {"response_format", "pcm"}};
};

TEST_F(SpeechSessionTest, UtterancesFollowEachOtherWithOneConfiguration) {
  const auto session = Connect();
  Send(*session, config_);
  Send(*session, {{"type", "input.text"}, {"text", "It is done. We"}});
  // Before the end of the text.
  EXPECT_EQ(Read(*session), "audio.start 0 0 It is done. ");
  EXPECT_EQ(Read(*session), "24 bytes");
  EXPECT_EQ(Read(*session), "audio.done 0 0 24");
  Send(*session, {{"type", "input.done"}});
  EXPECT_FALSE(session->wants_message());
  EXPECT_THAT(ReadUtterance(*session),
              ElementsAre("audio.start 0 1 We", "4 bytes", "audio.done 0 1 4", "session.done 0 2"));
  EXPECT_TRUE(session->wants_message());
  Send(*session, {{"type", "input.text"}, {"text", "Go"}});
  Send(*session, {{"type", "input.done"}});
  EXPECT_THAT(ReadUtterance(*session),
              ElementsAre("audio.start 1 0 Go", "4 bytes", "audio.done 1 0 4", "session.done 1 1"));
  Send(*session, {{"type", "input.done"}});
  EXPECT_EQ(Read(*session), "session.done 2 0");
  Send(*session, {{"type", "session.close"}});
  EXPECT_EQ(Read(*session), "closed 1000");
  EXPECT_EQ(backend_.Count("joe", Method::kVllmOmniTextStream, StatusCode::kOk), 2);
}

TEST_F(SpeechSessionTest, MembersWithoutEffectAreToldOnceWithTheNextReply) {
  const auto session = Connect();
  json config = config_;
  config["task_type"] = "CustomVoice";
  config["instructions"] = nullptr;
  Send(*session, config);
  Send(*session, {{"type", "input.text"}, {"text", "Go"}, {"language", "pt"}});
  Send(*session, {{"type", "input.done"}, {"text", "more"}});
  const auto warning = [&]() -> std::string {
    for (;;) {
      const int before = changes_;
      session->Advance();
      const auto message = session->Take();
      if (message && !message->binary) return json::parse(message->data).value("warning", "");
      if (!message) Await([&] { return changes_ != before; });
    }
  };
  EXPECT_EQ(warning(), "ignored members: task_type, language, text");
  EXPECT_EQ(warning(), "");
}

TEST_F(SpeechSessionTest, AFileIsMadeOfEachSentence) {
  const auto session = Connect();
  Send(*session, {{"type", "session.config"}});
  Send(*session, {{"type", "input.text"}, {"text", "One. Two"}});
  Send(*session, {{"type", "input.done"}});
  EXPECT_THAT(
      ReadUtterance(*session),
      ElementsAre("audio.start 0 0 One. ", "54 bytes", "audio.done 0 0 54", "audio.start 0 1 Two",
                  "50 bytes", "audio.done 0 1 50", "session.done 0 2"));
}

TEST_F(SpeechSessionTest, APauseBehindASentenceIsHeard) {
  const auto session = Connect();
  json config = config_;
  config["text_format"] = "tags";
  Send(*session, config);
  Send(*session, {{"type", "input.text"}, {"text", "It is done. [pause:20ms]"}});
  Send(*session, {{"type", "input.done"}});
  EXPECT_THAT(
      ReadUtterance(*session),
      ElementsAre("audio.start 0 0 It is done. ", "24 bytes", "audio.done 0 0 24",
                  "audio.start 0 1 ", "320 bytes", "audio.done 0 1 320", "session.done 0 2"));
  // By itself it is a text too.
  Send(*session, {{"type", "input.text"}, {"text", "[pause:10ms]"}});
  Send(*session, {{"type", "input.done"}});
  EXPECT_THAT(ReadUtterance(*session), ElementsAre("audio.start 1 0 ", "160 bytes",
                                                   "audio.done 1 0 160", "session.done 1 1"));
  // The rest of a resampler is no pause.
  config["response_format"] = "opus";
  Send(*session, config);
  Send(*session, {{"type", "input.text"}, {"text", "Go. [pause:500ms]"}});
  Send(*session, {{"type", "input.done"}});
  EXPECT_EQ(ReadUtterance(*session).back(), "session.done 2 2");
}

TEST_F(SpeechSessionTest, SsmlIsSpokenOnceItsDocumentHasEnded) {
  const auto session = Connect();
  json config = config_;
  config["text_format"] = "ssml";
  Send(*session, config);
  for (const char* text : {"<speak>It is", " done.<bre", "ak time='20ms'/></speak>"})
    Send(*session, {{"type", "input.text"}, {"text", text}});
  EXPECT_EQ(session->Take(), std::nullopt);
  Send(*session, {{"type", "input.done"}});
  EXPECT_THAT(
      ReadUtterance(*session),
      ElementsAre("audio.start 0 0 It is done.", "22 bytes", "audio.done 0 0 22",
                  "audio.start 0 1 ", "320 bytes", "audio.done 0 1 320", "session.done 0 2"));
  Send(*session, {{"type", "input.text"}, {"text", "<speak>It is"}});
  Send(*session, {{"type", "input.done"}});
  const std::string error = Read(*session);
  EXPECT_TRUE(error.starts_with("error text: line 1, column")) << error;
  EXPECT_EQ(Read(*session), "session.done 1 0");
}

TEST_F(SpeechSessionTest, AnErrorEndsItsUtteranceAlone) {
  const auto session = Connect();
  Send(*session, config_);
  Send(*session, {{"type", "input.text"}, {"text", "bad"}});
  Send(*session, {{"type", "input.done"}});
  EXPECT_THAT(ReadUtterance(*session), ElementsAre("error cannot speak that", "session.done 0 0"));
  Send(*session, {{"type", "input.text"}, {"text", "Good"}});
  Send(*session, {{"type", "input.done"}});
  EXPECT_EQ(ReadUtterance(*session).back(), "session.done 1 1");
}

TEST_F(SpeechSessionTest, ATextThatFailsEarlyHasOneEnd) {
  const auto session = Connect();
  Send(*session, config_);
  Send(*session, {{"type", "input.text"}, {"text", "bad. And then"}});
  EXPECT_EQ(Read(*session), "error cannot speak that");
  Send(*session, {{"type", "input.text"}, {"text", " nothing of the rest."}});
  Send(*session, {{"type", "input.done"}});
  EXPECT_EQ(Read(*session), "session.done 0 0");
  Send(*session, {{"type", "input.text"}, {"text", "Good"}});
  Send(*session, {{"type", "input.done"}});
  EXPECT_EQ(ReadUtterance(*session).back(), "session.done 1 1");
}

TEST_F(SpeechSessionTest, AConfigurationEndsATextThatFailed) {
  const auto session = Connect();
  Send(*session, config_);
  Send(*session, {{"type", "input.text"}, {"text", "bad. And then"}});
  EXPECT_EQ(Read(*session), "error cannot speak that");
  Send(*session, config_);
  EXPECT_EQ(Read(*session), "session.done 0 0");
  Send(*session, {{"type", "input.text"}, {"text", "Good"}});
  Send(*session, {{"type", "input.done"}});
  EXPECT_EQ(ReadUtterance(*session).back(), "session.done 1 1");
}

TEST_F(SpeechSessionTest, WhatIsWrongIsNamedAndTheSessionGoesOn) {
  const auto session = Connect();
  const std::pair<json, std::string> cases[] = {
      {{{"type", "input.text"}, {"text", "a"}}, "input.text: needs session.config before it"},
      {{{"type", "input.done"}}, "input.done: needs session.config before it"},
      {{{"type", "session.config"}, {"stream_audio", true}},
       "stream_audio: needs the response_format pcm, not wav"},
      {{{"type", "session.config"}, {"text_format", "SSML"}},
       "text_format: 'SSML' is not allowed; it is text, tags or ssml"},
      {{{"type", "session.config"}, {"text_format", 1}},
       "text_format: must be a string, not number '1'"},
      {{{"type", "session.config"}, {"split_granularity", "clause"}},
       "split_granularity: 'clause' is not available; sentence is"},
      {{{"type", "session.config"}, {"speed", 1e39}},
       "speed: 1e+39 is not allowed; it is a number of 0.25..4"},
      {{{"type", "session.config"}, {"ref_audio", "x"}},
       "ref_audio: voices cannot be cloned; name one as voice"},
      {json::array(), "the message must be a JSON object, not array '[]'"},
      {{{"type", "other"}},
       "type: 'other' is not known; it is session.config, input.text, input.done or session.close"},
  };
  for (const auto& [message, error] : cases) {
    Send(*session, message);
    EXPECT_EQ(Read(*session), "error " + error);
  }
  Send(*session, config_);
  Send(*session, {{"type", "input.text"}, {"text", "a"}});
  Send(*session, config_);
  EXPECT_EQ(Read(*session), "error session.config: comes before the input.done of the text before");
  EXPECT_FALSE(session->end());
}

TEST_F(SpeechSessionTest, AWrongKeyEndsTheSession) {
  const auto session = Connect(absl::UnauthenticatedError("the API key is not known"));
  EXPECT_EQ(Read(*session), "error the API key is not known");
  EXPECT_EQ(Read(*session), "closed 1008");
}

TEST_F(SpeechSessionTest, AnIdleSessionIsClosed) {
  const auto session = Connect();
  EXPECT_EQ(session->due(), Clock().Now() + std::chrono::minutes(5));
  Clock().Advance(std::chrono::minutes(5));
  EXPECT_EQ(Read(*session), "error the connection was idle for too long");
  EXPECT_EQ(Read(*session), "closed 1000");
}

TEST_F(SpeechSessionTest, AnUtteranceLastsNoLongerThanARequestMay) {
  const auto session = Connect();
  Send(*session, config_);
  Send(*session, {{"type", "input.text"}, {"text", "and then"}});
  Clock().Advance(seconds(100));
  EXPECT_EQ(Read(*session), "error the text has lasted as long as one may");
  Send(*session, {{"type", "input.done"}});
  EXPECT_EQ(Read(*session), "session.done 0 0");
}

}  // namespace
}  // namespace millrace::server
