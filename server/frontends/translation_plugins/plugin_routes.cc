#include "server/frontends/translation_plugins/plugin_routes.h"

#include <utility>

#include "httplib.h"
#include "models/core/errors.h"
#include "nlohmann/json.hpp"
#include "server/frontends/http/error_status.h"
#include "server/frontends/http/request_members.h"
#include "server/frontends/http/response_headers.h"
#include "server/frontends/translation_plugins/plugin_protocols.h"
#include "server/http/http_routes.h"
#include "server/http/query.h"
#include "server/json/ignored_members.h"
#include "server/security/api_key_store.h"

namespace millrace::server {
namespace {

using Members = absl::StatusOr<nlohmann::json>;

// Returns the key that a plug-in sends in a way of its own, or an empty string.
std::string PluginKey(const httplib::Request& request) {
  for (const char* parameter : kPluginKeyParameters) {
    for (std::string& key : HttpQuery().TakeValues(parameter)) {
      if (!key.empty()) return std::move(key);
    }
  }
  for (const char* header : {"Key", "X-Api-Token"}) {
    if (std::string key = request.get_header_value(header); !key.empty()) return key;
  }
  return std::string(BearerToken(request.get_header_value("Authorization"), "DeepL-Auth-Key"));
}

void Answer(HttpTranslator& translator, const PluginProtocol& protocol,
            const httplib::Request& request, httplib::Response& response, const Members& members) {
  absl::StatusOr<PluginRequest> wanted =
      members.ok() ? ParsePluginRequest(protocol, *members) : members.status();
  if (wanted.ok()) AddWarning(IgnoredMembersWarning(wanted->ignored), response);
  auto result = translator.Translate(
      request, response, PluginKey(request),
      wanted.ok() ? absl::StatusOr<TranslationRequest>(std::move(wanted->translation))
                  : wanted.status());
  if (result.ok()) {
    response.set_content(protocol.answer(*wanted, *std::move(result)), "application/json");
    return;
  }
  const absl::Status& status = result.status();
  SetErrorStatus(response, status);
  // A pair of languages that no model has is not a path.
  if (response.status == 404) response.status = 400;
  // Errors of the request itself have the client's names already.
  const std::string message = wanted.ok() ? PluginErrorMessage(protocol, wanted->list, status)
                                          : std::string(Message(status));
  response.set_content(protocol.error(response.status, message), "application/json");
}

}  // namespace

SharedPathHandler AddTranslationPluginRoutes(HttpServer& server,
                                             std::shared_ptr<HttpTranslator> translator) {
  for (const PluginProtocol& protocol : PluginProtocols()) {
    server.routes().Post(
        protocol.path,
        [translator, &protocol](const httplib::Request& request, httplib::Response& response,
                                const httplib::ContentReader& reader) {
          if (const auto members = ReadMembers(request, reader))
            Answer(*translator, protocol, request, response, *members);
        });
    server.ShapeErrorsBelow(protocol.path, protocol.error);
  }
  return
      [translator = std::move(translator)](const httplib::Request& request,
                                           httplib::Response& response, const std::string& body) {
        const Members members = ParseMembers(request.get_header_value("Content-Type"), body);
        const PluginProtocol* protocol = members.ok() ? ProtocolOfTranslate(*members) : nullptr;
        if (protocol == nullptr) return false;
        Answer(*translator, *protocol, request, response, members);
        return true;
      };
}

}  // namespace millrace::server
