#include "server/requests/speech_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "models/text/language_detector.h"
#include "tests/fakes/needed.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const VoiceAliases kAuto = VoiceAliases::value_type();

VoiceAliases Configured(std::map<std::string, std::string> aliases) { return aliases; }

class SpeechNamesTest : public ::testing::Test {
 protected:
  void AddPiper() {
    models::ModelInfo joe = VoiceInfo("piper");
    joe.speech().language = "en-US";
    joe.speech().languages = joe.speech().voice_languages = {"en-US"};
    joe.speech().voices = {"joe"};
    backend_.Add(joe, {});
  }
  void AddKokoro() {
    models::ModelInfo kokoro = VoiceInfo("kokoro-82m");
    kokoro.speech().language = "en-US";
    kokoro.speech().languages = {"en-US", "ja", "es"};
    kokoro.speech().voices = {"jm", "jf", "ef"};
    kokoro.speech().voice_languages = {"ja", "ja", "es"};
    kokoro.speech().default_voices = {{"ja", "jf"}};
    kokoro.speech().speech_cost = 20;
    backend_.Add(kokoro, {});
  }
  // "model voice" of what speaks.
  std::string Resolved(const VoiceAliases& aliases, const std::string& model,
                       const std::string& voice, const std::string& language = "",
                       const std::string& text = "",
                       SpeechTextFormat format = SpeechTextFormat::kPlain) {
    SpeechRequest speech;
    speech.text = text;
    speech.text_format = format;
    speech.model = model;
    speech.voice = voice;
    speech.language = language;
    const absl::Status status = SpeechNames(backend_.directory, aliases).Resolve(speech);
    return status.ok() ? speech.model + " " + speech.voice : std::string(status.message());
  }

  TestBackend backend_;
};

TEST_F(SpeechNamesTest, AModelWithOneVoiceTakesAllOfOpenAis) {
  AddPiper();
  for (const char* voice : {"alloy", "ash", "ballad", "coral", "echo", "fable", "nova", "onyx",
                            "sage", "shimmer", "verse", "marin", "cedar"}) {
    EXPECT_EQ(Resolved(kAuto, "piper", voice), "piper joe") << voice;
    EXPECT_EQ(Resolved(kAuto, "tts-1", voice), "piper joe") << voice;
  }
  EXPECT_EQ(Resolved(kAuto, "piper", "nobody"), "piper nobody");  // its model refuses it
}

TEST_F(SpeechNamesTest, OpenAisVoicesAreSpreadOverTheVoicesOfAllModels) {
  AddPiper();
  AddKokoro();  // none of its voices is English
  for (const auto& [name, language] :
       {std::pair("amy", "en-US"), std::pair("alba", "en-GB"), std::pair("thorsten", "de-DE")}) {
    models::ModelInfo voice = VoiceInfo(std::string("piper-") + name);
    voice.speech().language = language;
    voice.speech().languages = voice.speech().voice_languages = {language};
    voice.speech().voices = {name};
    backend_.Add(voice, {});
  }
  EXPECT_EQ(Resolved(kAuto, "", "alloy"), "piper joe");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "ash"), "piper-alba alba");
  EXPECT_EQ(Resolved(kAuto, "", "ballad"), "piper-amy amy");
  EXPECT_EQ(Resolved(kAuto, "", "coral"), "piper joe");
  EXPECT_EQ(Resolved(kAuto, "", "ash", "en-US"), "piper-amy amy");
  EXPECT_EQ(Resolved(kAuto, "", "ash", "en-GB"), "piper-alba alba");
  EXPECT_EQ(Resolved(kAuto, "", "ash", "de"), "piper-thorsten thorsten");
  EXPECT_EQ(Resolved(kAuto, "piper-amy", "ash"), "piper-amy amy");  // a model that is named
  EXPECT_EQ(Resolved(Configured({{"ash", "amy"}}), "", "ash"), "piper-amy amy");
}

TEST_F(SpeechNamesTest, WithoutALanguageItIsThatOfTheText) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "this build detects no languages");
  AddPiper();
  AddKokoro();
  constexpr char kSpanish[] = "Buenos días a todos, ¿cómo están ustedes hoy?";
  EXPECT_EQ(Resolved(kAuto, "tts-1", "alloy", "", kSpanish), "kokoro-82m ef");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "", "", "こんにちは、おげんきですか。"), "kokoro-82m ");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "alloy", "en", kSpanish), "piper joe");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "joe", "", kSpanish), "piper joe");
  EXPECT_EQ(Resolved(kAuto, "piper", "alloy", "", kSpanish), "piper joe");
  // Short texts are English, and so are those of a language that no voice was made for.
  for (const char* text : {"Hello.", "Done", "Yes", "OK Computer", "Pizza Margherita",
                           "Bonjour tout le monde, comment allez-vous?"})
    EXPECT_EQ(Resolved(kAuto, "tts-1", "alloy", "", text), "piper joe") << text;
}

TEST_F(SpeechNamesTest, ATextThatTheModelsOwnLanguageCannotReadHasItsOwn) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "this build detects no languages");
  AddKokoro();
  const auto language = [this](const std::string& voice, const std::string& text,
                               SpeechTextFormat format = SpeechTextFormat::kPlain) {
    SpeechRequest speech;
    speech.model = "kokoro-82m";
    speech.voice = voice;
    speech.text = text;
    speech.text_format = format;
    EXPECT_TRUE(SpeechNames(backend_.directory, kAuto).Resolve(speech).ok());
    return speech.language;
  };
  EXPECT_EQ(language("jf", "こんにちは"), "ja");
  EXPECT_EQ(language("", "こんにちは。"), "ja");
  EXPECT_EQ(language("", "ねこ"), "ja");
  EXPECT_EQ(language("jf", "<speak>こんにちは<break time='1s'/></speak>", SpeechTextFormat::kSsml),
            "ja");
  EXPECT_EQ(language("jf", "Hello, こんにちは"), "");
  EXPECT_EQ(language("jf", "Здравствуйте, как дела?"), "");  // no voice is made for it
}

TEST_F(SpeechNamesTest, TagsDoNotHideTheLanguageOfTheText) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "this build detects no languages");
  AddPiper();
  AddKokoro();
  EXPECT_EQ(Resolved(kAuto, "tts-1", "alloy", "",
                     "<speak><prosody rate=\"slow\" volume=\"loud\">Buenos días a todos, <break "
                     "strength=\"medium\"/>¿cómo están?</prosody></speak>",
                     SpeechTextFormat::kSsml),
            "kokoro-82m ef");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "alloy", "",
                     "Buenos días [rate:slow][volume:loud]a todos, [pause:2s]¿cómo están? [",
                     SpeechTextFormat::kTags),
            "kokoro-82m ef");
}

TEST_F(SpeechNamesTest, AnAliasIsAVoiceForTheLanguage) {
  AddPiper();
  AddKokoro();
  EXPECT_EQ(Resolved(kAuto, "kokoro-82m", "alloy", "ja"), "kokoro-82m jf");
  EXPECT_EQ(Resolved(kAuto, "kokoro-82m", "ash", "ja"), "kokoro-82m jm");
  EXPECT_EQ(Resolved(kAuto, "kokoro-82m", "ballad", "ja"), "kokoro-82m jf");
  EXPECT_EQ(Resolved(kAuto, "kokoro-82m", "ash", "es"), "kokoro-82m ef");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "ash", "es"), "kokoro-82m ef");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "ash"), "piper joe");
}

TEST_F(SpeechNamesTest, AVoiceOfThatNameComesFirst) {
  AddPiper();
  models::ModelInfo other = VoiceInfo("other");
  other.speech().voices = {"first", "alloy"};
  other.speech().speech_cost = 20;
  backend_.Add(other, {});
  EXPECT_EQ(Resolved(kAuto, "other", "alloy"), "other alloy");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "alloy"), "other alloy");
  EXPECT_EQ(Resolved(Configured({{"alloy", "joe"}}), "tts-1", "alloy"), "other alloy");
  EXPECT_EQ(Resolved(kAuto, "piper", "alloy"), "piper joe");
}

TEST_F(SpeechNamesTest, ConfiguredVoicesStandWhereTheModelHasThem) {
  AddPiper();
  AddKokoro();
  const VoiceAliases aliases =
      Configured({{"alloy", "jm:0.5+jf:0.5"}, {"narrator", "ef"}, {"nova", "gone"}});
  EXPECT_EQ(Resolved(aliases, "kokoro-82m", "alloy"), "kokoro-82m jm:0.5+jf:0.5");
  EXPECT_EQ(Resolved(aliases, "tts-1", "alloy"), "kokoro-82m jm:0.5+jf:0.5");
  EXPECT_EQ(Resolved(aliases, "piper", "alloy"), "piper joe");
  EXPECT_EQ(Resolved(aliases, "tts-1", "narrator"), "kokoro-82m ef");
  EXPECT_EQ(Resolved(aliases, "piper", "narrator"), "piper narrator");
  EXPECT_EQ(Resolved(aliases, "tts-1", "nova"), "piper joe");
}

TEST_F(SpeechNamesTest, OffNoNameStandsForAVoice) {
  AddPiper();
  EXPECT_EQ(Resolved(std::nullopt, "piper", "alloy"), "piper alloy");
  EXPECT_EQ(Resolved(std::nullopt, "tts-1", "alloy"),
            "voice: 'alloy' is a voice of no model; there are: joe (piper)");
}

TEST_F(SpeechNamesTest, AnAliasIsNoPartOfAMix) {
  AddPiper();
  for (const char* voice : {"alloy:2", "alloy+joe"}) {
    EXPECT_EQ(Resolved(kAuto, "tts-1", voice),
              "voice: 'alloy' stands for a voice, but not in a mix or with a weight; there are: "
              "joe (piper)")
        << voice;
  }
}

TEST_F(SpeechNamesTest, DatedFormsOfOpenAisModelsAreTheSame) {
  AddPiper();
  for (const char* model : {"tts-1", "tts-1-1106", "tts-1-hd", "tts-1-hd-1106", "gpt-4o-mini-tts",
                            "gpt-4o-mini-tts-2025-12-15"})
    EXPECT_EQ(Resolved(kAuto, model, ""), "piper ") << model;
  for (const char* model : {"tts-2", "tts-1-", "tts-1-110", "tts-1-11066", "tts-1-abcd",
                            "tts-1-2025-12-1a", "gpt-4o-mini-tts-2025-12-15-1"})
    EXPECT_THAT(Resolved(kAuto, model, ""), HasSubstr("is not loaded")) << model;
  EXPECT_THAT(SpeechNames(backend_.directory, kAuto).ModelAliases(),
              ElementsAre("tts-1", "tts-1-hd", "gpt-4o-mini-tts", "kokoro"));
}

TEST_F(SpeechNamesTest, NoNameAndKokorosStandForAnyModel) {
  AddPiper();
  AddKokoro();
  for (const char* model : {"", "kokoro", "Kokoro", "TTS-1"}) {
    EXPECT_EQ(Resolved(kAuto, model, ""), "piper ") << model;
    EXPECT_EQ(Resolved(kAuto, model, "jf"), "kokoro-82m jf") << model;
    EXPECT_EQ(Resolved(kAuto, model, "alloy", "ja"), "kokoro-82m jf") << model;
  }
  models::ModelInfo other = VoiceInfo("kokoro");
  other.speech().speech_cost = 40;
  backend_.Add(other, {});
  EXPECT_EQ(Resolved(kAuto, "kokoro", ""), "kokoro ");
}

TEST_F(SpeechNamesTest, TheCaseOfLettersDoesNotMatter) {
  AddPiper();
  AddKokoro();
  EXPECT_EQ(Resolved(kAuto, "PIPER", "Joe"), "piper joe");
  EXPECT_EQ(Resolved(kAuto, "Kokoro-82M", "JM:0.5+Jf:0.5"), "kokoro-82m jm:0.5+jf:0.5");
  EXPECT_EQ(Resolved(kAuto, "", "JOE"), "piper joe");
  EXPECT_EQ(Resolved(kAuto, "piper", "Alloy"), "piper joe");
  const VoiceAliases aliases = Configured({{"narrator", "ef"}});
  EXPECT_EQ(Resolved(aliases, "tts-1", "Narrator"), "kokoro-82m ef");
  // A voice that is spelt so comes before one that is not.
  models::ModelInfo other = VoiceInfo("other");
  other.speech().voices = {"ANNA", "anna"};
  backend_.Add(other, {});
  EXPECT_EQ(Resolved(kAuto, "other", "anna"), "other anna");
  EXPECT_EQ(Resolved(kAuto, "other", "Anna"), "other ANNA");
}

TEST_F(SpeechNamesTest, WeightsMayStandInParentheses) {
  AddPiper();
  AddKokoro();
  EXPECT_EQ(Resolved(kAuto, "kokoro-82m", "jm(2)+jf(1)"), "kokoro-82m jm:2+jf:1");
  EXPECT_EQ(Resolved(kAuto, "kokoro", "jm(2.2)+jf(2.8)"), "kokoro-82m jm:2.2+jf:2.8");
}

TEST_F(SpeechNamesTest, KokorosPublishedVoicesStandForOneOfTheirLanguage) {
  AddPiper();
  AddKokoro();
  EXPECT_EQ(Resolved(kAuto, "kokoro", "af_bella"), "piper ");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "AF_Bella(2)+af_sky(1)"), "piper ");
  EXPECT_EQ(Resolved(kAuto, "kokoro", "jf_alpha"), "kokoro-82m ");
  EXPECT_EQ(Resolved(kAuto, "kokoro", "ef_dora"), "kokoro-82m ");
  EXPECT_EQ(Resolved(kAuto, "kokoro", "af_bella", "ja"), "kokoro-82m ");
  // No model is made for Chinese, and nobody publishes the others.
  for (const char* voice : {"zf_xiaoni", "af_", "af_bela", "xf_bella", "af_bella+nobody"})
    EXPECT_THAT(Resolved(kAuto, "kokoro", voice), HasSubstr("is a voice of no model")) << voice;
  EXPECT_EQ(Resolved(Configured({{"af_bella", "jm"}}), "kokoro", "af_bella"), "kokoro-82m jm");
  EXPECT_THAT(Resolved(std::nullopt, "kokoro", "af_bella"), HasSubstr("is a voice of no model"));
  // A client that names a model knows our names.
  EXPECT_EQ(Resolved(kAuto, "piper", "af_bella"), "piper af_bella");
}

TEST_F(SpeechNamesTest, ErrorsNameWhatSpeaks) {
  AddPiper();
  AddKokoro();
  backend_.Add(TranslatorInfo("translator", "en", "pt"), {});
  EXPECT_EQ(
      Resolved(kAuto, "nobody", ""),
      "model: 'nobody' is not loaded; loaded for speech are: kokoro-82m, piper; these names stand "
      "for any of them: tts-1, tts-1-hd, gpt-4o-mini-tts, kokoro");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "", "zh"),
            "language: no loaded model speaks 'zh'; they speak: en-US, ja, es (kokoro-82m), "
            "en-US (piper)");
  EXPECT_THAT(Resolved(kAuto, "tts-1", "joe+jm"),
              HasSubstr("the voices of a mix are of one model"));
}

TEST_F(SpeechNamesTest, WithoutASpeechModelThatIsSaid) {
  EXPECT_EQ(Resolved(kAuto, "tts-1", ""), "model: no model for speech is loaded");
  EXPECT_EQ(Resolved(kAuto, "", ""), "model: no model for speech is loaded");
}

TEST_F(SpeechNamesTest, AliasesAreListedWithWhatTheyStandFor) {
  AddKokoro();
  const VoiceAliases configured = Configured({{"ash", "ef"}, {"narrator", "jf"}});
  const SpeechNames names(backend_.directory, configured);
  const models::SpeechInfo& info =
      backend_.directory.Find("kokoro-82m", "").value()->info().speech();
  std::map<std::string, std::string> aliases;
  for (const auto& [name, voice] : names.VoiceAliasesOf(info)) aliases[name] = voice;
  EXPECT_EQ(aliases.size(), 14U);
  EXPECT_EQ(aliases["alloy"], "jm");
  EXPECT_EQ(aliases["ash"], "ef");
  EXPECT_EQ(aliases["narrator"], "jf");
  const VoiceAliases off = std::nullopt;
  EXPECT_TRUE(SpeechNames(backend_.directory, off).VoiceAliasesOf(info).empty());
}

}  // namespace
}  // namespace millrace::server
