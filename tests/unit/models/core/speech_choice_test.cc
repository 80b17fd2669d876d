#include "models/core/speech_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::models {
namespace {

ModelInfo Piper(const char* name, const char* language, const char* voice) {
  ModelInfo info;
  info.name = name;
  info.details = SpeechInfo{.voices = {voice},
                            .language = language,
                            .languages = {language},
                            .voice_languages = {language},
                            .default_voices = {}};
  return info;
}

ModelInfo Kokoro() {
  ModelInfo info;
  info.name = "kokoro";
  info.details = SpeechInfo{.voices = {"jm", "jf", "ef"},
                            .language = "en-US",
                            .languages = {"en-US", "ja", "es", "fr-FR"},
                            .voice_languages = {"ja", "ja", "es"},
                            .default_voices = {{"ja", "jf"}},
                            .speech_cost = 20};
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
  const SpeechInfo kokoro = Kokoro().speech();
  EXPECT_EQ(DefaultVoice(kokoro, "ja"), "jf");     // as its configuration says
  EXPECT_EQ(DefaultVoice(kokoro, "es-MX"), "ef");  // the first that was made for it
  EXPECT_EQ(DefaultVoice(kokoro, "en-US"), "jm");  // none was: its own default
  EXPECT_EQ(DefaultVoice(kokoro, ""), "jm");
  EXPECT_EQ(DefaultVoice(Piper("p", "de-DE", "thorsten").speech(), "en"), "thorsten");
  EXPECT_EQ(DefaultVoice({}, "en"), "");
}

TEST(SpeechChoiceTest, VoicesForALanguageBeginWithItsDefault) {
  using Voices = std::vector<std::string>;
  const SpeechInfo kokoro = Kokoro().speech();
  EXPECT_EQ(VoicesFor(kokoro, "ja-JP"), (Voices{"jf", "jm"}));
  EXPECT_EQ(VoicesFor(kokoro, "es"), Voices{"ef"});
  EXPECT_EQ(VoicesFor(kokoro, "fr"), (Voices{"jm", "jf", "ef"}));  // none was made for it
  EXPECT_EQ(VoicesFor(kokoro, ""), (Voices{"jm", "jf", "ef"}));
  EXPECT_EQ(VoicesFor({}, "en"), Voices());
}

TEST(SpeechChoiceTest, AMixIsAVoiceOfTheModelThatHasAllParts) {
  const SpeechInfo kokoro = Kokoro().speech();
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
  american.speech().voice_languages = {"en-US", "ja", "es"};
  EXPECT_EQ(Chosen({american, Piper("piper-us", "en-US", "joe")}, "en"), "piper-us");
  EXPECT_EQ(Chosen({Piper("b", "en-US", "x"), Piper("a", "en-GB", "y")}, "en"), "a");
}

TEST(SpeechChoiceTest, AVoiceOfTheRegionComesBeforeOthersOfTheLanguage) {
  ModelInfo british = Kokoro();
  british.name = "british";
  british.speech().voices = {"af", "am", "bf", "bm", "zf", "zm"};
  british.speech().voice_languages = {"en-US", "en-US", "en-GB", "en-GB", "zh-Hans", "zh-Hant"};
  british.speech().default_voices = {{"en", "am"}};
  using Voices = std::vector<std::string>;
  const SpeechInfo& speech = british.speech();
  EXPECT_EQ(DefaultVoice(speech, "en-GB"), "bf");
  EXPECT_EQ(DefaultVoice(speech, "en_us"), "am");  // as its configuration says
  EXPECT_EQ(DefaultVoice(speech, "en"), "am");
  EXPECT_EQ(DefaultVoice(speech, "en-AU"), "am");
  EXPECT_EQ(DefaultVoice(speech, "zh-Hant"), "zm");
  EXPECT_EQ(DefaultVoice(speech, "zh-TW"), "zm");
  EXPECT_EQ(DefaultVoice(speech, "zh-CN"), "zf");
  EXPECT_EQ(VoicesFor(speech, "en-GB"), (Voices{"bf", "bm"}));
  EXPECT_EQ(VoicesFor(speech, "en"), (Voices{"am", "af", "bf", "bm"}));
  EXPECT_EQ(VoicesFor(speech, ""), (Voices{"am", "af", "bf", "bm"}));
  EXPECT_EQ(VoicesFor(speech, "zh-Hant-HK"), Voices{"zm"});

  const std::vector<ModelInfo> models = {british, Piper("piper-us", "en-US", "joe")};
  EXPECT_EQ(Chosen(models, "en-GB"), "british");  // though its speech costs more
  EXPECT_EQ(Chosen(models, "en-US"), "piper-us");
  EXPECT_EQ(Chosen(models, "en"), "piper-us");
  EXPECT_EQ(Chosen({Piper("a", "zh-Hans", "x"), Piper("b", "zh-Hant", "y")}, "zh-Hant"), "b");
  EXPECT_EQ(Chosen({Piper("a", "pt-PT", "x"), Piper("b", "pt-BR", "y")}, "pb"), "b");
}

TEST(SpeechChoiceTest, AVoiceIsSpokenByTheModelThatHasIt) {
  const std::vector<ModelInfo> models = {Kokoro(), Piper("piper-us", "en-US", "joe")};
  EXPECT_EQ(Chosen(models, "en", "jf"), "kokoro");
  EXPECT_EQ(Chosen(models, "en", "jf:0.3+jm:0.7"), "kokoro");
  EXPECT_EQ(Chosen(models, "ja", "joe"), "piper-us");
  EXPECT_EQ(Chosen(models, "en", "jf+joe"), "piper-us");  // the error names it
  EXPECT_EQ(Chosen({}, "en"), "none");
  EXPECT_EQ(Chosen({ModelInfo{}}, "en"), "none");
}

TEST(SpeechChoiceTest, AVoiceHasTheLanguageThatItWasMadeFor) {
  const ModelInfo kokoro = Kokoro();
  EXPECT_EQ(LanguageOfVoice(kokoro.speech(), "ef"), "es");
  EXPECT_EQ(LanguageOfVoice(kokoro.speech(), "jm:0.3+ef:0.7"), "ja");
  EXPECT_EQ(LanguageOfVoice(kokoro.speech(), "other"), "");
}

TEST(SpeechChoiceTest, AModelSaysInWhichLanguagesItReadsPronunciations) {
  SpeechInfo info = Kokoro().speech();
  EXPECT_FALSE(ReadsPronunciations(info, "en-US"));
  info.pronunciation_languages = {"en-US", "es"};
  EXPECT_TRUE(ReadsPronunciations(info, "en-US"));
  EXPECT_TRUE(ReadsPronunciations(info, "en"));
  EXPECT_TRUE(ReadsPronunciations(info, "es-MX"));
  EXPECT_FALSE(ReadsPronunciations(info, "ja"));
  EXPECT_FALSE(ReadsPronunciations(info, "ja-JP"));
}

}  // namespace
}  // namespace millrace::models
