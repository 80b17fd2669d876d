#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/scheduling/model_directory.h"

namespace millrace::server {

// How texts get from one language into another.
struct TranslationRoute {
  std::string source_language;
  std::string target_language;
  std::string pivot_language;  // between the two; empty: none is needed
  // In order: one, two with a pivot, none when there is nothing to translate.
  std::vector<std::shared_ptr<ServedModel>> models;
};

// Finds it for two BCP 47 tags, either of which may be empty: any. They are looked up among the
// models' own (LanguagesMeant), which the route then has. When no model does it, two do it by way
// of English. What is in the target language already needs no model. NotFound, or InvalidArgument
// when several models could be meant; with choose, the one that has the fewest languages then does
// it.
absl::StatusOr<TranslationRoute> FindRoute(const ModelDirectory& models, std::string_view source,
                                           std::string_view target, bool choose = false);

// What can be translated into what, ordered by the tags.
std::vector<TranslationRoute> AllRoutes(const ModelDirectory& models);

}  // namespace millrace::server
