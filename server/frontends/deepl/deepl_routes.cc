#include "server/frontends/deepl/deepl_routes.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "httplib.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/frontends/deepl/deepl_error.h"
#include "server/frontends/deepl/deepl_languages.h"
#include "server/frontends/deepl/deepl_message.h"
#include "server/frontends/deepl/glossary_entries.h"
#include "server/frontends/deepl/glossary_store.h"
#include "server/frontends/http/ignored_members.h"
#include "server/frontends/http/other_keys.h"
#include "server/frontends/http/request_members.h"
#include "server/http/http_routes.h"
#include "server/json/json_text.h"
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
    if (wanted.ok() && !wanted->glossary_id.empty()) {
      if (absl::Status status = ApplyGlossary(OwnerOf(request), *wanted); !status.ok())
        wanted = status;
    }
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

  void CreateGlossary(const httplib::Request& request, httplib::Response& response,
                      const Members& members) {
    absl::Status status = Check(request, members);
    if (!status.ok()) return SendDeepLError(response, status);
    absl::StatusOr<Glossary> glossary = ParseGlossary(*members);
    if (!glossary.ok()) return SendDeepLError(response, glossary.status());
    const std::string owner = OwnerOf(request);
    const auto id = glossaries_.Add(owner, *std::move(glossary));
    if (!id.ok()) return SendDeepLError(response, id.status());
    response.status = 201;
    SendJson(response, JsonText(GlossaryInfo(*id, *glossaries_.Find(owner, *id))));
  }

  void ListGlossaries(const httplib::Request& request, httplib::Response& response) {
    if (!IsKnown(request, response)) return;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& [id, glossary] : glossaries_.List(OwnerOf(request)))
      list.push_back(GlossaryInfo(id, *glossary));
    SendJson(response, JsonText(nlohmann::ordered_json{{"glossaries", std::move(list)}}));
  }

  void GetGlossary(const httplib::Request& request, httplib::Response& response) {
    if (const auto glossary = FindGlossary(request, response))
      SendJson(response, JsonText(GlossaryInfo(request.matches[1].str(), *glossary)));
  }

  void GlossaryEntries(const httplib::Request& request, httplib::Response& response) {
    if (const auto glossary = FindGlossary(request, response))
      response.set_content(GlossaryAsTsv(glossary->entries), "text/tab-separated-values");
  }

  void DeleteGlossary(const httplib::Request& request, httplib::Response& response) {
    if (FindGlossary(request, response) == nullptr) return;
    glossaries_.Remove(OwnerOf(request), request.matches[1].str());
    response.status = 204;
  }

  void GlossaryPairs(const httplib::Request& request, httplib::Response& response) {
    if (!IsKnown(request, response)) return;
    std::set<std::pair<std::string, std::string>> pairs;
    for (const TranslationRoute& route : AllRoutes(services_.models))
      pairs.emplace(GlossaryLanguage(route.source_language),
                    GlossaryLanguage(route.target_language));
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& [source, target] : pairs)
      list.push_back({{"source_lang", source}, {"target_lang", target}});
    SendJson(response, JsonText(nlohmann::ordered_json{{"supported_languages", std::move(list)}}));
  }

  void Usage(const httplib::Request& request, httplib::Response& response, const Members& members) {
    if (absl::Status status = Check(request, members); !status.ok())
      return SendDeepLError(response, status);
    SendJson(response, DeepLUsageBody());
  }

 private:
  // Glossaries are of the API key that created them; without keys, of everybody.
  std::string OwnerOf(const httplib::Request& request) const {
    return HttpCaller(request, services_.keys, DeepLKey(request)).key;
  }

  bool IsKnown(const httplib::Request& request, httplib::Response& response) const {
    const absl::Status status = Check(request, nlohmann::json::object());
    if (!status.ok()) SendDeepLError(response, status);
    return status.ok();
  }

  std::shared_ptr<const Glossary> FindGlossary(const httplib::Request& request,
                                               httplib::Response& response) const {
    if (!IsKnown(request, response)) return nullptr;
    auto glossary = glossaries_.Find(OwnerOf(request), request.matches[1].str());
    if (glossary != nullptr) return glossary;
    response.status = 404;
    SendJson(response, DeepLErrorBody("there is no such glossary; they are kept until the server "
                                      "stops"));
    return nullptr;
  }

  absl::Status ApplyGlossary(const std::string& owner, DeepLRequest& wanted) const {
    const auto glossary = glossaries_.Find(owner, wanted.glossary_id);
    if (glossary == nullptr) {
      return absl::InvalidArgumentError(StrCat("glossary_id: there is no glossary ",
                                               Shown(wanted.glossary_id),
                                               "; they are kept until the server stops"));
    }
    if (wanted.source_language.empty()) {
      return absl::InvalidArgumentError(
          "source_lang: is missing, which a request with a glossary needs");
    }
    models::TranslateInput& input = wanted.translation.input;
    if (GlossaryLanguage(wanted.source_language) != glossary->source_language ||
        GlossaryLanguage(input.target_language) != glossary->target_language) {
      return absl::InvalidArgumentError(
          StrCat("glossary_id: the glossary is from ", glossary->source_language, " to ",
                 glossary->target_language, ", not from ", wanted.source_language, " to ",
                 input.target_language));
    }
    input.glossary = glossary->entries;
    return absl::OkStatus();
  }

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
  GlossaryStore glossaries_{{}};
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
  const auto to = [&routes](auto handler) {
    return [routes, handler](const httplib::Request& request, httplib::Response& response) {
      (*routes.*handler)(request, response);
    };
  };
  constexpr char kGlossary[] = "/v2/glossaries/([^/]+)";
  post("/v2/translate", &DeepLRoutes::Translate);
  post("/v2/glossaries", &DeepLRoutes::CreateGlossary);
  server.routes().Get("/v2/glossaries", to(&DeepLRoutes::ListGlossaries));
  server.routes().Get(kGlossary, to(&DeepLRoutes::GetGlossary));
  server.routes().Get(StrCat(kGlossary, "/entries"), to(&DeepLRoutes::GlossaryEntries));
  server.routes().Delete(kGlossary, to(&DeepLRoutes::DeleteGlossary));
  server.routes().Get("/v2/glossary-language-pairs", to(&DeepLRoutes::GlossaryPairs));
  post("/v2/languages", &DeepLRoutes::Languages);
  post("/v2/usage", &DeepLRoutes::Usage);
  get("/v2/languages", &DeepLRoutes::Languages);
  get("/v2/usage", &DeepLRoutes::Usage);
  // Also of what is not here, such as its documents.
  for (const char* prefix : kPrefixes) {
    server.ShapeErrorsBelow(
        prefix, [](int, const std::string& message) { return DeepLErrorBody(message); });
  }
}

}  // namespace millrace::server
