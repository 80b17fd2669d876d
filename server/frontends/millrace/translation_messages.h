#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "millrace/v1/translation.pb.h"
#include "server/requests/translation_request.h"
#include "server/requests/translation_results.h"
#include "server/requests/translation_route.h"

namespace millrace::server {

// Returns the request in its native form. Returns InvalidArgument for a format that does not exist;
// nothing else is checked.
absl::StatusOr<TranslationRequest> ToTranslationRequest(v1::TranslateRequest message);

v1::TranslationRoute ToMessage(const TranslationRoute& route);
v1::TextStatus ToMessage(const absl::Status& status);
// Returns the status of a text, which is not OK either if the text is returned as it is because no
// model reads its language.
absl::Status StatusOf(const TranslationText& text);
v1::DetectedLanguage ToMessage(models::DetectedLanguage detected);

using Alternatives = google::protobuf::RepeatedPtrField<v1::Alternative>;

Alternatives ToMessages(std::vector<models::TranslationAlternative> alternatives);
// Makes the message of one text.
v1::Translation ToMessage(TranslationResults::Text result, const TranslationText& text);

v1::ListLanguagesResponse ToMessage(const std::vector<TranslationRoute>& routes);

}  // namespace millrace::server
