#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/text/language_detector.h"
#include "server/http/form.h"
#include "server/requests/translation_request.h"
#include "server/requests/translation_results.h"

namespace millrace::server {

// What LibreTranslate's endpoints are asked for, as JSON or as a form.
struct HttpTranslateRequest {
  TranslationRequest translation;  // its texts are q
  bool list = false;               // q is a list, and so is the answer
  bool auto_source = false;
  int alternatives = 0;
  std::string api_key;
};

// Reads a body of that content type. As the original does, it ignores members that it does not
// know. InvalidArgument names the member.
absl::StatusOr<HttpTranslateRequest> ParseTranslateBody(std::string_view content_type,
                                                        std::string_view body);
// The same of a form that has been read.
absl::StatusOr<HttpTranslateRequest> ParseTranslateForm(FormMembers members);
// OK when it has what POST /translate needs, and POST /detect.
absl::Status CheckTranslate(const HttpTranslateRequest& request);
absl::Status CheckDetect(const HttpTranslateRequest& request);

// Answers, as JSON. What was asked for has been moved out of the request but for its flags. What
// was lost in a translation stands in a member of its own, which the original does not have.
std::string TranslateBody(const HttpTranslateRequest& request,
                          const std::vector<TranslationText>& texts,
                          std::vector<TranslationResults::Text> results);
std::string DetectBody(const std::vector<models::DetectedLanguage>& candidates);
std::string LanguagesBody(const std::vector<TranslationRoute>& routes);
std::string SettingsBody(const std::vector<TranslationRoute>& routes, bool keys);

}  // namespace millrace::server
