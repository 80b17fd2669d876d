#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "server/frontends/deepl/glossary_store.h"
#include "server/frontends/deepl/inline_elements.h"
#include "server/frontends/deepl/kept_elements.h"
#include "server/frontends/http/http_translator.h"

namespace millrace::server {

// A request to POST /v2/translate or, without texts, to POST /v2/document.
struct DeepLRequest {
  TranslationRequest translation;
  std::string source_language;  // as the client names it; empty: it is detected
  // Where several glossaries have a phrase, the first one's translation is taken.
  std::vector<std::string> glossary_ids;
  std::string_view glossary_field = "glossary_id";  // the member that named them
  std::vector<std::string> ignored_tags;            // until `kept` has them
  std::vector<std::string> inline_tags;             // until `inlines` has them
  std::optional<KeptElements> kept = {};            // The elements that stay as they are.
  std::optional<InlineElements> inlines = {};       // The elements within sentences.
  std::vector<std::string> ignored;                 // members that have no effect
  std::vector<size_t> characters = {};              // in each text, as the client sent it
};

// Reads the members of a body of JSON, or of a form, whose values are all strings. A member that
// would change the translation, and cannot here, is refused by its name; others are ignored.
// InvalidArgument names the member.
absl::StatusOr<DeepLRequest> ParseDeepLRequest(const nlohmann::json& members);
// The same for the members of a form that brings a document, whose name is file_name.
absl::StatusOr<DeepLRequest> ParseDeepLDocument(nlohmann::json members, std::string& file_name);

// Reads a request to keep a glossary. InvalidArgument names the member.
absl::StatusOr<Glossary> ParseGlossary(const nlohmann::json& members);
// Returns a language as glossaries have it: "pt" for "PT-BR".
std::string GlossaryLanguage(std::string_view tag);
// Returns what a client is told of a glossary.
nlohmann::ordered_json GlossaryInfo(const std::string& id, const Glossary& glossary);

// Reads the type of a request for languages: whether targets are asked for.
absl::StatusOr<bool> WantsTargets(const nlohmann::json& members);

// These return answers as JSON. Every text has its billed_characters, whether they are asked for or
// not: DeepL's Python client cannot read an answer without them.
std::string DeepLTranslateBody(const DeepLRequest& request, HttpTranslator::Result result);
std::string DeepLUsageBody();

}  // namespace millrace::server
