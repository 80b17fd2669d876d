#include "server/frontends/riva/riva_voices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/server/requests/test_backend.h"

namespace millrace::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

models::ModelInfo Speech(const std::string& name, models::SpeechInfo speech) {
  models::ModelInfo info;
  info.name = name;
  info.details = std::move(speech);
  return info;
}

class RivaVoicesTest : public ::testing::Test {
 protected:
  RivaVoicesTest() {
    backend_.Add(Speech("piper-joe", {.voices = {"joe"},
                                      .language = "en-US",
                                      .languages = {"en-US"},
                                      .voice_languages = {"en-US"},
                                      .sample_rate = 8000}),
                 {});
    backend_.Add(Speech("kokoro", {.voices = {"heart", "alpha", "bella"},
                                   .language = "en-US",
                                   .languages = {"en-US", "ja"},
                                   .voice_languages = {"en-US", "ja", "en-US"},
                                   .speech_cost = 20,
                                   .sample_rate = 8000}),
                 {});
  }

  // "model/voice/language", or the error's message.
  std::string Chosen(const std::string& name, const std::string& language = "en-US") {
    SpeechRequest request;
    request.text = "Hello.";
    request.language = language;
    const absl::Status status = ChooseRivaVoice(name, backend_.services(), request);
    if (!status.ok()) return std::string(status.message());
    return request.model + "/" + request.voice + "/" + request.language;
  }

  TestBackend backend_;
};

TEST_F(RivaVoicesTest, ANameIsOfAModelAndItsVoiceOrOfOneOfThem) {
  EXPECT_EQ(Chosen("kokoro.bella"), "kokoro/bella/en-US");
  EXPECT_EQ(Chosen("kokoro.heart:0.5+bella:0.5"), "kokoro/heart:0.5+bella:0.5/en-US");
  EXPECT_EQ(Chosen("alpha"), "kokoro/alpha/en-US");
  EXPECT_EQ(Chosen("kokoro"), "kokoro//en-US");
}

TEST_F(RivaVoicesTest, WithoutANameTheLanguageDecides) {
  EXPECT_EQ(Chosen(""), "piper-joe//en-US");
  EXPECT_EQ(Chosen("", "ja-JP"), "kokoro//ja-JP");
  EXPECT_EQ(Chosen("", ""), "piper-joe//");
}

TEST_F(RivaVoicesTest, WithoutALanguageItIsTheVoices) {
  EXPECT_EQ(Chosen("kokoro.alpha", ""), "kokoro/alpha/ja");
}

TEST_F(RivaVoicesTest, AnAliasStandsForAVoice) {
  backend_.services().voice_aliases = {{{"English-US.Female-1", "bella"}, {"None", ""}}};
  EXPECT_EQ(Chosen("English-US.Female-1"), "kokoro/bella/en-US");
  EXPECT_THAT(Chosen("None"), HasSubstr("'None' is not available"));
}

TEST_F(RivaVoicesTest, NvidiasVoicesStandForOneOfTheLanguage) {
  EXPECT_EQ(Chosen("Magpie-Multilingual.EN-US.Aria"), "piper-joe//en-US");
  EXPECT_EQ(Chosen("Magpie-Multilingual.JA-JP.Aria", "ja"), "kokoro//ja");
  EXPECT_EQ(Chosen("English-US.Female-1"), "piper-joe//en-US");
  EXPECT_EQ(Chosen("English-US-RadTTS.Male-1"), "piper-joe//en-US");
  EXPECT_EQ(Chosen("english-us.male-1", ""), "piper-joe//en-US");
  EXPECT_EQ(Chosen("Japanese-JP.Female-1", ""), "kokoro//ja-JP");
  EXPECT_THAT(Chosen("English-USA.Female-1"), HasSubstr("is not available"));
  EXPECT_THAT(Chosen("English-US"), HasSubstr("is not available"));
  backend_.services().voice_aliases = {{{"Magpie-Multilingual.EN-US.Aria", "bella"}}};
  EXPECT_EQ(Chosen("Magpie-Multilingual.EN-US.Aria"), "kokoro/bella/en-US");
  backend_.services().voice_aliases.reset();
  EXPECT_THAT(Chosen("Magpie-Multilingual.EN-US.Aria"), HasSubstr("is not available"));
}

TEST_F(RivaVoicesTest, AnUnknownVoiceIsToldTheOthers) {
  for (const char* name : {"aria", "kokoro.", "kokoro.aria", "piper-joe.bella", "."}) {
    EXPECT_THAT(Chosen(name), AllOf(HasSubstr("voice_name: "), HasSubstr(name),
                                    HasSubstr("piper-joe.joe"), HasSubstr("kokoro.alpha")));
  }
}

TEST_F(RivaVoicesTest, NoSpeechModelIsNotFound) {
  TestBackend empty;
  SpeechRequest request;
  EXPECT_EQ(ChooseRivaVoice("", empty.services(), request).code(), absl::StatusCode::kNotFound);
}

TEST_F(RivaVoicesTest, VoicesAreListedByLanguage) {
  nvidia::riva::tts::RivaSynthesisConfigResponse response;
  ASSERT_TRUE(ListRivaVoices("", backend_.directory, response).ok());
  std::vector<std::string> lines;
  for (const auto& config : response.model_config()) {
    const auto& parameters = config.parameters();
    EXPECT_EQ(parameters.at("voice_name"), config.model_name());
    lines.push_back(config.model_name() + " " + parameters.at("language_code") + " " +
                    parameters.at("subvoices"));
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"kokoro en-US heart:0,bella:2", "kokoro ja alpha:1",
                                             "piper-joe en-US joe:0"}));
}

TEST_F(RivaVoicesTest, OneModelIsListedByItsName) {
  nvidia::riva::tts::RivaSynthesisConfigResponse response;
  ASSERT_TRUE(ListRivaVoices("piper-joe", backend_.directory, response).ok());
  EXPECT_EQ(response.model_config_size(), 1);
  const absl::Status status = ListRivaVoices("other", backend_.directory, response);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("model_name: no speech model 'other'"));
}

}  // namespace
}  // namespace millrace::server
