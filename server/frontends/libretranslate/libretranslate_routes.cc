#include "server/frontends/libretranslate/libretranslate_routes.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "httplib.h"
#include "models/core/errors.h"
#include "server/frontends/http/request_members.h"
#include "server/frontends/http/response_headers.h"
#include "server/frontends/libretranslate/answers.h"
#include "server/frontends/libretranslate/file_routes.h"
#include "server/frontends/libretranslate/translate_message.h"
#include "server/http/form.h"
#include "server/http/http_routes.h"
#include "server/http/multipart_form.h"
#include "server/http/query.h"
#include "server/json/ignored_members.h"
#include "server/requests/models_answer.h"
#include "server/requests/translation_route.h"

namespace millrace::server {
namespace {

class LibreTranslateRoutes {
 public:
  LibreTranslateRoutes(Services& services, std::shared_ptr<HttpTranslator> translator,
                       SharedPathHandler others)
      : services_(services),
        translator_(std::move(translator)),
        others_(std::move(others)),
        languages_(services.models,
                   [](const ModelDirectory& models) { return LanguagesBody(AllRoutes(models)); }),
        settings_(services.models, [&services](const ModelDirectory& models) {
          return SettingsBody(AllRoutes(models), services.keys != nullptr,
                              services.max_translate_characters);
        }) {}

  void Translate(const httplib::Request& request, httplib::Response& response,
                 const httplib::ContentReader& reader) {
    std::string body;
    const auto parsed = Read(request, reader, body);
    if (!parsed) return;  // the HTTP library has answered
    if (others_ && parsed->ok() && !(*parsed)->has_query && others_(request, response, body))
      return;
    HttpTranslateRequest wanted;
    auto translation = Take(request, response, *parsed, wanted);
    auto result = translator_->Translate(request, response, wanted.api_key, std::move(translation));
    if (!result.ok()) return SendStatus(response, result.status());
    SendJson(response, TranslateBody(wanted, result->texts, std::move(result->translations)));
  }

  // The same request, answered with events while it is translated.
  void TranslateStream(const httplib::Request& request, httplib::Response& response,
                       const httplib::ContentReader& reader) {
    std::string body;
    const auto parsed = Read(request, reader, body);
    if (!parsed) return;
    auto wanted = std::make_shared<HttpTranslateRequest>();
    auto translation = Take(request, response, *parsed, *wanted);
    const absl::Status status = translator_->Stream(
        request, response, wanted->api_key, std::move(translation),
        {.end =
             [wanted](HttpTranslator::Result result) {
               return TranslateBody(*wanted, result.texts, std::move(result.translations));
             },
         .message = LibreTranslateMessage});
    if (!status.ok()) SendStatus(response, status);
  }

  void Detect(const httplib::Request& request, httplib::Response& response,
              const httplib::ContentReader& reader) {
    std::string body;
    const auto wanted = Read(request, reader, body);
    if (!wanted) return;
    absl::Status status = Check(request, *wanted);
    if (status.ok()) status = CheckDetect(**wanted);
    if (!status.ok()) return SendStatus(response, status);
    auto detected = DetectLanguagesOf((*wanted)->translation.input.texts);
    if (!detected.ok()) return SendStatus(response, detected.status());
    AddWarning(IgnoredMembersWarning((*wanted)->ignored), response);
    SendJson(response, DetectBody(detected->front()));
  }

  // As the original does where suggestions are off; the body is read so that the connection stays.
  void Suggest(const httplib::Request& /*request*/, httplib::Response& response,
               const httplib::ContentReader& reader) {
    if (DropBody(reader)) SendError(response, 403, "Suggestions are disabled on this server.");
  }

  void Languages(const httplib::Request&, httplib::Response& response) {
    // Clients keep the list: one without the languages to come would be false for long.
    if (absl::Status status = translator_->CheckStarted(); !status.ok())
      return SendStatus(response, status);
    SendJson(response, *languages_.Get());
  }

  void Settings(const httplib::Request&, httplib::Response& response) {
    SendJson(response, *settings_.Get());
  }

 private:
  using Parsed = absl::StatusOr<HttpTranslateRequest>;

  // There is none when the body did not arrive.
  static std::optional<Parsed> Read(const httplib::Request& request,
                                    const httplib::ContentReader& reader, std::string& body) {
    if (IsMultipartForm(request)) {
      auto members = ReadFormParts(request, reader);
      if (!members) return std::nullopt;
      if (!members->ok()) return members->status();
      FormMembers all = HttpQuery().TakeAll();
      std::ranges::move(**members, std::back_inserter(all));
      return ParseTranslateForm(std::move(all));
    }
    std::optional<std::string> whole = ReadWholeBody(reader);
    if (!whole) return std::nullopt;
    body = *std::move(whole);
    return ParseTranslateBody(request.get_header_value("Content-Type"), body, HttpQuery());
  }

  // Authentication errors take precedence over errors of parsing.
  absl::Status Check(const httplib::Request& request, const Parsed& parsed) const {
    const std::string_view key = parsed.ok() ? parsed->api_key : std::string_view();
    MILLRACE_RETURN_IF_ERROR(CheckKey(request, services_.keys, key));
    MILLRACE_RETURN_IF_ERROR(translator_->CheckStarted());
    return parsed.status();
  }

  absl::StatusOr<TranslationRequest> Take(const httplib::Request& request,
                                          httplib::Response& response, const Parsed& parsed,
                                          HttpTranslateRequest& wanted) {
    if (parsed.ok()) wanted = *parsed;
    AddWarning(IgnoredMembersWarning(wanted.ignored), response);
    MILLRACE_RETURN_IF_ERROR(Check(request, parsed));
    MILLRACE_RETURN_IF_ERROR(CheckTranslate(wanted));
    TranslationRequest translation = std::move(wanted.translation);
    translation.preferred_hypotheses = wanted.alternatives + 1;
    return translation;
  }

  Services& services_;
  const std::shared_ptr<HttpTranslator> translator_;
  const SharedPathHandler others_;
  ModelsAnswer<std::string> languages_;
  ModelsAnswer<std::string> settings_;
};

}  // namespace

void AddLibreTranslateRoutes(HttpServer& server, Services& services,
                             std::shared_ptr<HttpTranslator> translator, SharedPathHandler others) {
  AddLibreTranslateFileRoutes(server, services, translator);
  const auto routes =
      std::make_shared<LibreTranslateRoutes>(services, std::move(translator), std::move(others));
  server.routes().Post("/translate", std::bind_front(&LibreTranslateRoutes::Translate, routes));
  server.routes().Post("/translate/stream",
                       std::bind_front(&LibreTranslateRoutes::TranslateStream, routes));
  server.routes().Post("/detect", std::bind_front(&LibreTranslateRoutes::Detect, routes));
  server.routes().Post("/suggest", std::bind_front(&LibreTranslateRoutes::Suggest, routes));
  server.routes().Get("/languages", std::bind_front(&LibreTranslateRoutes::Languages, routes));
  server.routes().Get("/frontend/settings",
                      std::bind_front(&LibreTranslateRoutes::Settings, routes));
}

}  // namespace millrace::server
