#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/payload.h"
#include "models/text/language_detector.h"
#include "server/requests/request_run.h"
#include "server/requests/services.h"
#include "server/requests/translation_route.h"

namespace millrace::server {

// The source_language that asks for detection.
inline constexpr std::string_view kAutoLanguage = "auto";

// The most characters of all texts of a request together.
inline constexpr size_t kMaxTranslateCharacters = 100'000;

// A request for a translation, whatever it came by. Strings are valid UTF-8.
struct TranslationRequest {
  std::string model;  // empty: the one that fits the languages
  std::string model_version;
  models::TranslateInput input;  // its source_language may be kAutoLanguage
  bool detect_language = false;  // of each text
  // In place of a language that cannot be told or that no model reads; empty: that is an error.
  std::string fallback_language;
  // Each text may be in a language of its own; short ones are taken to be in that of all.
  bool detect_each = false;
  // When several models do it, the one with the fewest languages does; else that is an error.
  bool choose_model = false;
  // In place of search.hypotheses: so many, or as many as the model gives.
  std::optional<int> preferred_hypotheses = {};
  bool streamed = false;  // each sentence goes to the client once it is translated
};

// One text of a request.
struct TranslationText {
  absl::Status status = {};  // why it is not translated
  size_t characters = 0;     // Unicode code points
  // When asked for; empty when it cannot be told.
  std::optional<models::DetectedLanguage> detected = {};
  // When its language was detected: the one that it is read in, and how sure that is; 0 when it is
  // the fallback.
  std::optional<models::DetectedLanguage> read_in = {};
};

// What it asks for, of the texts that are read in one language.
struct TranslationWork {
  Work work;  // of the first model; without a model when there is nothing to translate
  TranslationRoute route;
  std::vector<TranslationText> texts;       // all of the request's; in the first of several works
  std::vector<size_t> places;               // in texts, of those in the work's input
  size_t alternatives = 0;                  // to the best translation of each text, at most
  std::vector<std::string> unchanged = {};  // in place of translations, when there is no model
};

// Checks what needs no model's own look, and finds the models. InvalidArgument, NotFound or
// FailedPrecondition name the field, its value and what is allowed. A text that cannot be
// translated has its status, and is only an error of the request when all are like that.
absl::StatusOr<TranslationWork> MakeTranslationWork(TranslationRequest request,
                                                    const Services& services);
// The same with one work for each language that the texts are read in: several only with
// detect_each.
absl::StatusOr<std::vector<TranslationWork>> MakeTranslationWorks(TranslationRequest request,
                                                                  const Services& services);

// The languages that each text seems to be in. As MakeTranslationWork, but no text may be empty.
absl::StatusOr<std::vector<std::vector<models::DetectedLanguage>>> DetectLanguagesOf(
    const std::vector<std::string>& texts);

}  // namespace millrace::server
