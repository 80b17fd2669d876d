#include "server/frontends/http/error_status.h"

#include <string>

#include "httplib.h"
#include "models/core/strings.h"
#include "server/http/http_server.h"
#include "server/http/http_status.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {

void SetRetryAfter(httplib::Response& response, const absl::Status& status) {
  if (const int seconds = RetryAfterSeconds(status); seconds > 0)
    response.set_header("Retry-After", StrCat(seconds));
}

void SetErrorStatus(httplib::Response& response, const absl::Status& status) {
  response.status = HttpStatusOf(status);
  SetRetryAfter(response, status);
  if (response.status == 401) response.set_header("WWW-Authenticate", "Bearer");
}

void SendErrorStatus(httplib::Response& response, const absl::Status& status) {
  SetErrorStatus(response, status);
  SendError(response, response.status, std::string(Message(status)));
}

void SetTranslationErrorStatus(httplib::Response& response, const absl::Status& status) {
  response.status = HttpStatusOf(status);
  if (response.status == 401) response.status = 403;
  if (response.status == 404) response.status = 400;
  SetRetryAfter(response, status);
}

}  // namespace millrace::server
