#include "server/frontends/http/translation_error.h"

#include "httplib.h"
#include "models/core/strings.h"
#include "server/frontends/http/error_status.h"
#include "server/http/http_status.h"

namespace millrace::server {

std::string MessageWithNames(const absl::Status& status, FieldNames names) {
  std::string message(Message(status));
  for (const auto& [ours, theirs] : names) {
    if (!message.starts_with(ours)) continue;
    message.replace(0, ours.size(), theirs);
    break;
  }
  return message;
}

void SetTranslationErrorStatus(httplib::Response& response, const absl::Status& status) {
  response.status = HttpStatusOf(status);
  if (response.status == 401) response.status = 403;
  if (response.status == 404) response.status = 400;
  SetRetryAfter(response, status);
}

}  // namespace millrace::server
