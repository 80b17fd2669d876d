#include "server/frontends/deepl/deepl_error.h"

#include <utility>

#include "httplib.h"
#include "nlohmann/json.hpp"
#include "server/frontends/http/error_status.h"
#include "server/json/json_text.h"
#include "server/requests/field_names.h"

namespace millrace::server {
namespace {

constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"source_language, target_language", "source_lang, target_lang"},
    {"texts", "text"},
    {"source_language", "source_lang"},
    {"target_language", "target_lang"}};

}  // namespace

std::string DeepLErrorBody(std::string_view message) {
  // A message may repeat the client's bytes, which need not be UTF-8.
  return JsonText(nlohmann::json{{"message", message}});
}

std::string DeepLErrorMessage(const absl::Status& status) {
  return MessageWithNames(status, kNames);
}

void SendDeepLError(httplib::Response& response, const absl::Status& status) {
  SetTranslationErrorStatus(response, status);
  response.set_content(DeepLErrorBody(DeepLErrorMessage(status)), "application/json");
}

}  // namespace millrace::server
