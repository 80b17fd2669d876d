#include "server/frontends/openai/openai_routes.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/core/too_long.h"
#include "models/text/unicode.h"
#include "nlohmann/json.hpp"
#include "server/frontends/http/response_headers.h"
#include "server/frontends/http/speech_answer.h"
#include "server/frontends/http/speech_entrance.h"
#include "server/frontends/http/speech_framer.h"
#include "server/frontends/http/speech_reply.h"
#include "server/frontends/openai/openai_error.h"
#include "server/frontends/openai/speech_framing.h"
#include "server/frontends/openai/speech_json.h"
#include "server/http/http_routes.h"
#include "server/http/json_body.h"
#include "server/http/query.h"
#include "server/json/ignored_members.h"
#include "server/json/json_text.h"
#include "server/requests/speech_names.h"
#include "server/requests/unread_scripts.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

void SendJson(httplib::Response& response, const Json& json) {
  response.set_content(JsonText(json), "application/json");
}

// Gives a field the name that it has in the request; OpenAI calls the text "input".
absl::Status InOpenAiTerms(const absl::Status& status, std::string_view language_member) {
  if (!absl::IsInvalidArgument(status)) return status;
  const std::string_view message = Message(status);
  const std::pair<std::string_view, std::string_view> terms[] = {{"text", "input"},
                                                                 {"language", language_member}};
  for (const auto& [ours, theirs] : terms) {
    if (!message.starts_with(StrCat(ours, ": "))) continue;
    const std::string named = StrCat(theirs, message.substr(ours.size()));
    return IsTooLong(status) ? TooLongError(named) : InvalidArgument(named);
  }
  return status;
}

class OpenAiRoutes {
 public:
  OpenAiRoutes(Services& services, OpenAiOptions options)
      : services_(services),
        options_(std::move(options)),
        names_(services.models, services.voice_aliases),
        entrance_(services, {.max_connections = options_.max_speech_connections,
                             .started = options_.started}) {}

  void Speech(const httplib::Request& request, httplib::Response& response) {
    Speak(request, response, SpeechRoute::kOpenAi);
  }

  void CaptionedSpeech(const httplib::Request& request, httplib::Response& response) {
    Speak(request, response, SpeechRoute::kCaptioned);
  }

  void Voices(const httplib::Request& request, httplib::Response& response) {
    if (!Allowed(request, response)) return;
    std::vector<std::shared_ptr<ServedModel>> models = services_.models.All();
    std::string name;
    if (const absl::Status status = HttpQuery().TakeText("model", name); !status.ok())
      return SendOpenAiError(response, status);
    if (!name.empty()) {
      absl::StatusOr<std::vector<std::shared_ptr<ServedModel>>> meant = names_.ModelsMeantBy(name);
      if (!meant.ok()) return SendOpenAiError(response, meant.status());
      models = *std::move(meant);
    }
    Json voices = Json::array();
    Json aliases = Json::array();
    for (const auto& model : models) {
      const auto* info = std::get_if<models::SpeechInfo>(&model->info().details);
      if (info == nullptr) continue;
      const std::string& name = model->info().name;
      for (size_t i = 0; i < info->voices.size(); ++i) {
        const std::string& voice = info->voices[i];
        const bool known = i < info->voice_languages.size() && !info->voice_languages[i].empty();
        voices.push_back({{"id", voice},
                          {"name", voice},
                          {"model", name},
                          {"language", known ? info->voice_languages[i] : info->language},
                          {"languages", info->languages},
                          {"sample_rate", info->sample_rate}});
      }
      for (const SpeechNames::VoiceAlias& alias : names_.VoiceAliasesOf(*info))
        aliases.push_back({{"id", alias.name}, {"model", name}, {"voice", alias.voice}});
    }
    // Aliases are listed apart from the voices, so that a client that lists these shows each once.
    SendJson(response, {{"voices", std::move(voices)}, {"aliases", std::move(aliases)}});
  }

  void Models(const httplib::Request& request, httplib::Response& response) {
    if (options_.other_models && options_.other_models(request, response, "")) return;
    if (!Allowed(request, response)) return;
    Json models = Json::array();
    for (const auto& model : services_.models.All()) models.push_back(ToJson(model->info().name));
    for (const std::string_view alias : names_.ModelAliases()) models.push_back(ToJson(alias));
    SendJson(response, {{"object", "list"}, {"data", std::move(models)}});
  }

  // Kokoro-FastAPI's probe. It needs no key.
  void Health(const httplib::Request&, httplib::Response& response) {
    const bool ready = options_.ready();
    response.status = ready ? 200 : 503;
    Json json = {{"status", ready ? "healthy" : options_.started() ? "not ready" : "starting"}};
    if (std::string degraded = ready ? options_.degraded() : ""; !degraded.empty())
      json = {{"status", "degraded"}, {"reason", std::move(degraded)}};
    SendJson(response, json);
  }

  void Model(const httplib::Request& request, httplib::Response& response) {
    if (!Allowed(request, response)) return;
    const std::string name = request.matches[1];
    const auto meant = names_.ModelsMeantBy(name);
    if (!meant.ok()) return SendOpenAiError(response, meant.status());
    SendJson(response, ToJson(name));
  }

 private:
  void Speak(const httplib::Request& request, httplib::Response& response, SpeechRoute route) {
    const std::shared_ptr<SpeechReply> reply = entrance_.NewReply(request, response);
    const auto place =
        std::make_shared<Ticket>();  // held until the connection is done with the reply
    HttpSpeechRequest wanted;
    absl::StatusOr<SpeechWork> work = Prepare(request, route, *place, wanted);
    AddWarning(IgnoredMembersWarning(wanted.ignored), response);
    std::unique_ptr<SpeechFramer> framer;
    if (work.ok()) {
      AddWarning(UnreadScriptsWarning(*work), response);
      framer = std::make_unique<OpenAiFramer>(
          wanted.framing, wanted.speech.format,
          models::CountCodePoints(std::get<models::SynthesizeInput>(work->work.input).text));
    }
    reply->Start(std::move(work), std::move(framer));
    SpeechAnswer answer;
    answer.content_type = ContentTypeOf(wanted.framing, wanted.speech.format);
    answer.may_be_cached =
        wanted.framing == SpeechFraming::kAudio || wanted.framing == SpeechFraming::kFile;
    answer.send_error = [language = wanted.language_member()](httplib::Response& failed,
                                                              const absl::Status& status) {
      SendOpenAiError(failed, InOpenAiTerms(status, language));
    };
    if (wanted.framing == SpeechFraming::kEvents) {
      answer.error_bytes = [language = wanted.language_member()](const absl::Status& status) {
        return StrCat("data: ", OpenAiErrorBody(InOpenAiTerms(status, language)), "\n\n");
      };
    }
    AnswerWithSpeech(reply, place, std::move(answer), response);
  }

  bool Allowed(const httplib::Request& request, httplib::Response& response) const {
    const absl::Status status = entrance_.Check(request);
    if (!status.ok()) SendOpenAiError(response, status);
    return status.ok();
  }

  absl::StatusOr<SpeechWork> Prepare(const httplib::Request& request, SpeechRoute route,
                                     Ticket& place, HttpSpeechRequest& wanted) {
    MILLRACE_ASSIGN_OR_RETURN(place, entrance_.Enter(request));
    MILLRACE_RETURN_IF_ERROR(CheckJsonType(request.get_header_value("Content-Type"), request.body));
    MILLRACE_ASSIGN_OR_RETURN(wanted, ParseSpeechJson(request.body, route));
    return entrance_.MakeWork(wanted.speech,
                              /*whole=*/IsWhole(wanted.framing));
  }

  Json ToJson(std::string_view model) const {
    return {{"id", model}, {"object", "model"}, {"created", started_at_}, {"owned_by", "millrace"}};
  }

  Services& services_;
  const OpenAiOptions options_;
  const SpeechNames names_;
  SpeechEntrance entrance_;
  const int64_t started_at_ = std::chrono::duration_cast<std::chrono::seconds>(
                                  std::chrono::system_clock::now().time_since_epoch())
                                  .count();
};

}  // namespace

void AddOpenAiRoutes(HttpServer& server, Services& services, OpenAiOptions options) {
  const auto routes = std::make_shared<OpenAiRoutes>(services, std::move(options));
  constexpr char kCaptioned[] = "/dev/captioned_speech";
  for (const char* path : {"/v1/", kCaptioned}) {
    server.ShapeErrorsBelow(path, [](int status, const std::string& message) {
      return OpenAiErrorBody(status, message, "", "");
    });
  }
  server.routes().Post("/v1/audio/speech", std::bind_front(&OpenAiRoutes::Speech, routes));
  server.routes().Post(kCaptioned, std::bind_front(&OpenAiRoutes::CaptionedSpeech, routes));
  server.routes().Get("/v1/audio/voices", std::bind_front(&OpenAiRoutes::Voices, routes));
  server.routes().Get("/health", std::bind_front(&OpenAiRoutes::Health, routes));
  server.routes().Get("/v1/models", std::bind_front(&OpenAiRoutes::Models, routes));
  server.routes().Get("/v1/models/([^/]+)", std::bind_front(&OpenAiRoutes::Model, routes));
}

}  // namespace millrace::server
