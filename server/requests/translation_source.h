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

// Texts of a request that go one way.
struct SourceGroup {
  TranslationRoute route;
  std::vector<size_t> texts = {};
};

// In which languages the texts of a request are read.
struct TextSources {
  std::vector<SourceGroup> groups;  // by the first text of each; every text is in one of them
  // When they were detected, of each text: what it is read in, and how sure that is.
  std::vector<models::DetectedLanguage> read_in = {};
  // When that is asked for, of each text: what it seems to be in; empty when it cannot be told.
  std::vector<models::DetectedLanguage> detected = {};
};

// Finds the ways for a request's texts, which are not empty; the request itself holds none.
// InvalidArgument, NotFound or FailedPrecondition as of MakeTranslationWork. Half a millisecond at
// most for each text.
absl::StatusOr<TextSources> FindSources(const TranslationRequest& request,
                                        const std::vector<std::string>& texts,
                                        const Services& services);

// Unimplemented when there is no detector in this build.
absl::Status CheckDetector();

}  // namespace millrace::server
