#include "server/frontends/libretranslate/libretranslate_routes.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "httplib.h"
#include "models/core/strings.h"
#include "server/frontends/libretranslate/translate_message.h"
#include "server/frontends/libretranslate/translate_reply.h"
#include "server/http/http_routes.h"
#include "server/http/http_status.h"
#include "server/logging/request_id.h"
#include "server/requests/models_answer.h"
#include "server/requests/translation_route.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

// The interval at which a connection without news checks whether its client is still there.
constexpr std::chrono::milliseconds kLook{100};

// LibreTranslate calls the text q, and knows neither 401 nor 404.
void SendStatus(httplib::Response& response, const absl::Status& status) {
  int code = HttpStatusOf(status);
  if (code == 401) code = 403;
  if (code == 404) code = 400;
  if (const int seconds = RetryAfterSeconds(status); seconds > 0)
    response.set_header("Retry-After", StrCat(seconds));
  std::string message(Message(status));
  for (const auto& [ours, theirs] : {std::pair<std::string_view, std::string_view>{
                                         "source_language, target_language", "source, target"},
                                     {"texts", "q"},
                                     {"source_language", "source"},
                                     {"target_language", "target"}}) {
    if (message.starts_with(ours)) message.replace(0, ours.size(), theirs);
  }
  SendError(response, code, message);
}

void SendJson(httplib::Response& response, const std::string& body) {
  response.set_content(body, "application/json");
}

class LibreTranslateRoutes {
 public:
  LibreTranslateRoutes(Services& services, LibreTranslateOptions options)
      : services_(services),
        options_(std::move(options)),
        connections_(options_.max_connections),
        languages_(services.models,
                   [](const ModelDirectory& models) { return LanguagesBody(AllRoutes(models)); }),
        settings_(services.models, [keys = services.keys != nullptr](const ModelDirectory& models) {
          return SettingsBody(AllRoutes(models), keys);
        }) {}

  void Translate(const httplib::Request& request, httplib::Response& response,
                 const httplib::ContentReader& reader) {
    const auto parsed = Read(request, reader);
    if (!parsed) return;  // the JSON library has reported the error
    const std::string id = logging::RequestIdFrom(request.get_header_value("X-Request-Id"));
    response.set_header("X-Request-Id", id);
    const auto reply = std::make_shared<TranslateReply>(
        services_, id,
        HttpCaller(request, services_.keys, parsed->ok() ? (*parsed)->api_key : std::string()));
    HttpTranslateRequest wanted;
    Ticket place;  // held until the connection is done with the reply
    reply->Start(Prepare(request, *parsed, place, wanted));
    std::optional<absl::Status> end;
    while (!(end = reply->Wait(kLook))) {
      if (!HttpClientGone()) continue;
      reply->Abandon();
      return SendStatus(response, absl::CancelledError("the caller went away"));
    }
    if (!end->ok()) return SendStatus(response, *end);
    SendJson(response, TranslateBody(wanted, reply->texts(), reply->TakeResults()));
  }

  void Detect(const httplib::Request& request, httplib::Response& response,
              const httplib::ContentReader& reader) {
    const auto wanted = Read(request, reader);
    if (!wanted) return;
    absl::Status status = Check(request, *wanted);
    if (status.ok()) status = CheckDetect(**wanted);
    if (!status.ok()) return SendStatus(response, status);
    auto detected = DetectLanguagesOf((*wanted)->translation.input.texts);
    if (!detected.ok()) return SendStatus(response, detected.status());
    SendJson(response, DetectBody(detected->front()));
  }

  void Languages(const httplib::Request&, httplib::Response& response) {
    SendJson(response, *languages_.Get());
  }

  void Settings(const httplib::Request&, httplib::Response& response) {
    SendJson(response, *settings_.Get());
  }

 private:
  using Parsed = absl::StatusOr<HttpTranslateRequest>;

  // The form is read here, because the library keeps no long form by itself. There is none when the
  // body did not arrive.
  static std::optional<Parsed> Read(const httplib::Request& request,
                                    const httplib::ContentReader& reader) {
    if (request.is_multipart_form_data()) {
      FormMembers members;
      const bool read = reader(
          [&members](const httplib::MultipartFormData& member) {
            members.emplace_back(member.name, "");
            return true;
          },
          [&members](const char* data, size_t size) {
            members.back().second.append(data, size);
            return true;
          });
      if (!read) return std::nullopt;
      return ParseTranslateForm(std::move(members));
    }
    std::string body;
    const bool read = reader([&body](const char* data, size_t size) {
      body.append(data, size);
      return true;
    });
    if (!read) return std::nullopt;
    return ParseTranslateBody(request.get_header_value("Content-Type"), body);
  }

  // Authentication errors take precedence over errors of parsing.
  absl::Status Check(const httplib::Request& request, const Parsed& parsed) const {
    const bool has_key = parsed.ok() && services_.keys != nullptr &&
                         services_.keys->Authenticate(parsed->api_key).has_value();
    if (!has_key) {
      if (!AuthenticateHttp(request, services_.keys).ok()) {
        const bool sent = (parsed.ok() && !parsed->api_key.empty()) ||
                          request.has_header("Authorization") || request.has_header("X-Api-Key");
        return absl::UnauthenticatedError(
            sent
                ? "api_key: the API key is not known"
                : "api_key: is missing; a key is needed, as this member, as `authorization: Bearer "
                  "<key>` or as `x-api-key: <key>`");
      }
    }
    if (!options_.started())
      return absl::UnavailableError("the server is starting; try again soon");
    return parsed.status();
  }

  absl::StatusOr<TranslateReply::Works> Prepare(const httplib::Request& request,
                                                const Parsed& parsed, Ticket& place,
                                                HttpTranslateRequest& wanted) {
    if (absl::Status status = Check(request, parsed); !status.ok()) return status;
    if (absl::Status status = CheckTranslate(*parsed); !status.ok()) return status;
    absl::StatusOr<Ticket> entered = connections_.TryEnter();
    if (!entered.ok()) {
      services_.no_model_metrics.CountRefusal(Refusal::kTooMany);
      return Refused(StrCat("the server already translates on ", options_.max_connections,
                            " HTTP connections, which is its limit"),
                     std::chrono::seconds(1));
    }
    place = *std::move(entered);
    wanted = *parsed;
    TranslationRequest translation = std::move(wanted.translation);
    // LibreTranslate's clients cannot name a model, and it takes a text whose language it cannot
    // detect for English.
    translation.choose_model = true;
    translation.fallback_language = "en";
    translation.preferred_hypotheses = wanted.alternatives + 1;
    translation.detect_each = true;
    auto works = MakeTranslationWorks(std::move(translation), services_);
    if (!works.ok()) return works;
    // The answer has no place for a status, so a text that is not empty must be fit to be
    // translated.
    for (const TranslationText& text : works->front().texts) {
      if (!text.status.ok() && text.characters > 0) return text.status;
    }
    return works;
  }

  Services& services_;
  const LibreTranslateOptions options_;
  Admission connections_;
  ModelsAnswer<std::string> languages_;
  ModelsAnswer<std::string> settings_;
};

}  // namespace

void AddLibreTranslateRoutes(HttpServer& server, Services& services,
                             LibreTranslateOptions options) {
  const auto routes = std::make_shared<LibreTranslateRoutes>(services, std::move(options));
  const auto get = [&routes](auto handler) {
    return [routes, handler](const httplib::Request& request, httplib::Response& response) {
      (*routes.*handler)(request, response);
    };
  };
  const auto post = [&routes](auto handler) {
    return [routes, handler](const httplib::Request& request, httplib::Response& response,
                             const httplib::ContentReader& reader) {
      (*routes.*handler)(request, response, reader);
    };
  };
  server.routes().Post("/translate", post(&LibreTranslateRoutes::Translate));
  server.routes().Post("/detect", post(&LibreTranslateRoutes::Detect));
  server.routes().Get("/languages", get(&LibreTranslateRoutes::Languages));
  server.routes().Get("/frontend/settings", get(&LibreTranslateRoutes::Settings));
}

}  // namespace millrace::server
