#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/text/language_detector.h"
#include "server/http/form.h"
#include "server/http/query.h"
#include "server/requests/translation_request.h"
#include "server/requests/translation_results.h"

namespace millrace::server {

// A request to one of LibreTranslate's endpoints, from JSON or a form.
struct HttpTranslateRequest {
  TranslationRequest translation;  // its texts come from q
  bool has_query = false;          // there is a q
  bool list = false;               // q is a list; then the answer is one too
  bool auto_source = false;
  int alternatives = 0;
  std::string api_key;
  std::vector<std::string> ignored;  // members that have no effect
};

// Reads a body of that content type. As the original does, it ignores members that it does not
// know, and takes those of a form or of no body from the query too. InvalidArgument names the
// member. Beyond the original's there are a glossary and do_not_translate.
absl::StatusOr<HttpTranslateRequest> ParseTranslateBody(std::string_view content_type,
                                                        std::string_view body, Query& query);
// Reads a form that was already decoded.
absl::StatusOr<HttpTranslateRequest> ParseTranslateForm(FormMembers members);
// These return OK if the request has what POST /translate, or POST /detect, needs.
absl::Status CheckTranslate(const HttpTranslateRequest& request);
absl::Status CheckDetect(const HttpTranslateRequest& request);

// These return answers as JSON. The request's contents were moved out of it, except for its flags.
// What was lost in a translation is in a member of its own, which the original does not have.
std::string TranslateBody(const HttpTranslateRequest& request,
                          const std::vector<TranslationText>& texts,
                          std::vector<TranslationResults::Text> results);
std::string DetectBody(const std::vector<models::DetectedLanguage>& candidates);
std::string LanguagesBody(const std::vector<TranslationRoute>& routes);
std::string SettingsBody(const std::vector<TranslationRoute>& routes, bool keys,
                         size_t max_characters = kMaxTranslateCharacters);

}  // namespace millrace::server
