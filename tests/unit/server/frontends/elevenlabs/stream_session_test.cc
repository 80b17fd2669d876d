#include "server/frontends/elevenlabs/stream_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "tests/unit/server/frontends/elevenlabs/stream_session_fixture.h"
#include "tests/unit/server/requests/fake_voice.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using absl::StatusCode;
using nlohmann::json;
using ::testing::HasSubstr;

TEST_F(SpeakingStreamSessionTest, ATextIsHeardWhileItIsWrittenAndItsEndCloses) {
  StreamClient client(backend_.services(), Options(false));
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

TEST_F(SpeakingStreamSessionTest, MembersWithoutEffectAreToldOnceWithTheNextMessage) {
  for (const bool multi : {false, true}) {
    StreamClient client(backend_.services(), Options(multi));
    client.Send({{"text", "Go "},
                 {"flush", true},
                 {"voice_settings", {{"stability", 0.5}, {"speed", 1}, {"style", nullptr}}},
                 {"seed", 7}});
    EXPECT_EQ(client.Read()["warning"], "ignored members: seed, voice_settings.stability");
    client.Send({{"text", "on "}, {"flush", true}});
    EXPECT_FALSE(client.Read().contains("warning"));
    client.Send({{"close_socket", true}, {"reason", "done"}});
    EXPECT_EQ(client.Read()["warning"], "ignored members: reason");
  }
}

TEST_F(SpeakingStreamSessionTest, TimesAreOfEachMessageFromZero) {
  StreamClient client(backend_.services(), Options(false));
  client.Send({{"text", "A bc. D"}, {"flush", false}});
  const json first = client.Read();
  EXPECT_EQ(first["alignment"]["charStartTimesMs"], json({0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(first["alignment"]["charDurationsMs"], json({1, 1, 1, 1, 1, 0}));
  client.Send({{"text", "e"}, {"flush", true}});
  EXPECT_EQ(client.Read()["alignment"]["charStartTimesMs"], json({0, 1, 2}));
}

TEST_F(SpeakingStreamSessionTest, AFlushSpeaksASentenceThatHasNotEnded) {
  StreamClient client(backend_.services(), Options(false));
  client.Send({{"text", "and then"}});
  EXPECT_FALSE(client.session.Take());
  client.Send({{"text", " "}, {"flush", true}});
  EXPECT_EQ(client.Read()["alignment"]["chars"].size(), 9U);
}

TEST_F(SpeakingStreamSessionTest, InAutoModeEachMessageIsSpoken) {
  StreamOptions options = Options(true);
  options.auto_mode = true;
  StreamClient client(backend_.services(), options);
  client.Send({{"text", "one two "}, {"context_id", "c"}});
  EXPECT_EQ(client.Read()["contextId"], "c");
}

TEST_F(StreamSessionTest, SsmlIsSpokenBySentencesWhoseElementsAreWhole) {
  std::vector<models::SynthesizeInput> seen;
  backend_.Add(VoiceInfo("joe"), {.complete = [&](models::Request& request) {
                 seen.push_back(std::get<models::SynthesizeInput>(request.input()));
                 request.Emit(Sound(80, seen.back().text));
                 request.Finish(absl::OkStatus());
               }});
  StreamOptions options = Options(true);
  options.speech.text_format = SpeechTextFormat::kSsmlFragment;
  StreamClient client(backend_.services(), options);
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
  StreamClient alone(backend_.services(), options);
  alone.Send({{"text", "<break time=\"1s\"/>"}});
  alone.Send({{"text", ""}});
  EXPECT_EQ(alone.ReadText(), "");
  EXPECT_EQ(alone.audio_bytes(), kBytesOfPause);
  EXPECT_EQ(alone.Read(), "closed 1000");
  // So is one between two texts.
  StreamClient between(backend_.services(), options);
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
    StreamClient client(backend_.services(), options);
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
  StreamClient client(backend_.services(), Options(false));
  client.Send({{"text", ""}});
  const json last = client.Read();
  EXPECT_EQ(last["isFinal"], true);
  EXPECT_TRUE(last["audio"].is_null());
  EXPECT_EQ(client.Read(), "closed 1000");
}

TEST_F(SpeakingStreamSessionTest, TwoContextsSpeakAtOnceEachItsOwnText) {
  StreamClient client(backend_.services(), Options(true));
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

TEST_F(SpeakingStreamSessionTest, CloseSocketSpeaksWhatIsLeftAndCloses) {
  StreamClient client(backend_.services(), Options(true));
  client.Send({{"text", "no end"}, {"context_id", "a"}});
  client.Send({{"close_socket", true}});
  EXPECT_EQ(client.ReadText("a"), "no end ");
  EXPECT_EQ(client.Read(), "closed 1000");
}

TEST_F(SpeakingStreamSessionTest, AnErrorOfOneContextLeavesTheOthers) {
  StreamClient client(backend_.services(), Options(true));
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
    StreamClient client(backend_.services(), Options(true));
    client.Send({{"text", "Yes. "}, {"context_id", "a"}});
    client.SendText(text);
    json message = client.Read();
    while (!message.contains("error")) message = client.Read();
    EXPECT_THAT(message["message"].get<std::string>(), HasSubstr(error));
    EXPECT_EQ(message["code"], 1008);
    EXPECT_EQ(client.Read(), "closed 1008");
    EXPECT_FALSE(client.session.wants_message());
  }
  StreamClient client(backend_.services(), Options(false));
  client.session.Receive({"{}", true});
  EXPECT_EQ(client.Read()["message"], "messages must be text, not binary");
  AwaitQuiet();
}

TEST_F(SpeakingStreamSessionTest, ErrorsOfTheRequestComeAsTheFirstMessage) {
  StreamClient wrong(backend_.services(), absl::InvalidArgumentError("output_format: 'x' is not"));
  EXPECT_EQ(wrong.Read()["message"], "output_format: 'x' is not");
  EXPECT_EQ(wrong.Read(), "closed 1008");
  StreamOptions unknown = Options(false);
  unknown.speech.model = "none";
  StreamClient client(backend_.services(), unknown);
  client.Send({{"text", "a"}});
  const json error = client.Read();
  EXPECT_EQ(error["error"], "model_not_found");
  EXPECT_EQ(client.Read(), "closed 1008");
}

}  // namespace
}  // namespace millrace::server
