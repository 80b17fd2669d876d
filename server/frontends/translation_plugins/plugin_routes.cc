#include "server/frontends/translation_plugins/plugin_routes.h"

#include <utility>

#include "httplib.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/frontends/http/other_keys.h"
#include "server/frontends/http/request_members.h"
#include "server/frontends/translation_plugins/plugin_protocols.h"
#include "server/http/http_routes.h"
#include "server/http/http_status.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

using Members = absl::StatusOr<nlohmann::json>;

// Returns the key that a plug-in sends in a way of its own, or an empty string.
std::string PluginKey(const httplib::Request& request) {
  for (const char* parameter : {"token", "api_token"}) {
    if (std::string key = request.get_param_value(parameter); !key.empty()) return key;
  }
  for (const char* header : {"Key", "X-Api-Token"}) {
    if (std::string key = request.get_header_value(header); !key.empty()) return key;
  }
  return KeyOfScheme(request, "DeepL-Auth-Key");
}

class PluginRoutes {
 public:
  PluginRoutes(Services& services, std::shared_ptr<HttpTranslator> translator)
      : services_(services), translator_(std::move(translator)) {}

  void Answer(const PluginProtocol& protocol, const httplib::Request& request,
              httplib::Response& response, const Members& members) const {
    const std::string key = PluginKey(request);
    absl::StatusOr<PluginRequest> wanted = Take(protocol, request, key, members);
    auto result = translator_->Translate(
        request, response, key,
        wanted.ok() ? absl::StatusOr<TranslationRequest>(std::move(wanted->translation))
                    : wanted.status());
    if (result.ok()) {
      response.set_content(protocol.answer(*wanted, *std::move(result)), "application/json");
      return;
    }
    const absl::Status& status = result.status();
    response.status = HttpStatusOf(status);
    // A pair of languages that no model has is not a path.
    if (response.status == 404) response.status = 400;
    if (const int seconds = RetryAfterSeconds(status); seconds > 0)
      response.set_header("Retry-After", StrCat(seconds));
    if (response.status == 401) response.set_header("WWW-Authenticate", "Bearer");
    response.set_content(protocol.error(response.status, MessageWithNames(status, protocol.names)),
                         "application/json");
  }

 private:
  // Authentication errors take precedence over errors of parsing.
  absl::StatusOr<PluginRequest> Take(const PluginProtocol& protocol,
                                     const httplib::Request& request, const std::string& key,
                                     const Members& members) const {
    if (absl::Status status = AuthenticateHttp(request, services_.keys, key); !status.ok())
      return status;
    if (absl::Status status = translator_->CheckStarted(); !status.ok()) return status;
    if (!members.ok()) return members.status();
    return protocol.parse(*members);
  }

  Services& services_;
  const std::shared_ptr<HttpTranslator> translator_;
};

}  // namespace

SharedPathHandler AddTranslationPluginRoutes(HttpServer& server, Services& services,
                                             std::shared_ptr<HttpTranslator> translator) {
  const auto routes = std::make_shared<PluginRoutes>(services, std::move(translator));
  for (const PluginProtocol& protocol : PluginProtocols()) {
    server.routes().Post(protocol.path, [routes, &protocol](const httplib::Request& request,
                                                            httplib::Response& response,
                                                            const httplib::ContentReader& reader) {
      if (const auto members = ReadMembers(request, reader))
        routes->Answer(protocol, request, response, *members);
    });
    server.ShapeErrorsBelow(protocol.path, protocol.error);
  }
  return [routes](const httplib::Request& request, httplib::Response& response,
                  const std::string& body) {
    const Members members = ParseMembers(request.get_header_value("Content-Type"), body);
    const PluginProtocol* protocol = members.ok() ? ProtocolOfTranslate(*members) : nullptr;
    if (protocol == nullptr) return false;
    routes->Answer(*protocol, request, response, members);
    return true;
  };
}

}  // namespace millrace::server
