#include "server/frontends/front_end.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "server/frontends/elevenlabs/elevenlabs_error.h"
#include "server/frontends/elevenlabs/output_format.h"
#include "server/frontends/elevenlabs/speech_body.h"
#include "server/frontends/elevenlabs/stream_query.h"
#include "server/frontends/elevenlabs/stream_session.h"
#include "server/frontends/elevenlabs/timed_framer.h"
#include "server/frontends/elevenlabs/voice_list.h"
#include "server/frontends/http/response_headers.h"
#include "server/frontends/http/shared_path.h"
#include "server/frontends/http/speech_answer.h"
#include "server/frontends/http/speech_entrance.h"
#include "server/frontends/http/speech_reply.h"
#include "server/http/http_routes.h"
#include "server/http/http_server.h"
#include "server/http/json_body.h"
#include "server/http/query.h"
#include "server/json/ignored_members.h"
#include "server/requests/speech_names.h"
#include "server/requests/unread_scripts.h"
#include "server/websocket/websocket_server.h"

namespace millrace::server {
namespace {

// Returns true if the request tells that it is of ElevenLabs' own client, by the header of its key
// or of its package.
bool IsOfElevenLabsClient(const httplib::Request& request) {
  return request.has_header("xi-api-key") ||
         request.get_header_value("X-Fern-SDK-Name") == "elevenlabs";
}

std::string ErrorBodyOfStatus(int status, const std::string& message) {
  return ElevenLabsErrorBody(status == 404 ? "not_found" : "invalid_request", message);
}

// The concurrent speech requests over HTTP. Each occupies a connection's thread from its first byte
// to the last.
constexpr int kMaxSpeechConnections = 32;

class ElevenLabsRoutes {
 public:
  ElevenLabsRoutes(const FrontEndParts& parts, const HttpParts& http)
      : server_(http.server),
        web_sockets_(http.web_sockets),
        services_(parts.services),
        idle_timeout_(parts.config.websocket_idle_timeout),
        started_(parts.started),
        names_(services_.models, services_.voice_aliases),
        entrance_(services_, {.max_connections = kMaxSpeechConnections,
                              .connections_name = "HTTP connections of this API",
                              .started = started_}) {}

  void Speech(const httplib::Request& request, httplib::Response& response) {
    Speak(request, response, Form::kAudio);
  }

  void TimedSpeech(const httplib::Request& request, httplib::Response& response) {
    Speak(request, response, Form::kWhole);
  }

  void StreamedTimedSpeech(const httplib::Request& request, httplib::Response& response) {
    Speak(request, response, Form::kLines);
  }

  void Voices(const httplib::Request& request, httplib::Response& response) {
    if (const absl::Status status = Check(request); !status.ok())
      return SendElevenLabsError(response, status);
    response.set_content(VoicesBody(services_.models), "application/json");
  }

  void SearchVoices(const httplib::Request& request, httplib::Response& response) {
    constexpr uint64_t kMostVoices = 100;
    uint64_t begin = 0;
    uint64_t most = 10;  // as ElevenLabs has it
    VoiceSearch search;
    Query& query = HttpQuery();
    absl::Status status = Check(request);
    status.Update(query.TakeNumber("next_page_token", 0, SIZE_MAX, begin));
    // Pages of none would have no end.
    status.Update(query.TakeNumber("page_size", 1, kMostVoices, most));
    status.Update(query.TakeText("search", search.words));
    status.Update(query.TakeText("category", search.category));
    if (!status.ok()) return SendElevenLabsError(response, status);
    for (std::string& id : query.TakeValues("voice_ids")) search.ids.insert(std::move(id));
    response.set_content(VoiceSearchBody(services_.models, search, begin, most),
                         "application/json");
  }

  void Voice(const httplib::Request& request, httplib::Response& response) {
    SendVoice(request, response, [](const std::string& voice) { return voice; });
  }

  void VoiceSettings(const httplib::Request& request, httplib::Response& response) {
    SendVoice(request, response, [](const std::string&) { return VoiceSettingsBody(); });
  }

  void DefaultSettings(const httplib::Request& request, httplib::Response& response) {
    Send(request, response, VoiceSettingsBody());
  }

  void User(const httplib::Request& request, httplib::Response& response) {
    Send(request, response, UserBody());
  }

  void SubscriptionOfUser(const httplib::Request& request, httplib::Response& response) {
    Send(request, response, SubscriptionBody());
  }

  // Returns false for a client of OpenAI's.
  bool Models(const httplib::Request& request, httplib::Response& response) {
    if (!IsOfElevenLabsClient(request)) return false;
    if (const absl::Status status = Check(request); !status.ok()) {
      SendElevenLabsError(response, status);
    } else {
      response.set_content(ModelsBody(services_.models), "application/json");
    }
    return true;
  }

  void StreamInput(const httplib::Request& request, httplib::Response& response) {
    Open(request, response, /*multi=*/false);
  }

  void MultiStreamInput(const httplib::Request& request, httplib::Response& response) {
    Open(request, response, /*multi=*/true);
  }

 private:
  // The form in which speech is answered.
  enum class Form : uint8_t { kAudio, kWhole, kLines };

  void Send(const httplib::Request& request, httplib::Response& response, const std::string& body) {
    if (const absl::Status status = Check(request); !status.ok())
      return SendElevenLabsError(response, status);
    response.set_content(body, "application/json");
  }

  // Answers with what is made of the description of the voice that the path names.
  template <typename MakeBody>
  void SendVoice(const httplib::Request& request, httplib::Response& response, MakeBody make) {
    absl::Status status = Check(request);
    if (!status.ok()) return SendElevenLabsError(response, status);
    const std::string name = request.matches[1];
    const std::string voice = VoiceBody(services_.models, name);
    if (!voice.empty()) return response.set_content(make(voice), "application/json");
    response.status = 404;
    response.set_content(
        ElevenLabsErrorBody("voice_not_found",
                            StrCat("there is no voice ", Shown(name), "; /v1/voices lists them")),
        "application/json");
  }

  absl::Status Check(const httplib::Request& request) const {
    return entrance_.Check(request, request.get_header_value("xi-api-key"));
  }

  void Speak(const httplib::Request& request, httplib::Response& response, Form form) {
    const std::shared_ptr<SpeechReply> reply =
        entrance_.NewReply(request, response, request.get_header_value("xi-api-key"));
    const auto place = std::make_shared<Ticket>();
    SpeechBody body;
    absl::StatusOr<SpeechWork> work = Prepare(request, form, *place, body);
    AddWarning(IgnoredMembersWarning(body.ignored), response);
    if (work.ok()) AddWarning(UnreadScriptsWarning(*work), response);
    SpeechAnswer answer;
    answer.send_error = SendElevenLabsError;
    std::unique_ptr<SpeechFramer> framer;
    if (form == Form::kAudio) {
      answer.content_type = ContentTypeOf(body.speech.format);
    } else {
      answer.content_type = "application/json";
      answer.may_be_cached = false;
      framer = std::make_unique<TimedFramer>(form == Form::kWhole);
    }
    reply->Start(std::move(work), std::move(framer));
    AnswerWithSpeech(reply, place, std::move(answer), response);
  }

  absl::StatusOr<SpeechWork> Prepare(const httplib::Request& request, Form form, Ticket& place,
                                     SpeechBody& body) {
    MILLRACE_ASSIGN_OR_RETURN(place,
                              entrance_.Enter(request, request.get_header_value("xi-api-key")));
    MILLRACE_RETURN_IF_ERROR(CheckJsonType(request.get_header_value("Content-Type"), request.body));
    MILLRACE_ASSIGN_OR_RETURN(SpeechBody parsed, ParseSpeechBody(request.body));
    std::string format_name(kDefaultOutputFormat);
    Query& query = HttpQuery();
    MILLRACE_RETURN_IF_ERROR(query.TakeText("output_format", format_name));
    MILLRACE_ASSIGN_OR_RETURN(const OutputFormat format, ParseOutputFormat(format_name));
    body = std::move(parsed);
    MILLRACE_RETURN_IF_ERROR(query.TakeFlag(kSsmlFlag, body.ssml));
    MILLRACE_RETURN_IF_ERROR(query.TakeText(kTextFormatParameter, body.text_format));
    MILLRACE_ASSIGN_OR_RETURN(body.speech.text_format,
                              ChooseTextFormat(body.ssml, body.text_format));
    body.speech.format = format.format;
    body.speech.sample_rate = format.sample_rate;
    body.speech.word_times = form != Form::kAudio;
    SpeechRequest speech = body.speech;
    if (absl::Status status =
            ResolveModelAndVoice(names_, body.model_id, request.matches[1], speech);
        !status.ok())
      return status;
    return entrance_.MakeWork(std::move(speech), /*whole=*/form == Form::kWhole);
  }

  void Open(const httplib::Request& request, httplib::Response& response, bool multi) {
    const auto make = [&](std::function<void()> changed) {
      const std::string key = request.get_header_value("xi-api-key");
      StreamSession::Client client{.caller = HttpCaller(request, services_.keys, key),
                                   .access = AuthenticateHttp(request, services_.keys, key),
                                   .sent_key = !key.empty() ||
                                               request.has_header("Authorization") ||
                                               request.has_header("X-Api-Key")};
      auto options = ParseStreamQuery(HttpQuery(), request.matches[1], multi, names_);
      if (options.ok())
        options->inactivity_timeout = std::min(options->inactivity_timeout, idle_timeout_);
      return std::make_unique<StreamSession>(services_, std::move(options), std::move(client),
                                             started_, std::move(changed));
    };
    const auto refusal = web_sockets_.Upgrade(server_, request, response, make);
    if (!refusal) return;
    response.status = refusal->http_status;
    response.set_content(ElevenLabsErrorBody("invalid_request", refusal->message),
                         "application/json");
  }

  const HttpServer& server_;
  WebSocketServer& web_sockets_;
  Services& services_;
  const Duration idle_timeout_;  // the longest inactivity_timeout of a WebSocket
  const std::function<bool()> started_;
  const SpeechNames names_;
  SpeechEntrance entrance_;
};

// Adds POST /v1/text-to-speech/{voice}, /stream, /with-timestamps and /stream/with-timestamps, the
// WebSockets /stream-input and /multi-stream-input there, GET /v1/voices and what else the clients
// ask for.
void AddRoutes(const FrontEndParts& parts, const HttpParts& http) {
  const auto handlers = std::make_shared<ElevenLabsRoutes>(parts, http);
  HttpRoutes& routes = http.server.routes();
  constexpr char kSpeech[] = "/v1/text-to-speech/([^/]+)";
  for (const char* path : {"/v1/text-to-speech/", "/v1/voices", "/v2/voices", "/v1/user"}) {
    http.server.ShapeErrorsBelow(path, ErrorBodyOfStatus);
  }
  // Its other paths, which are not served, too.
  http.server.ShapeErrorsOf(IsOfElevenLabsClient, ErrorBodyOfStatus);
  const std::string speech = kSpeech;
  routes.Post(speech, std::bind_front(&ElevenLabsRoutes::Speech, handlers));
  routes.Post(speech + "/stream", std::bind_front(&ElevenLabsRoutes::Speech, handlers));
  routes.Post(speech + "/with-timestamps",
              std::bind_front(&ElevenLabsRoutes::TimedSpeech, handlers));
  routes.Post(speech + "/stream/with-timestamps",
              std::bind_front(&ElevenLabsRoutes::StreamedTimedSpeech, handlers));
  routes.Get("/v1/voices", std::bind_front(&ElevenLabsRoutes::Voices, handlers));
  routes.Get("/v2/voices", std::bind_front(&ElevenLabsRoutes::SearchVoices, handlers));
  routes.Get("/v1/voices/settings/default",
             std::bind_front(&ElevenLabsRoutes::DefaultSettings, handlers));
  routes.Get("/v1/voices/([^/]+)", std::bind_front(&ElevenLabsRoutes::Voice, handlers));
  routes.Get("/v1/voices/([^/]+)/settings",
             std::bind_front(&ElevenLabsRoutes::VoiceSettings, handlers));
  routes.Get("/v1/user", std::bind_front(&ElevenLabsRoutes::User, handlers));
  routes.Get("/v1/user/subscription",
             std::bind_front(&ElevenLabsRoutes::SubscriptionOfUser, handlers));
  routes.Get(speech + "/stream-input", std::bind_front(&ElevenLabsRoutes::StreamInput, handlers));
  routes.Get(speech + "/multi-stream-input",
             std::bind_front(&ElevenLabsRoutes::MultiStreamInput, handlers));
  http.shared_paths.Offer(
      "GET /v1/models",
      [handlers](const httplib::Request& request, httplib::Response& response,
                 const std::string& /*body*/) { return handlers->Models(request, response); });
}

}  // namespace
}  // namespace millrace::server

namespace millrace::front_ends::elevenlabs {

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "elevenlabs", .add_routes = &server::AddRoutes};

}  // namespace millrace::front_ends::elevenlabs
