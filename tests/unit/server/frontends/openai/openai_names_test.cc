#include "server/frontends/http/openai_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

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

class OpenAiNamesTest : public ::testing::Test {
 protected:
  void AddPiper() {
    models::ModelInfo joe = VoiceInfo("piper");
    joe.speech().language = "en-US";
    joe.speech().languages = joe.speech().voice_languages = {"en-US"};
    joe.speech().voices = {"joe"};
    backend_.Add(joe, {});
  }
  void AddKokoro() {
    models::ModelInfo kokoro = VoiceInfo("kokoro");
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
    const absl::Status status = OpenAiNames(backend_.directory, aliases).Resolve(speech);
    return status.ok() ? speech.model + " " + speech.voice : std::string(status.message());
  }

  TestBackend backend_;
};

TEST_F(OpenAiNamesTest, AModelWithOneVoiceTakesAllOfOpenAis) {
  AddPiper();
  for (const char* voice : {"alloy", "ash", "ballad", "coral", "echo", "fable", "nova", "onyx",
                            "sage", "shimmer", "verse", "marin", "cedar"}) {
    EXPECT_EQ(Resolved(kAuto, "piper", voice), "piper joe") << voice;
    EXPECT_EQ(Resolved(kAuto, "tts-1", voice), "piper joe") << voice;
  }
  EXPECT_EQ(Resolved(kAuto, "piper", "nobody"), "piper nobody");  // its model refuses it
  EXPECT_EQ(Resolved(kAuto, "piper", "Alloy"), "piper Alloy");
}

TEST_F(OpenAiNamesTest, WithoutALanguageItIsThatOfTheText) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "this build detects no languages");
  AddPiper();
  AddKokoro();
  constexpr char kSpanish[] = "Buenos días a todos, ¿cómo están ustedes hoy?";
  EXPECT_EQ(Resolved(kAuto, "tts-1", "alloy", "", kSpanish), "kokoro ef");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "", "", "こんにちは、おげんきですか。"), "kokoro ");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "alloy", "en", kSpanish), "piper joe");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "joe", "", kSpanish), "piper joe");
  EXPECT_EQ(Resolved(kAuto, "piper", "alloy", "", kSpanish), "piper joe");
  // Short texts are English, and so are those of a language that no voice was made for.
  for (const char* text : {"Hello.", "Done", "Yes", "OK Computer", "Pizza Margherita",
                           "Bonjour tout le monde, comment allez-vous?"})
    EXPECT_EQ(Resolved(kAuto, "tts-1", "alloy", "", text), "piper joe") << text;
}

TEST_F(OpenAiNamesTest, TagsDoNotHideTheLanguageOfTheText) {
  MILLRACE_NEEDS(models::CanDetectLanguages(), "this build detects no languages");
  AddPiper();
  AddKokoro();
  EXPECT_EQ(Resolved(kAuto, "tts-1", "alloy", "",
                     "<speak><prosody rate=\"slow\" volume=\"loud\">Buenos días a todos, <break "
                     "strength=\"medium\"/>¿cómo están?</prosody></speak>",
                     SpeechTextFormat::kSsml),
            "kokoro ef");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "alloy", "",
                     "Buenos días [rate:slow][volume:loud]a todos, [pause:2s]¿cómo están? [",
                     SpeechTextFormat::kTags),
            "kokoro ef");
}

TEST_F(OpenAiNamesTest, AnAliasIsAVoiceForTheLanguage) {
  AddPiper();
  AddKokoro();
  EXPECT_EQ(Resolved(kAuto, "kokoro", "alloy", "ja"), "kokoro jf");
  EXPECT_EQ(Resolved(kAuto, "kokoro", "ash", "ja"), "kokoro jm");
  EXPECT_EQ(Resolved(kAuto, "kokoro", "ballad", "ja"), "kokoro jf");
  EXPECT_EQ(Resolved(kAuto, "kokoro", "ash", "es"), "kokoro ef");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "ash", "es"), "kokoro ef");
  EXPECT_EQ(Resolved(kAuto, "tts-1", "ash"), "piper joe");
}

TEST_F(OpenAiNamesTest, AVoiceOfThatNameComesFirst) {
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

TEST_F(OpenAiNamesTest, ConfiguredVoicesStandWhereTheModelHasThem) {
  AddPiper();
  AddKokoro();
  const VoiceAliases aliases =
      Configured({{"alloy", "jm:0.5+jf:0.5"}, {"narrator", "ef"}, {"nova", "gone"}});
  EXPECT_EQ(Resolved(aliases, "kokoro", "alloy"), "kokoro jm:0.5+jf:0.5");
  EXPECT_EQ(Resolved(aliases, "tts-1", "alloy"), "kokoro jm:0.5+jf:0.5");
  EXPECT_EQ(Resolved(aliases, "piper", "alloy"), "piper joe");
  EXPECT_EQ(Resolved(aliases, "tts-1", "narrator"), "kokoro ef");
  EXPECT_EQ(Resolved(aliases, "piper", "narrator"), "piper narrator");
  EXPECT_EQ(Resolved(aliases, "tts-1", "nova"), "piper joe");
}

TEST_F(OpenAiNamesTest, OffNoNameStandsForAVoice) {
  AddPiper();
  EXPECT_EQ(Resolved(std::nullopt, "piper", "alloy"), "piper alloy");
  EXPECT_EQ(Resolved(std::nullopt, "tts-1", "alloy"),
            "voice: 'alloy' is a voice of no model; there are: joe (piper)");
}

TEST_F(OpenAiNamesTest, DatedFormsOfOpenAisModelsAreTheSame) {
  AddPiper();
  for (const char* model : {"tts-1", "tts-1-1106", "tts-1-hd", "tts-1-hd-1106", "gpt-4o-mini-tts",
                            "gpt-4o-mini-tts-2025-12-15"})
    EXPECT_EQ(Resolved(kAuto, model, ""), "piper ") << model;
  for (const char* model : {"tts-2", "tts-1-", "tts-1-110", "tts-1-11066", "tts-1-abcd",
                            "tts-1-2025-12-1a", "gpt-4o-mini-tts-2025-12-15-1"})
    EXPECT_EQ(Resolved(kAuto, model, ""), std::string(model) + " ") << model;
  EXPECT_THAT(OpenAiNames(backend_.directory, kAuto).ModelAliases(),
              ElementsAre("tts-1", "tts-1-hd", "gpt-4o-mini-tts"));
}

TEST_F(OpenAiNamesTest, AliasesAreListedWithWhatTheyStandFor) {
  AddKokoro();
  const OpenAiNames names(backend_.directory, Configured({{"ash", "ef"}, {"narrator", "jf"}}));
  const models::SpeechInfo& info = backend_.directory.Find("kokoro", "").value()->info().speech();
  std::map<std::string, std::string> aliases;
  for (const auto& [name, voice] : names.VoiceAliasesOf(info)) aliases[name] = voice;
  EXPECT_EQ(aliases.size(), 14U);
  EXPECT_EQ(aliases["alloy"], "jm");
  EXPECT_EQ(aliases["ash"], "ef");
  EXPECT_EQ(aliases["narrator"], "jf");
  EXPECT_TRUE(OpenAiNames(backend_.directory, std::nullopt).VoiceAliasesOf(info).empty());
}

}  // namespace
}  // namespace millrace::server
