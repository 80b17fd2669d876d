#include "server/frontends/elevenlabs/elevenlabs_routes.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "httplib.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "server/frontends/elevenlabs/elevenlabs_error.h"
#include "server/frontends/elevenlabs/output_format.h"
#include "server/frontends/elevenlabs/speech_body.h"
#include "server/frontends/elevenlabs/stream_query.h"
#include "server/frontends/elevenlabs/stream_session.h"
#include "server/frontends/elevenlabs/timed_framer.h"
#include "server/frontends/elevenlabs/voice_list.h"
#include "server/frontends/http/ignored_members.h"
#include "server/frontends/http/speech_answer.h"
#include "server/frontends/http/speech_entrance.h"
#include "server/frontends/http/speech_reply.h"
#include "server/http/http_routes.h"
#include "server/requests/unread_scripts.h"

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

class ElevenLabsRoutes {
 public:
  ElevenLabsRoutes(const HttpServer& server, WebSocketServer& web_sockets, Services& services,
                   ElevenLabsOptions options)
      : server_(server),
        web_sockets_(web_sockets),
        services_(services),
        options_(std::move(options)),
        names_(services.models, services.voice_aliases),
        entrance_(services, {.max_connections = options_.max_speech_connections,
                             .connections_name = "HTTP connections of this API",
                             .started = options_.started}) {}

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
    constexpr size_t kMostVoices = 100;
    size_t begin = 0;
    size_t most = 10;  // as ElevenLabs has it
    absl::Status status = Check(request);
    status.Update(TakeIndex(request, "next_page_token", SIZE_MAX, begin));
    status.Update(TakeIndex(request, "page_size", kMostVoices, most));
    if (!status.ok()) return SendElevenLabsError(response, status);
    response.set_content(
        VoiceSearchBody(services_.models, request.get_param_value("search"), begin, most),
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

  static absl::Status TakeIndex(const httplib::Request& request, const char* name, size_t most,
                                size_t& out) {
    const std::string value = request.get_param_value(name);
    if (value.empty()) return absl::OkStatus();
    if (absl::SimpleAtoi(value, &out) && out <= most) return absl::OkStatus();
    return absl::InvalidArgumentError(StrCat(std::string_view(name), ": ", Shown(value),
                                             " is not allowed; it is a number up to ", most));
  }

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
    if (!body.ignored.empty()) response.set_header("Warning", IgnoredMembersWarning(body.ignored));
    if (work.ok()) {
      if (const std::string warning = UnreadScriptsWarning(*work); !warning.empty())
        response.set_header("Warning", warning);
    }
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
    absl::StatusOr<Ticket> entered =
        entrance_.Enter(request, request.get_header_value("xi-api-key"));
    if (!entered.ok()) return entered.status();
    place = *std::move(entered);
    absl::StatusOr<SpeechBody> parsed = ParseSpeechBody(request.body);
    if (!parsed.ok()) return parsed.status();
    const std::string format_name = request.get_param_value("output_format");
    const absl::StatusOr<OutputFormat> format =
        ParseOutputFormat(format_name.empty() ? kDefaultOutputFormat : format_name);
    if (!format.ok()) return format.status();
    body = *std::move(parsed);
    if (absl::Status status = TakeFlag(request, kSsmlFlag, body.ssml); !status.ok()) return status;
    if (request.has_param(kTextFormatParameter))
      body.text_format = request.get_param_value(kTextFormatParameter);
    const auto text_format = ChooseTextFormat(body.ssml, body.text_format);
    if (!text_format.ok()) return text_format.status();
    body.speech.text_format = *text_format;
    body.speech.format = format->format;
    body.speech.sample_rate = format->sample_rate;
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
      auto options = ParseStreamQuery(request, request.matches[1], multi, names_);
      if (options.ok())
        options->inactivity_timeout = std::min(options->inactivity_timeout, options_.idle_timeout);
      return std::make_unique<StreamSession>(services_, std::move(options), std::move(client),
                                             options_.started, std::move(changed));
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
  const ElevenLabsOptions options_;
  const SpeechNames names_;
  SpeechEntrance entrance_;
};

}  // namespace

SharedPathHandler AddElevenLabsRoutes(HttpServer& server, WebSocketServer& web_sockets,
                                      Services& services, ElevenLabsOptions options) {
  const auto routes =
      std::make_shared<ElevenLabsRoutes>(server, web_sockets, services, std::move(options));
  const auto to = [&routes](auto handler) {
    return [routes, handler](const httplib::Request& request, httplib::Response& response) {
      (*routes.*handler)(request, response);
    };
  };
  constexpr char kSpeech[] = "/v1/text-to-speech/([^/]+)";
  for (const char* path : {"/v1/text-to-speech/", "/v1/voices", "/v2/voices", "/v1/user"}) {
    server.ShapeErrorsBelow(path, ErrorBodyOfStatus);
  }
  // Its other paths, which are not served, too.
  server.ShapeErrorsOf(IsOfElevenLabsClient, ErrorBodyOfStatus);
  const std::string speech = kSpeech;
  server.routes().Post(speech, to(&ElevenLabsRoutes::Speech));
  server.routes().Post(speech + "/stream", to(&ElevenLabsRoutes::Speech));
  server.routes().Post(speech + "/with-timestamps", to(&ElevenLabsRoutes::TimedSpeech));
  server.routes().Post(speech + "/stream/with-timestamps",
                       to(&ElevenLabsRoutes::StreamedTimedSpeech));
  server.routes().Get("/v1/voices", to(&ElevenLabsRoutes::Voices));
  server.routes().Get("/v2/voices", to(&ElevenLabsRoutes::SearchVoices));
  server.routes().Get("/v1/voices/settings/default", to(&ElevenLabsRoutes::DefaultSettings));
  server.routes().Get("/v1/voices/([^/]+)", to(&ElevenLabsRoutes::Voice));
  server.routes().Get("/v1/voices/([^/]+)/settings", to(&ElevenLabsRoutes::VoiceSettings));
  server.routes().Get("/v1/user", to(&ElevenLabsRoutes::User));
  server.routes().Get("/v1/user/subscription", to(&ElevenLabsRoutes::SubscriptionOfUser));
  server.routes().Get(speech + "/stream-input", to(&ElevenLabsRoutes::StreamInput));
  server.routes().Get(speech + "/multi-stream-input", to(&ElevenLabsRoutes::MultiStreamInput));
  return [routes](const httplib::Request& request, httplib::Response& response,
                  const std::string& /*body*/) { return routes->Models(request, response); };
}

}  // namespace millrace::server
