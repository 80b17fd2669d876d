#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "server/frontends/deepl/kept_elements.h"
#include "server/frontends/http/http_translator.h"

namespace millrace::server {

// A request to POST /v2/translate.
struct DeepLRequest {
  TranslationRequest translation;
  std::string source_language;            // as the client names it; empty: it is detected
  std::vector<std::string> ignored_tags;  // until `kept` has them
  std::optional<KeptElements> kept = {};  // that the texts had
  std::vector<std::string> ignored;       // members that have no effect
};

// Reads the members of a body of JSON, or of a form, whose values are all strings. A member that
// would change the translation, and cannot here, is refused by its name; others are ignored.
// InvalidArgument names the member.
absl::StatusOr<DeepLRequest> ParseDeepLRequest(const nlohmann::json& members);

// Reads the type of a request for languages: whether targets are asked for.
absl::StatusOr<bool> WantsTargets(const nlohmann::json& members);

// These return answers as JSON. Every text has its billed_characters, whether they are asked for or
// not: DeepL's Python client cannot read an answer without them.
std::string DeepLTranslateBody(const DeepLRequest& request, HttpTranslator::Result result);
std::string DeepLUsageBody();

}  // namespace millrace::server
