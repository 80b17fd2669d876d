#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/scheduling/model_directory.h"

namespace millrace::server {

// The models that translate texts from one language into another.
struct TranslationRoute {
  std::string source_language;
  std::string target_language;
  std::string pivot_language;  // between the two; empty: none
  // In order: one model, two with a pivot, or none if there is nothing to translate.
  std::vector<std::shared_ptr<ServedModel>> models;
};

// Finds the route between two BCP 47 tags, either of which may be empty (any). Tags are matched
// with the models' own (LanguagesMeant), which the route then has. If no model translates directly,
// two do by way of English. A text that is already in the target language needs no model. Returns
// NotFound, or InvalidArgument when several models fit; with `choose`, the one with the fewest
// languages is taken.
absl::StatusOr<TranslationRoute> FindRoute(const ModelDirectory& models, std::string_view source,
                                           std::string_view target, bool choose = false);

// Returns all pairs of languages that can be translated, sorted by the tags.
std::vector<TranslationRoute> AllRoutes(const ModelDirectory& models);

}  // namespace millrace::server
