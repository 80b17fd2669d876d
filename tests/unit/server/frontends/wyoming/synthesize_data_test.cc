#include "server/frontends/wyoming/synthesize_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "models/text/language_detector.h"
#include "nlohmann/json.hpp"
#include "tests/fakes/needed.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SynthesizeDataTest : public ::testing::Test {
 protected:
  SynthesizeDataTest() {
    Add("cheap", {"joe"}, {"en-US"}, 1);
    Add("rich", {"ann", "bia", "cid"}, {"en-GB", "pt-BR", ""}, 9);
    backend_.Add(TranslatorInfo("enpt", "en", "pt"), {});
  }
  void Add(const std::string& name, std::vector<std::string> voices,
           std::vector<std::string> languages, float cost) {
    models::ModelInfo info = VoiceInfo(name);
    info.speech().voices = std::move(voices);
    info.speech().voice_languages = std::move(languages);
    info.speech().language = "en-US";
    info.speech().languages = {"en-US", "en-GB", "pt-BR"};
    info.speech().speech_cost = cost;
    backend_.Add(std::move(info), {});
  }
  // "model voice language" of what an event's data asks for, or the error.
  std::string Chosen(const std::string& data, std::string_view text = "") {
    const auto request = ParseSpeechOptions(json::parse(data), backend_.directory, text, ignored_);
    if (!request.ok()) return std::string(request.status().message());
    return request->model + " " + request->voice + " " + request->language;
  }

  TestBackend backend_;
  std::vector<std::string> ignored_;
};

TEST_F(SynthesizeDataTest, MembersWithoutEffectAreKept) {
  Chosen(
      R"({"text":"x","voice":{"name":"joe","pitch":2,"speaker":null},"context":{"a":[1]},"rate":1})");
  EXPECT_THAT(ignored_, ElementsAre("context", "rate", "voice.pitch"));
}

TEST_F(SynthesizeDataTest, WithoutAVoiceTheServersDefaultSpeaks) {
  for (const char* data : {"{}", R"({"voice":null,"context":{"a":[1]},"text":"x"})",
                           R"({"voice":{}})", R"({"voice":{"name":null},"text_format":"text"})"})
    EXPECT_EQ(Chosen(data), "cheap  ") << data;
}

TEST_F(SynthesizeDataTest, WithoutAVoiceTheLanguageIsThatOfTheText) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "this build detects no languages");
  constexpr char kPortuguese[] = "Bom dia a todos, como vai você hoje?";
  EXPECT_EQ(Chosen("{}", kPortuguese), "rich  pt");
  EXPECT_EQ(Chosen(R"({"voice":{"language":"en-US"}})", kPortuguese), "cheap  en-US");
  EXPECT_EQ(Chosen(R"({"voice":{"name":"joe"}})", kPortuguese), "cheap joe en-US");
  for (const char* text : {"Done", "OK Computer", "Buenos días a todos, ¿cómo están ustedes hoy?"})
    EXPECT_EQ(Chosen("{}", text), "cheap  ") << text;
}

TEST_F(SynthesizeDataTest, AVoiceIsNamedAsInfoHasItOrByItselfOrByItsModel) {
  EXPECT_EQ(Chosen(R"({"voice":{"name":"rich/bia"}})"), "rich bia pt-BR");
  EXPECT_EQ(Chosen(R"({"voice":{"name":"bia"}})"), "rich bia pt-BR");
  EXPECT_EQ(Chosen(R"({"voice":{"name":"joe"}})"), "cheap joe en-US");
  EXPECT_EQ(Chosen(R"({"voice":{"name":"rich"}})"), "rich  ");
  EXPECT_EQ(Chosen(R"({"voice":{"name":"rich","speaker":"ann"}})"), "rich ann en-GB");
  EXPECT_EQ(Chosen(R"({"voice":{"name":"rich/ann","speaker":"ann"}})"), "rich ann en-GB");
  EXPECT_EQ(Chosen(R"({"voice":{"name":"rich/bia:0.5+ann:0.5"}})"), "rich bia:0.5+ann:0.5 pt-BR");
  // If the language of the voice is not known, the model's default is taken.
  EXPECT_EQ(Chosen(R"({"voice":{"name":"rich/cid"}})"), "rich cid ");
}

TEST_F(SynthesizeDataTest, TheCaseOfLettersTellsNoModelsApartUnlessTheirNamesDo) {
  EXPECT_EQ(Chosen(R"({"voice":{"name":"Rich/BIA"}})"), "rich BIA pt-BR");
  EXPECT_EQ(Chosen(R"({"voice":{"name":"RICH"}})"), "rich  ");
  EXPECT_EQ(Chosen(R"({"voice":{"name":"RICH","speaker":"Ann"}})"), "rich Ann en-GB");
  EXPECT_EQ(Chosen(R"({"voice":{"name":"rich/ann","speaker":"ANN"}})"), "rich ann en-GB");
  EXPECT_THAT(Chosen(R"({"voice":{"name":"RICHER/bia"}})"), HasSubstr("'RICHER/bia'"));
  Add("RICH", {"dan"}, {"en-US"}, 9);
  EXPECT_EQ(Chosen(R"({"voice":{"name":"RICH"}})"), "RICH  ");
  EXPECT_EQ(Chosen(R"({"voice":{"name":"rich/bia"}})"), "rich bia pt-BR");
}

TEST_F(SynthesizeDataTest, ALanguageChoosesTheModelUnlessAVoiceIsNamed) {
  EXPECT_EQ(Chosen(R"({"voice":{"language":"pt"}})"), "rich  pt");
  EXPECT_EQ(Chosen(R"({"voice":{"language":"en"}})"), "cheap  en");
  EXPECT_EQ(Chosen(R"({"voice":{"language":"en","name":"bia"}})"), "rich bia pt-BR");
  // Nobody speaks it: the error is not to name the languages of one model alone.
  EXPECT_EQ(Chosen(R"({"voice":{"language":"xx"}})"), "  xx");
}

TEST_F(SynthesizeDataTest, ErrorsNameTheMemberAndWhatIsAllowed) {
  EXPECT_EQ(Chosen(R"({"voice":{"name":"nobody"}})"),
            "voice.name: 'nobody' is not available; these are: cheap/joe, rich/ann, rich/bia, "
            "rich/cid");
  EXPECT_THAT(Chosen(R"({"voice":{"name":"rich/joe"}})"), HasSubstr("'rich/joe' is not available"));
  EXPECT_THAT(Chosen(R"({"voice":{"name":"enpt"}})"), HasSubstr("'enpt' is not available"));
  EXPECT_THAT(Chosen(R"({"voice":{"name":"cheap","speaker":"ann"}})"),
              HasSubstr("voice.speaker: 'ann'"));
  EXPECT_THAT(Chosen(R"({"voice":{"name":"joe","speaker":"ann"}})"),
              HasSubstr("voice.speaker: 'ann'"));
  EXPECT_THAT(Chosen(R"({"voice":{"speaker":"ann"}})"),
              HasSubstr("voice.speaker: needs voice.name"));
  EXPECT_EQ(Chosen(R"({"voice":"joe"})"), "voice: must be a JSON object, not string 'joe'");
  EXPECT_EQ(Chosen(R"({"voice":{"name":7}})"), "voice.name: must be a string, not number '7'");
  EXPECT_EQ(Chosen(R"({"voice":{"language":[]}})"),
            "voice.language: must be a string, not array '[]'");
  EXPECT_EQ(Chosen(R"({"text_format":"SSML"})"),
            "text_format: 'SSML' is not allowed; it is text, tags or ssml");
  EXPECT_EQ(Chosen(R"({"text_format":1})"), "text_format: must be a string, not number '1'");
}

TEST_F(SynthesizeDataTest, WithoutVoicesNothingIsChosen) {
  backend_.directory.Remove("cheap");
  backend_.directory.Remove("rich");
  EXPECT_EQ(Chosen("{}"), "no speech model is loaded");
}

TEST_F(SynthesizeDataTest, ATextIsAStringOfBoundedLength) {
  EXPECT_EQ(*ParseEventText(json::parse(R"({"text":"Hi."})")), "Hi.");
  EXPECT_EQ(*ParseEventText(json::parse(R"({"text":""})")), "");
  EXPECT_EQ(ParseEventText(json::object()).status().message(), "text: is missing");
  EXPECT_EQ(ParseEventText(json::parse(R"({"text":null})")).status().message(),
            "text: must be a string, not null");
  EXPECT_TRUE(ParseEventText({{"text", std::string(200'000, 'a')}}).ok());
  EXPECT_THAT(std::string(ParseEventText({{"text", std::string(200'001, 'a')}}).status().message()),
              HasSubstr("text: has 200001 characters"));
}

}  // namespace
}  // namespace millrace::server
