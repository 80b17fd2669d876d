// Requests that OpenAI does not document but clients send: aliases, members and paths of others.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "httplib.h"
#include "nlohmann/json.hpp"
#include "tests/unit/server/frontends/openai/openai_routes_fixture.h"
#include "tests/unit/server/requests/fake_voice.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

using OpenAiClientsTest = OpenAiRoutesTest;

TEST_F(OpenAiClientsTest, OpenAisVoicesAreAnsweredAndListedApart) {
  Serve();
  server_->services().voice_aliases = VoiceAliases::value_type{{"nova", "second"}};
  server_->Add(InferInfo("null"), {});
  server_->Add(VoiceInfo("joe"), {.complete = SpeakOnce});
  EXPECT_EQ(Post(Say(R"("voice": "alloy")")).status, 200);
  const json answer = json::parse(Get("/v1/audio/voices?model=joe").body);
  EXPECT_EQ(answer.at("voices").size(), 2U);
  EXPECT_EQ(answer.at("aliases").size(), 13U);
  EXPECT_EQ(answer.at("aliases")[0],
            json::parse(R"({"id": "alloy", "model": "joe", "voice": "first"})"));
  EXPECT_THAT(answer.at("aliases"),
              Contains(json::parse(R"({"id": "nova", "model": "joe", "voice": "second"})")));
  EXPECT_TRUE(json::parse(Get("/v1/audio/voices?model=null").body).at("aliases").empty());
}

TEST_F(OpenAiClientsTest, IgnoredMembersAreNamedInAWarning) {
  Serve();
  server_->Add(VoiceInfo("joe"), {.complete = SpeakOnce});
  const Answer warned = Post(Say(R"("tempo": 2, "user": "u", "a\r\nX-Evil: 1": 1)"));
  EXPECT_EQ(warned.status, 200);
  EXPECT_EQ(warned.headers.find("Warning")->second,
            "299 millrace \"ignored members: a??X-Evil:?1, tempo, user\"");
  EXPECT_FALSE(warned.headers.contains("X-Evil"));
  EXPECT_FALSE(Post(Say()).headers.contains("Warning"));
}

TEST_F(OpenAiClientsTest, ALanguageIsRefusedByTheMemberThatNamedIt) {
  Serve();
  server_->Add(VoiceInfo("joe"), {.validate = [](const models::Input& input) {
                 const auto& language = std::get<models::SynthesizeInput>(input).language;
                 return absl::InvalidArgumentError("language: '" + language + "' is not spoken");
               }});
  EXPECT_EQ(Post(Say(R"("language": "fr")")).error().at("message"), "language: 'fr' is not spoken");
  const Answer code = Post(Say(R"("lang_code": "z")"));
  EXPECT_EQ(code.error().at("message"), "lang_code: 'zh' is not spoken");
  EXPECT_EQ(code.error().at("param"), "lang_code");
}

TEST_F(OpenAiClientsTest, TheVolumeIsThatAskedFor) {
  Serve();
  server_->Add(VoiceInfo("joe"), {.complete = SpeakOnce});
  const std::string half = Post(Say(R"("volume_multiplier": 0.5)")).body;
  const std::string whole = Post(Say()).body;
  ASSERT_EQ(half.size(), whole.size());
  EXPECT_EQ(whole.substr(0, 2), std::string("\0\x40", 2));
  EXPECT_EQ(half.substr(0, 2), std::string("\0\x20", 2));
}

TEST_F(OpenAiClientsTest, CaptionsHaveTheAudioAndTheTimesOfItsWords) {
  Serve();
  server_->Add(VoiceInfo("joe"), {.complete = [](models::Request& request) {
                 for (size_t i = 0; i < 2; ++i) {
                   models::SynthesizeOutput part = Sound(4000);
                   part.sentence_index = i;
                   part.words = {{"Hi", 800, 1600, 0}};
                   request.Emit(std::move(part));
                 }
                 request.Finish(absl::OkStatus());
               }});
  const auto ask = [this](const std::string& members) {
    return Post(R"({"model": "kokoro", "voice": "alloy", "input": "Hi. Hi.", "sample_rate": 8000,
                    "response_format": "pcm")" +
                    members + "}",
                {}, "/dev/captioned_speech");
  };
  const Answer stream = ask("");
  EXPECT_EQ(stream.status, 200) << stream.body;
  EXPECT_EQ(stream.headers.find("Content-Type")->second, "application/json");
  std::vector<json> captions;
  std::istringstream lines(stream.body);
  for (std::string line; std::getline(lines, line);) captions.push_back(json::parse(line));
  ASSERT_EQ(captions.size(), 2U);
  EXPECT_EQ(captions[0].at("audio_format"), "audio/pcm");
  EXPECT_EQ(captions[0].at("timestamps"),
            json::parse(R"([{"word": "Hi", "start_time": 0.1, "end_time": 0.2}])"));
  EXPECT_EQ(captions[1].at("timestamps")[0].at("start_time"), 0.6);
  const json whole = json::parse(ask(R"(, "stream": false)").body);
  EXPECT_EQ(whole.size(), 3U);
  EXPECT_EQ(whole.at("timestamps").size(), 2U);
  std::string audio, first;
  ASSERT_TRUE(absl::Base64Unescape(whole.at("audio").get<std::string>(), &audio));
  EXPECT_EQ(audio.size(), 16'000U);
  ASSERT_TRUE(absl::Base64Unescape(captions[0].at("audio").get<std::string>(), &first));
  EXPECT_EQ(audio.substr(0, first.size()), first);
  AwaitAllEnded();
  EXPECT_EQ(server_->Count("joe", Method::kHttpSpeech, absl::StatusCode::kOk), 2);
}

TEST_F(OpenAiClientsTest, WrongCaptionsAreRefusedInOpenAisShape) {
  Serve();
  server_->Add(VoiceInfo("joe"), {.complete = SpeakOnce});
  const auto ask = [this](const std::string& body) {
    return Post(body, {}, "/dev/captioned_speech");
  };
  EXPECT_EQ(ask("{").status, 400);
  EXPECT_EQ(ask(R"({"input": "x", "stream": 1})").error().at("param"), "stream");
  EXPECT_EQ(ask(R"({"input": "x", "voice": "nobody"})").error().at("param"), "voice");
  EXPECT_EQ(ask(R"({"input": "x", "model": "nil"})").status, 404);
  const Answer whole = ask(R"({"stream": false, "input": ")" + std::string(5001, 'a') + "\"}");
  EXPECT_EQ(whole.error().at("param"), "input");
  EXPECT_THAT(whole.error().at("message").get<std::string>(), HasSubstr("5000"));
  EXPECT_EQ(ask(std::string(100'001, ' ')).error().at("message"),
            "body is larger than the 100000 bytes allowed");
  EXPECT_EQ(Get("/dev/captioned_speech").status, 405);
}

}  // namespace
}  // namespace millrace::server
