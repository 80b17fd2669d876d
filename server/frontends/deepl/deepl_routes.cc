#include "server/frontends/deepl/deepl_routes.h"

#include <optional>
#include <string>
#include <utility>

#include "httplib.h"
#include "nlohmann/json.hpp"
#include "server/frontends/deepl/deepl_error.h"
#include "server/frontends/deepl/deepl_languages.h"
#include "server/frontends/deepl/deepl_message.h"
#include "server/frontends/http/ignored_members.h"
#include "server/frontends/http/other_keys.h"
#include "server/frontends/http/request_members.h"
#include "server/http/http_routes.h"
#include "server/requests/models_answer.h"
#include "server/requests/translation_route.h"

namespace millrace::server {
namespace {

constexpr const char* kPrefixes[] = {"/v2/translate", "/v2/languages", "/v2/usage", "/v2/glossar",
                                     "/v2/document"};

// Returns the key that DeepL's clients send, or an empty string.
std::string DeepLKey(const httplib::Request& request) {
  return KeyOfScheme(request, "DeepL-Auth-Key");
}

void SendJson(httplib::Response& response, const std::string& body) {
  response.set_content(body, "application/json");
}

class DeepLRoutes {
 public:
  using Members = absl::StatusOr<nlohmann::json>;

  DeepLRoutes(Services& services, std::shared_ptr<HttpTranslator> translator)
      : services_(services),
        translator_(std::move(translator)),
        sources_(services.models,
                 [](const ModelDirectory& models) { return DeepLSourcesBody(AllRoutes(models)); }),
        targets_(services.models,
                 [](const ModelDirectory& models) { return DeepLTargetsBody(AllRoutes(models)); }) {
  }

  void Translate(const httplib::Request& request, httplib::Response& response,
                 const Members& members) {
    absl::StatusOr<DeepLRequest> wanted = Take(request, members);
    auto result = translator_->Translate(
        request, response, DeepLKey(request),
        wanted.ok() ? absl::StatusOr<TranslationRequest>(std::move(wanted->translation))
                    : wanted.status());
    if (!result.ok()) return SendDeepLError(response, result.status());
    if (!wanted->ignored.empty())
      response.set_header("Warning", IgnoredMembersWarning(wanted->ignored));
    SendJson(response, DeepLTranslateBody(*wanted, *std::move(result)));
  }

  void Languages(const httplib::Request& request, httplib::Response& response,
                 const Members& members) {
    absl::Status status = Check(request, members);
    absl::StatusOr<bool> targets = false;
    if (status.ok()) {
      // The type may stand in the query or in the body, which the Python client sends with GET.
      targets = request.has_param("type")
                    ? WantsTargets({{"type", request.get_param_value("type")}})
                    : WantsTargets(*members);
      status = targets.status();
    }
    if (!status.ok()) return SendDeepLError(response, status);
    SendJson(response, *(*targets ? targets_ : sources_).Get());
  }

  void Usage(const httplib::Request& request, httplib::Response& response, const Members& members) {
    if (absl::Status status = Check(request, members); !status.ok())
      return SendDeepLError(response, status);
    SendJson(response, DeepLUsageBody());
  }

 private:
  // Authentication errors take precedence over errors of parsing.
  absl::Status Check(const httplib::Request& request, const Members& members) const {
    const std::string key = DeepLKey(request);
    if (!AuthenticateHttp(request, services_.keys, key).ok()) {
      return absl::UnauthenticatedError(
          request.has_header("Authorization") || request.has_header("X-Api-Key")
              ? "the API key is not known"
              : "an API key is needed, as `authorization: DeepL-Auth-Key <key>`");
    }
    return members.status();
  }

  absl::StatusOr<DeepLRequest> Take(const httplib::Request& request, const Members& members) const {
    absl::Status status = Check(request, members);
    if (absl::IsUnauthenticated(status)) return status;
    if (absl::Status started = translator_->CheckStarted(); !started.ok()) return started;
    if (!status.ok()) return status;
    return ParseDeepLRequest(*members);
  }

  Services& services_;
  const std::shared_ptr<HttpTranslator> translator_;
  ModelsAnswer<std::string> sources_;
  ModelsAnswer<std::string> targets_;
};

}  // namespace

void AddDeepLRoutes(HttpServer& server, Services& services,
                    std::shared_ptr<HttpTranslator> translator) {
  const auto routes = std::make_shared<DeepLRoutes>(services, std::move(translator));
  const auto post = [&](const char* path, auto handler) {
    server.routes().Post(
        path, [routes, handler](const httplib::Request& request, httplib::Response& response,
                                const httplib::ContentReader& reader) {
          if (const auto members = ReadMembers(request, reader))
            (*routes.*handler)(request, response, *members);
        });
  };
  const auto get = [&](const char* path, auto handler) {
    server.routes().GetWithBody(
        path, [routes, handler](const httplib::Request& request, httplib::Response& response) {
          (*routes.*handler)(request, response,
                             ParseMembers(request.get_header_value("Content-Type"), request.body));
        });
  };
  post("/v2/translate", &DeepLRoutes::Translate);
  post("/v2/languages", &DeepLRoutes::Languages);
  post("/v2/usage", &DeepLRoutes::Usage);
  get("/v2/languages", &DeepLRoutes::Languages);
  get("/v2/usage", &DeepLRoutes::Usage);
  // Also of what is not here, such as its glossaries.
  for (const char* prefix : kPrefixes) {
    server.ShapeErrorsBelow(
        prefix, [](int, const std::string& message) { return DeepLErrorBody(message); });
  }
}

}  // namespace millrace::server
