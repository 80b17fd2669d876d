#include "models/speech/text_to_phonemes.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "models/core/strings.h"
#include "models/text/english/cached_fallback.h"
#include "models/text/english/english_g2p.h"
#include "models/text/english/english_lexicon.h"
#include "models/text/english/espeak_fallback.h"
#include "models/text/english/user_lexicon.h"
#include "models/text/japanese/kana_phonemes.h"
#include "models/text/multilingual/espeak_g2p.h"
#include "models/text/multilingual/espeak_language.h"
#include "models/text/phoneme_vocabulary.h"
#include "mps_runtime/base/log_sink.h"

namespace millrace::speech {
namespace {

class EnglishToPhonemes final : public TextToPhonemes {
 public:
  EnglishToPhonemes(models::EnglishLexicon lexicon, models::EnglishG2p::Options options)
      : g2p_(std::move(lexicon), std::move(options)) {}

  absl::StatusOr<models::PhonemeText> Convert(std::string_view sentence,
                                              bool /*with_words*/) const override {
    const auto tokens = g2p_.Phonemize(sentence);
    if (!tokens.ok()) return tokens.status();
    models::PhonemeText text = models::JoinPhonemes(*tokens);
    return text.words.empty() ? models::PhonemeText() : text;
  }

 private:
  const models::EnglishG2p g2p_;
};

class KanaToPhonemes final : public TextToPhonemes {
 public:
  absl::StatusOr<models::PhonemeText> Convert(std::string_view sentence,
                                              bool /*with_words*/) const override {
    auto text = models::KanaPhonemes(sentence);
    if (!text.ok()) return text.status();
    return text->words.empty() ? models::PhonemeText() : *std::move(text);
  }
  absl::Status Check(std::string_view text) const override { return models::CheckKana(text); }
};

class EspeakToPhonemes final : public TextToPhonemes {
 public:
  explicit EspeakToPhonemes(std::unique_ptr<const models::EspeakG2p> g2p) : g2p_(std::move(g2p)) {}

  absl::StatusOr<models::PhonemeText> Convert(std::string_view sentence,
                                              bool with_words) const override {
    return g2p_->Phonemize(sentence, with_words);
  }

 private:
  const std::unique_ptr<const models::EspeakG2p> g2p_;
};

class RefusedTexts final : public TextToPhonemes {
 public:
  explicit RefusedTexts(absl::Status refusal) : refusal_(std::move(refusal)) {}

  absl::StatusOr<models::PhonemeText> Convert(std::string_view /*sentence*/,
                                              bool /*with_words*/) const override {
    return refusal_;
  }
  absl::Status Check(std::string_view /*text*/) const override { return refusal_; }

 private:
  const absl::Status refusal_;
};

absl::StatusOr<std::unique_ptr<TextToPhonemes>> MakeEspeak(const TextToPhonemesOptions& options,
                                                           const models::EspeakLanguage& language) {
  auto g2p = models::EspeakG2p::Create({.program = options.espeak_program,
                                        .voice = std::string(language.voice),
                                        .vocabulary = models::PhonemeVocabulary(options.symbols),
                                        .max_processes = options.max_espeak_processes,
                                        .timeout = options.espeak_timeout});
  if (!g2p.ok()) return g2p.status();
  return std::make_unique<EspeakToPhonemes>(*std::move(g2p));
}

absl::StatusOr<std::unique_ptr<TextToPhonemes>> MakeEnglish(const TextToPhonemesOptions& options,
                                                            models::EnglishDialect dialect) {
  auto lexicon = models::EnglishLexicon::Open(options.lexicon_file);
  if (!lexicon.ok()) return lexicon.status();
  if (lexicon->dialect() != dialect) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.lexicon_file.string(), ": is not of the language ", options.language));
  }
  models::EnglishG2p::Options parts;
  parts.vocabulary = models::PhonemeVocabulary(options.symbols);
  auto espeak = models::EspeakFallback::Create({.program = options.espeak_program,
                                                .dialect = dialect,
                                                .max_processes = options.max_espeak_processes,
                                                .timeout = options.espeak_timeout});
  if (!espeak.ok()) return espeak.status();
  parts.fallback = std::make_shared<models::CachedFallback>(*std::move(espeak));
  if (!options.user_lexicon_file.empty()) {
    const auto report = [](const absl::Status& status) {
      if (status.ok()) return;
      SendToLog(LogSeverity::kWarning,
                absl::StrCat("user lexicon not reloaded, the words before stay in use: ",
                             status.message()));
    };
    auto user = models::UserLexicon::Open(
        {.path = options.user_lexicon_file, .vocabulary = parts.vocabulary, .report = report});
    if (!user.ok()) return user.status();
    parts.user_lexicon = *std::move(user);
  }
  return std::make_unique<EnglishToPhonemes>(*std::move(lexicon), std::move(parts));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TextToPhonemes>> MakeTextToPhonemes(
    const TextToPhonemesOptions& options) {
  if (options.language == "en-US") return MakeEnglish(options, models::EnglishDialect::kUs);
  if (options.language == "en-GB") return MakeEnglish(options, models::EnglishDialect::kGb);
  if (options.language == "ja") return std::make_unique<KanaToPhonemes>();
  if (const models::EspeakLanguage* language = models::FindEspeakLanguage(options.language);
      language != nullptr)
    return MakeEspeak(options, *language);
  std::string allowed = "en-US, en-GB, ja";
  for (const models::EspeakLanguage& language : models::kEspeakLanguages)
    absl::StrAppend(&allowed, ", ", View(language.tag));
  return absl::InvalidArgumentError(absl::StrCat(
      "language: there is no way from '", options.language, "' to phonemes, allowed ", allowed));
}

std::unique_ptr<TextToPhonemes> RefuseTexts(std::string_view language, const absl::Status& reason) {
  return std::make_unique<RefusedTexts>(absl::FailedPreconditionError(
      absl::StrCat("language: '", View(language), "' cannot be spoken here: ", reason.message())));
}

absl::StatusOr<std::string> LanguageOfLexicon(const std::filesystem::path& lexicon_file) {
  const auto lexicon = models::EnglishLexicon::Open(lexicon_file);
  if (!lexicon.ok()) return lexicon.status();
  return lexicon->dialect() == models::EnglishDialect::kGb ? "en-GB" : "en-US";
}

}  // namespace millrace::speech
