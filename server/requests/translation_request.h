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

// Requests for translation over gRPC up to this size in bytes are decoded at once: hundreds of tiny
// texts fit in, and the language of each may have to be detected.
inline constexpr size_t kShortTexts = 2 << 10;

// A translation request, whatever its protocol. Strings are valid UTF-8.
struct TranslationRequest {
  std::string model;  // empty: the one that fits the languages
  std::string model_version;
  models::TranslateInput input;  // its source_language may be kAutoLanguage
  bool detect_language = false;  // report the language of each text
  // The language to use where none is detected; empty: an error.
  std::string fallback_language;
  // Detects the language of each text by itself; short texts are read in the language of all.
  bool detect_each = false;
  // Where several models fit, takes the one with the fewest languages; false: that is an error.
  bool choose_model = false;
  // Replaces search.hypotheses by this number, reduced to the most that the model gives.
  std::optional<int> preferred_hypotheses = {};
  bool streamed = false;  // each sentence goes to the client once it is translated
};

// The state of one text of a request.
struct TranslationText {
  absl::Status status = {};  // why it is not translated
  size_t characters = 0;     // Unicode code points
  // Set if the request asks for it; an empty language could not be detected.
  std::optional<models::DetectedLanguage> detected = {};
  // Set if the source language was detected: the language that the text is read in, and its
  // confidence, which is 0 for the fallback.
  std::optional<models::DetectedLanguage> read_in = {};
  // Why the text is returned as it is: no model reads its language, or it is in the target language
  // already, which is no failure. Empty otherwise.
  std::string untranslated = {};
  bool is_in_target_language = false;
};

// The work for those texts of a request that are read in one language.
struct TranslationWork {
  Work work;  // the first model's; no model if there is nothing to translate
  TranslationRoute route;
  std::vector<TranslationText> texts;       // all of the request; in the first of several works
  std::vector<size_t> places;               // for each text of the work, its index in the request
  size_t alternatives = 0;                  // the most for each text, beside the best translation
  std::vector<std::string> unchanged = {};  // the translations, if no model is needed
};

// Finds the models and makes all checks that do not need them. InvalidArgument, NotFound or
// FailedPrecondition name the field, its value and what is allowed. A text that cannot be
// translated gets a status of its own; the request fails only if all texts are like that.
absl::StatusOr<TranslationWork> MakeTranslationWork(TranslationRequest request,
                                                    const Services& services);
// Returns one work for each language that the texts are read in. There are several only with
// detect_each.
absl::StatusOr<std::vector<TranslationWork>> MakeTranslationWorks(TranslationRequest request,
                                                                  const Services& services);

// Returns the likely languages of each text. Fails like MakeTranslationWork, and for empty texts.
absl::StatusOr<std::vector<std::vector<models::DetectedLanguage>>> DetectLanguagesOf(
    const std::vector<std::string>& texts);

}  // namespace millrace::server
