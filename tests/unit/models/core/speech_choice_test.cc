#include "models/core/speech_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::models {
namespace {

ModelInfo Piper(const char* name, const char* language, const char* voice) {
  ModelInfo info;
  info.name = name;
  info.task = Task::kSynthesis;
  info.language = language;
  info.languages = {language};
  info.voices = {voice};
  info.voice_languages = {language};
  info.speech_cost = 1;
  return info;
}

ModelInfo Kokoro() {
  ModelInfo info;
  info.name = "kokoro";
  info.task = Task::kSynthesis;
  info.language = "en-US";
  info.languages = {"en-US", "ja", "es", "fr-FR"};
  info.voices = {"jm", "jf", "ef"};
  info.voice_languages = {"ja", "ja", "es"};
  info.default_voices = {{"ja", "jf"}};
  info.speech_cost = 20;
  return info;
}

std::string Chosen(const std::vector<ModelInfo>& infos, std::string_view language,
                   std::string_view voice = "") {
  std::vector<const ModelInfo*> models;
  for (const ModelInfo& info : infos) models.push_back(&info);
  const ModelInfo* chosen = ChooseSpeechModel(models, language, voice);
  return chosen == nullptr ? "none" : chosen->name;
}

TEST(SpeechChoiceTest, AVoiceWasMadeForTheLanguageOfTheText) {
  const ModelInfo kokoro = Kokoro();
  EXPECT_EQ(DefaultVoice(kokoro, "ja"), "jf");     // as its configuration says
  EXPECT_EQ(DefaultVoice(kokoro, "es-MX"), "ef");  // the first that was made for it
  EXPECT_EQ(DefaultVoice(kokoro, "en-US"), "jm");  // none was: its own default
  EXPECT_EQ(DefaultVoice(kokoro, ""), "jm");
  EXPECT_EQ(DefaultVoice(Piper("p", "de-DE", "thorsten"), "en"), "thorsten");
  EXPECT_EQ(DefaultVoice({}, "en"), "");
}

TEST(SpeechChoiceTest, VoicesForALanguageBeginWithItsDefault) {
  using Voices = std::vector<std::string>;
  const ModelInfo kokoro = Kokoro();
  EXPECT_EQ(VoicesFor(kokoro, "ja-JP"), (Voices{"jf", "jm"}));
  EXPECT_EQ(VoicesFor(kokoro, "es"), Voices{"ef"});
  EXPECT_EQ(VoicesFor(kokoro, "fr"), (Voices{"jm", "jf", "ef"}));  // none was made for it
  EXPECT_EQ(VoicesFor(kokoro, ""), (Voices{"jm", "jf", "ef"}));
  EXPECT_EQ(VoicesFor({}, "en"), Voices());
}

TEST(SpeechChoiceTest, AMixIsAVoiceOfTheModelThatHasAllParts) {
  const ModelInfo kokoro = Kokoro();
  EXPECT_TRUE(HasVoice(kokoro, "jm"));
  EXPECT_TRUE(HasVoice(kokoro, "jm:0.3+jf:0.7"));
  EXPECT_FALSE(HasVoice(kokoro, "jm:0.3+joe:0.7"));
  EXPECT_FALSE(HasVoice(kokoro, "alloy"));
}

TEST(SpeechChoiceTest, AModelWasMadeForTheLanguageOfTheText) {
  const std::vector<ModelInfo> models = {Kokoro(), Piper("piper-de", "de-DE", "eva"),
                                         Piper("piper-us", "en-US", "joe")};
  EXPECT_EQ(Chosen(models, "en"), "piper-us");
  EXPECT_EQ(Chosen(models, "EN-gb"), "piper-us");
  EXPECT_EQ(Chosen(models, "de"), "piper-de");
  EXPECT_EQ(Chosen(models, "ja"), "kokoro");
  EXPECT_EQ(Chosen(models, "fr"), "kokoro");  // it reads French, if with a foreign voice
}

TEST(SpeechChoiceTest, OfTwoThatWereMadeForItTheCheaperSpeaks) {
  ModelInfo american = Kokoro();
  american.name = "a-kokoro";
  american.voice_languages = {"en-US", "ja", "es"};
  EXPECT_EQ(Chosen({american, Piper("piper-us", "en-US", "joe")}, "en"), "piper-us");
  EXPECT_EQ(Chosen({Piper("b", "en-US", "x"), Piper("a", "en-GB", "y")}, "en"), "a");
}

TEST(SpeechChoiceTest, AVoiceIsSpokenByTheModelThatHasIt) {
  const std::vector<ModelInfo> models = {Kokoro(), Piper("piper-us", "en-US", "joe")};
  EXPECT_EQ(Chosen(models, "en", "jf"), "kokoro");
  EXPECT_EQ(Chosen(models, "en", "jf:0.3+jm:0.7"), "kokoro");
  EXPECT_EQ(Chosen(models, "ja", "joe"), "piper-us");
  EXPECT_EQ(Chosen(models, "en", "jf+joe"), "piper-us");  // whose error tells
  EXPECT_EQ(Chosen({}, "en"), "none");
  EXPECT_EQ(Chosen({ModelInfo{}}, "en"), "none");
}

}  // namespace
}  // namespace millrace::models
