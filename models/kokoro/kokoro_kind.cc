#include "models/kokoro/kokoro_kind.h"

#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "millrace/config/v1/model.pb.h"
#include "models/config/config_section.h"
#include "models/core/regular_file.h"
#include "models/core/strings.h"
#include "models/speech/speech_config.h"
#include "models/text/multilingual/espeak_language.h"

namespace millrace::kokoro {
namespace {

namespace v1 = millrace::config::v1;

constexpr size_t kMaxVoices = 256;

std::vector<KokoroVoiceConfig> ConvertVoices(const v1::Kokoro& message,
                                             const models::ConfigSection& section) {
  if (static_cast<size_t>(message.voices_size()) > kMaxVoices) {
    section.Error("voices",
                  StrCat("has ", message.voices_size(), " entries, allowed 0..", kMaxVoices));
  }
  std::vector<KokoroVoiceConfig> voices;
  std::set<std::string> names;
  std::set<std::string> languages;  // languages that have a default
  for (int i = 0; i < message.voices_size(); ++i) {
    const v1::KokoroVoice& voice = message.voices(i);
    const models::ConfigSection entry = section.Child(voice, "voices", i);
    entry.Text("name", voice.name());
    entry.Text("language", voice.language(), 35);
    if (!names.insert(voice.name()).second)
      entry.Error("name", StrCat("'", voice.name(), "' is used twice, each needs its own"));
    for (int j = 0; j < voice.default_for_size(); ++j) {
      if (voice.default_for(j).empty() || voice.default_for(j).size() > 35) {
        entry.Error(
            "default_for",
            StrCat("'", voice.default_for(j), "' is no language, allowed 1..35 ", "characters"), j);
      } else if (!languages.insert(voice.default_for(j)).second) {
        entry.Error("default_for",
                    StrCat("'", voice.default_for(j), "' has two voices, allowed is one"), j);
      }
    }
    voices.push_back({.name = voice.name(),
                      .language = voice.language(),
                      .default_for = {voice.default_for().begin(), voice.default_for().end()}});
  }
  return voices;
}

std::unique_ptr<const models::KindConfig> Parse(const models::ConfigSection& section) {
  const auto& message = section.As<v1::Kokoro>();
  auto config = std::make_unique<KokoroConfig>();
  config->file = section.File("file", message.file(), models::kMaxWeightsBytes, *config);
  config->config_file =
      section.File("config_file", message.config_file(), models::kMaxSettingsBytes, *config);
  config->lexicon_file =
      section.File("lexicon_file", message.lexicon_file(), models::kMaxLexiconBytes, *config);
  if (!message.user_lexicon_file().empty())
    section.FileName("user_lexicon_file", message.user_lexicon_file());
  config->user_lexicon_file = message.user_lexicon_file();
  config->japanese_words_file = section.FileIfAny(
      "japanese_words_file", message.japanese_words_file(), models::kMaxLexiconBytes, *config);
  config->chinese_lexicon_file = section.FileIfAny(
      "chinese_lexicon_file", message.chinese_lexicon_file(), models::kMaxLexiconBytes, *config);
  if (message.language() != "en-US" && message.language() != "en-GB" &&
      models::FindEspeakLanguage(message.language()) == nullptr) {
    std::string allowed = "en-US, en-GB";
    for (const models::EspeakLanguage& language : models::kEspeakLanguages)
      absl::StrAppend(&allowed, ", ", View(language.tag));
    section.Error("language", StrCat("'", message.language(), "' is unknown, allowed ", allowed));
  }
  if (message.voice().size() > 128) {
    section.Error("voice", StrCat("has ", message.voice().size(), " characters, allowed 0..128"));
  }
  config->language = message.language();
  config->voice = message.voice();
  config->voices = ConvertVoices(message, section);
  config->pauses = speech::ConvertPauses(message, section);
  config->precision = speech::ConvertPrecision(message, section);
  return config;
}

}  // namespace

models::ModelDetails KokoroConfig::Details() const {
  models::SpeechInfo info{.language = language,
                          .precision = speech::NameOf(precision.asked),
                          .int8_distance_db = precision.int8_distance_db};
  if (!voice.empty()) info.voices = {voice};
  return info;
}

const models::ModelKind kKind = {"kokoro", &Parse};

}  // namespace millrace::kokoro
