#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/text/language_detector.h"
#include "server/requests/services.h"
#include "server/requests/translation_request.h"
#include "server/requests/translation_route.h"

namespace millrace::server {

// Texts of a request with the same route.
struct SourceGroup {
  TranslationRoute route;
  std::vector<size_t> texts = {};
};

// The languages in which the texts of a request are read.
struct TextSources {
  std::vector<SourceGroup> groups;  // ordered by the first text of each; every text is in one
  // Set if the languages were detected: for each text, the language it is read in and its
  // confidence.
  std::vector<models::DetectedLanguage> read_in = {};
  // Set if the languages were detected: for each text, as TranslationText::untranslated.
  std::vector<std::string> untranslated = {};
  // Set if the languages were detected or the request asks for it: the likely language of each
  // text; empty if it is unknown.
  std::vector<models::DetectedLanguage> detected = {};
};

// Finds the routes for a request's texts, which must not be empty; the request itself holds none.
// Fails as MakeTranslationWork does. Takes at most half a millisecond for each text.
absl::StatusOr<TextSources> FindSources(const TranslationRequest& request,
                                        const std::vector<std::string>& texts,
                                        const Services& services);

// Returns Unimplemented if this build has no language detector.
absl::Status CheckDetector();

}  // namespace millrace::server
