#include "models/speech/text_to_phonemes.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/chinese/chinese_g2p.h"
#include "models/text/chinese/chinese_lexicon.h"
#include "models/text/chinese/chinese_text.h"
#include "models/text/english/cached_fallback.h"
#include "models/text/english/english_g2p.h"
#include "models/text/english/english_lexicon.h"
#include "models/text/english/espeak_fallback.h"
#include "models/text/english/user_lexicon.h"
#include "models/text/japanese/japanese_g2p.h"
#include "models/text/japanese/japanese_words.h"
#include "models/text/japanese/kana_phonemes.h"
#include "models/text/japanese/morphological_analyzer.h"
#include "models/text/japanese/prepared_text.h"
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
    MILLRACE_ASSIGN_OR_RETURN(const auto tokens, g2p_.Phonemize(sentence));
    models::PhonemeText text = models::JoinPhonemes(tokens);
    return text.words.empty() ? models::PhonemeText() : text;
  }

 private:
  const models::EnglishG2p g2p_;
};

// Reads kana by rules of their own, so that they sound the same with and without a dictionary, and
// other texts by the dictionary.
class JapaneseToPhonemes final : public TextToPhonemes {
 public:
  // `g2p` is null where there is no dictionary.
  explicit JapaneseToPhonemes(std::unique_ptr<const models::JapaneseG2p> g2p)
      : g2p_(std::move(g2p)) {}

  absl::StatusOr<models::PhonemeText> Convert(std::string_view sentence,
                                              bool /*with_words*/) const override {
    MILLRACE_ASSIGN_OR_RETURN(auto text, g2p_ == nullptr || models::CheckKana(sentence).ok()
                                             ? models::KanaPhonemes(sentence)
                                             : g2p_->Phonemize(sentence));
    return text.words.empty() ? models::PhonemeText() : std::move(text);
  }
  absl::Status Check(std::string_view text) const override {
    return g2p_ == nullptr ? models::CheckKana(text) : models::CheckJapanese(text);
  }

 private:
  const std::unique_ptr<const models::JapaneseG2p> g2p_;
};

class ChineseToPhonemes final : public TextToPhonemes {
 public:
  ChineseToPhonemes(models::ChineseLexicon lexicon,
                    std::shared_ptr<const models::WordFallback> english)
      : g2p_(std::move(lexicon), std::move(english)) {}

  absl::StatusOr<models::PhonemeText> Convert(std::string_view sentence,
                                              bool /*with_words*/) const override {
    MILLRACE_ASSIGN_OR_RETURN(auto text, g2p_.Phonemize(sentence));
    return text.words.empty() ? models::PhonemeText() : std::move(text);
  }
  absl::Status Check(std::string_view text) const override { return models::CheckChinese(text); }

 private:
  const models::ChineseG2p g2p_;
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
  MILLRACE_ASSIGN_OR_RETURN(
      auto g2p,
      models::EspeakG2p::Create({.espeak = options.espeak,
                                 .voice = std::string(language.voice),
                                 .vocabulary = models::PhonemeVocabulary(options.symbols)}));
  return std::make_unique<EspeakToPhonemes>(std::move(g2p));
}

absl::StatusOr<std::unique_ptr<TextToPhonemes>> MakeEnglish(const TextToPhonemesOptions& options,
                                                            models::EnglishDialect dialect) {
  MILLRACE_ASSIGN_OR_RETURN(auto lexicon, models::EnglishLexicon::Open(options.lexicon_file));
  if (lexicon.dialect() != dialect) {
    return InvalidArgument(options.lexicon_file.string(), ": is not of the language ",
                           options.language);
  }
  models::EnglishG2p::Options parts;
  parts.vocabulary = models::PhonemeVocabulary(options.symbols);
  MILLRACE_ASSIGN_OR_RETURN(
      auto espeak, models::EspeakFallback::Create({.espeak = options.espeak, .dialect = dialect}));
  parts.fallback = std::make_shared<models::CachedFallback>(std::move(espeak));
  if (!options.user_lexicon_file.empty()) {
    const auto report = [](const absl::Status& status) {
      if (status.ok()) return;
      SendToLog(
          LogSeverity::kWarning,
          StrCat("user lexicon not reloaded, the words before stay in use: ", status.message()));
    };
    MILLRACE_ASSIGN_OR_RETURN(
        parts.user_lexicon,
        models::UserLexicon::Open(
            {.path = options.user_lexicon_file, .vocabulary = parts.vocabulary, .report = report}));
  }
  return std::make_unique<EnglishToPhonemes>(std::move(lexicon), std::move(parts));
}

absl::StatusOr<std::unique_ptr<TextToPhonemes>> MakeJapanese(const TextToPhonemesOptions& options) {
  auto analyzer = models::MorphologicalAnalyzer::Open();
  if (!analyzer.ok()) {
    SendToLog(LogSeverity::kInfo,
              StrCat("Japanese is read from kana alone: ", analyzer.status().message()));
    return std::make_unique<JapaneseToPhonemes>(nullptr);
  }
  models::JapaneseWords words;
  if (!options.japanese_words_file.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(words, models::JapaneseWords::Open(options.japanese_words_file));
  }
  return std::make_unique<JapaneseToPhonemes>(
      std::make_unique<const models::JapaneseG2p>(*std::move(analyzer), std::move(words)));
}

std::unique_ptr<TextToPhonemes> MakeChinese(const TextToPhonemesOptions& options,
                                            models::ChineseLexicon lexicon) {
  auto espeak = models::EspeakFallback::Create(
      {.espeak = options.espeak, .dialect = models::EnglishDialect::kUs});
  if (!espeak.ok()) {
    SendToLog(LogSeverity::kInfo, StrCat("English words in Chinese are spelled letter by letter: ",
                                         espeak.status().message()));
    return std::make_unique<ChineseToPhonemes>(std::move(lexicon), nullptr);
  }
  return std::make_unique<ChineseToPhonemes>(
      std::move(lexicon), std::make_shared<models::CachedFallback>(*std::move(espeak)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TextToPhonemes>> MakeTextToPhonemes(
    const TextToPhonemesOptions& options) {
  if (options.language == "en-US") return MakeEnglish(options, models::EnglishDialect::kUs);
  if (options.language == "en-GB") return MakeEnglish(options, models::EnglishDialect::kGb);
  if (options.language == "ja") return MakeJapanese(options);
  if (options.language == "zh") {
    MILLRACE_ASSIGN_OR_RETURN(auto lexicon,
                              models::ChineseLexicon::Open(options.chinese_lexicon_file));
    return MakeChinese(options, std::move(lexicon));
  }
  if (const models::EspeakLanguage* language = models::FindEspeakLanguage(options.language);
      language != nullptr)
    return MakeEspeak(options, *language);
  std::string allowed = "en-US, en-GB, ja, zh";
  for (const models::EspeakLanguage& language : models::kEspeakLanguages)
    absl::StrAppend(&allowed, ", ", View(language.tag));
  return InvalidArgument("language: there is no way from '", options.language,
                         "' to phonemes, allowed ", allowed);
}

std::unique_ptr<TextToPhonemes> RefuseTexts(std::string_view language, const absl::Status& reason) {
  return std::make_unique<RefusedTexts>(FailedPrecondition(
      "language: '", View(language), "' cannot be spoken here: ", reason.message()));
}

absl::StatusOr<std::string> LanguageOfLexicon(const std::filesystem::path& lexicon_file) {
  MILLRACE_ASSIGN_OR_RETURN(const auto lexicon, models::EnglishLexicon::Open(lexicon_file));
  return lexicon.dialect() == models::EnglishDialect::kGb ? "en-GB" : "en-US";
}

}  // namespace millrace::speech
