#include "server/frontends/openai/openai_routes.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_join.h"
#include "httplib.h"
#include "models/core/speech_choice.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/frontends/openai/openai_error.h"
#include "server/frontends/openai/speech_json.h"
#include "server/frontends/openai/speech_reply.h"
#include "server/http/http_routes.h"
#include "server/logging/request_id.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

// How soon a connection without news looks whether its client is still there.
constexpr std::chrono::milliseconds kLook{100};

// The models of OpenAI's own service, for clients that cannot name another.
constexpr std::string_view kOpenAiModels[] = {"tts-1", "tts-1-hd", "gpt-4o-mini-tts"};
// BCP 47, of a text that is given to one of these without a language.
constexpr std::string_view kLanguage = "en";

void SendJson(httplib::Response& response, const Json& json) {
  response.set_content(json.dump(-1, ' ', false, Json::error_handler_t::replace),
                       "application/json");
}

// OpenAI calls the text "input".
absl::Status InOpenAiTerms(const absl::Status& status) {
  constexpr std::string_view kText = "text: ";
  const std::string_view message = Message(status);
  if (!absl::IsInvalidArgument(status) || message.substr(0, kText.size()) != kText) return status;
  return absl::InvalidArgumentError(StrCat("input: ", message.substr(kText.size())));
}

const char* ContentType(models::AudioFormat format) {
  switch (format) {
    case models::AudioFormat::kMp3:
      return "audio/mpeg";
    case models::AudioFormat::kOggOpus:
      return "audio/ogg";
    case models::AudioFormat::kFlac:
      return "audio/flac";
    case models::AudioFormat::kWav:
      return "audio/wav";
    case models::AudioFormat::kPcmS16:
    case models::AudioFormat::kPcmF32:
      break;
  }
  return "audio/pcm";
}

class OpenAiRoutes {
 public:
  OpenAiRoutes(Services& services, OpenAiOptions options)
      : services_(services),
        options_(std::move(options)),
        connections_(options_.max_speech_connections) {}

  void Speech(const httplib::Request& request, httplib::Response& response) {
    const std::string id = logging::RequestIdFrom(request.get_header_value("X-Request-Id"));
    response.set_header("X-Request-Id", id);
    const auto reply =
        std::make_shared<SpeechReply>(services_, id, HttpCaller(request, services_.keys));
    const auto place = std::make_shared<Ticket>();  // until the connection is done with it
    HttpSpeechRequest wanted;
    absl::StatusOr<SpeechWork> work = Prepare(request, *place, wanted);
    reply->Start(std::move(work),
                 wanted.sse ? SpeechReply::Framing::kEvents : SpeechReply::Framing::kAudio);
    // For want of memory: until the answer has it, nobody else would end the work.
    absl::Cleanup abandon = [&reply] { reply->Abandon(); };
    // The HTTP status is sent with the first bytes, when it is known how the request fares.
    SpeechReply::Piece first;
    while (first.bytes.empty() && !first.end) {
      if (HttpClientGone())
        return SendOpenAiError(response, absl::CancelledError("the caller went away"));
      first = reply->Take(kLook);
    }
    if (first.end && !first.end->ok()) {
      std::move(abandon).Cancel();
      const absl::Status status = InOpenAiTerms(*first.end);
      return SendOpenAiError(response, status, RetryAfterSeconds(status));
    }
    if (wanted.sse) response.set_header("Cache-Control", "no-cache");
    response.set_chunked_content_provider(
        wanted.sse ? "text/event-stream" : ContentType(wanted.speech.format),
        [reply, first = std::move(first)](size_t, httplib::DataSink& sink) mutable {
          SpeechReply::Piece piece = std::exchange(first, {});
          if (piece.bytes.empty() && !piece.end) piece = reply->Take(kLook);
          return Write(*reply, piece, sink);
        },
        [reply, place](bool) { reply->Abandon(); });
    std::move(abandon).Cancel();
  }

  void Voices(const httplib::Request& request, httplib::Response& response) {
    if (!Allowed(request, response)) return;
    std::vector<std::shared_ptr<ServedModel>> models = services_.models.All();
    if (const std::string name = request.get_param_value("model"); !name.empty()) {
      absl::StatusOr<std::vector<std::shared_ptr<ServedModel>>> meant = ModelsMeantBy(name);
      if (!meant.ok()) return SendOpenAiError(response, meant.status());
      models = *std::move(meant);
    }
    Json voices = Json::array();
    for (const auto& model : models) {
      const models::ModelInfo& info = model->info();
      for (size_t i = 0; i < info.speech().voices.size(); ++i) {
        const std::string& voice = info.speech().voices[i];
        const bool known =
            i < info.speech().voice_languages.size() && !info.speech().voice_languages[i].empty();
        voices.push_back(
            {{"id", voice},
             {"name", voice},
             {"model", info.name},
             {"language", known ? info.speech().voice_languages[i] : info.speech().language},
             {"languages", info.speech().languages},
             {"sample_rate", info.speech().sample_rate}});
      }
    }
    SendJson(response, {{"voices", std::move(voices)}});
  }

  void Models(const httplib::Request& request, httplib::Response& response) {
    if (!Allowed(request, response)) return;
    Json models = Json::array();
    for (const auto& model : services_.models.All()) models.push_back(ToJson(model->info().name));
    for (const std::string_view alias : kOpenAiModels) {
      if (IsAlias(alias)) models.push_back(ToJson(alias));
    }
    SendJson(response, {{"object", "list"}, {"data", std::move(models)}});
  }

  void Model(const httplib::Request& request, httplib::Response& response) {
    if (!Allowed(request, response)) return;
    const std::string name = request.matches[1];
    const auto meant = ModelsMeantBy(name);
    if (!meant.ok()) return SendOpenAiError(response, meant.status());
    SendJson(response, ToJson(name));
  }

 private:
  absl::Status Check(const httplib::Request& request) const {
    if (absl::Status status = AuthenticateHttp(request, services_.keys); !status.ok())
      return status;
    return options_.started() ? absl::OkStatus()
                              : absl::UnavailableError("the server is starting; try again soon");
  }

  bool Allowed(const httplib::Request& request, httplib::Response& response) const {
    const absl::Status status = Check(request);
    if (!status.ok()) SendOpenAiError(response, status, RetryAfterSeconds(status));
    return status.ok();
  }

  absl::StatusOr<SpeechWork> Prepare(const httplib::Request& request, Ticket& place,
                                     HttpSpeechRequest& wanted) {
    if (absl::Status status = Check(request); !status.ok()) return status;
    if (request.version == "HTTP/1.0")
      return absl::InvalidArgumentError("the answer is chunked, which needs HTTP/1.1");
    absl::StatusOr<Ticket> entered = connections_.TryEnter();
    if (!entered.ok()) {
      services_.no_model_metrics.CountRefusal(Refusal::kTooMany);
      return Refused(StrCat("the server already speaks on ", options_.max_speech_connections,
                            " HTTP connections, which is its limit"),
                     std::chrono::seconds(1));
    }
    place = *std::move(entered);
    auto parsed = ParseSpeechJson(request.body);
    if (!parsed.ok()) return parsed.status();
    wanted = *std::move(parsed);
    SpeechRequest speech = wanted.speech;
    if (absl::Status status = CheckVoiceOfAlias(speech); !status.ok()) return status;
    speech.model = LoadedName(speech);
    return MakeSpeechWork(std::move(speech), models::AudioContainer::kStream, kMaxStreamCharacters,
                          services_);
  }

  // In place of one of OpenAI's models, unless one of that name is loaded: the best that has the
  // voice for the language, which is English where the request names none.
  std::string LoadedName(const SpeechRequest& speech) const {
    const std::string& name = speech.model;
    if (std::find(std::begin(kOpenAiModels), std::end(kOpenAiModels), name) ==
        std::end(kOpenAiModels))
      return name;
    const auto loaded = services_.models.All();
    std::vector<const models::ModelInfo*> infos;
    for (const auto& model : loaded) {
      if (model->info().name == name) return name;
      infos.push_back(&model->info());
    }
    const std::string_view language = speech.language.empty() ? kLanguage : speech.language;
    const models::ModelInfo* chosen = models::ChooseSpeechModel(infos, language, speech.voice);
    return chosen == nullptr ? name : chosen->name;
  }

  std::vector<std::shared_ptr<ServedModel>> SpeechModels() const {
    std::vector<std::shared_ptr<ServedModel>> models = services_.models.All();
    std::erase_if(
        models, [](const auto& model) { return model->info().task() != models::Task::kSynthesis; });
    return models;
  }

  // Returns true if the name stands for a loaded model of another name.
  bool IsAlias(std::string_view name) const {
    return std::ranges::find(kOpenAiModels, name) != std::end(kOpenAiModels) &&
           !services_.models.Find(name, "").ok() && !SpeechModels().empty();
  }

  // The loaded model of that name, or all that an alias may mean.
  absl::StatusOr<std::vector<std::shared_ptr<ServedModel>>> ModelsMeantBy(
      const std::string& name) const {
    if (IsAlias(name)) return SpeechModels();
    auto model = services_.models.Find(name, "");
    if (!model.ok()) return model.status();
    return std::vector{*std::move(model)};
  }

  // A voice that no model has which the alias may mean is refused with the voices of them all.
  absl::Status CheckVoiceOfAlias(const SpeechRequest& speech) const {
    if (speech.voice.empty() || !IsAlias(speech.model)) return absl::OkStatus();
    const std::vector<std::shared_ptr<ServedModel>> models = SpeechModels();
    // A mix such as "a:0.3+b:0.7" is its model's to check.
    const std::string voice = speech.voice.substr(0, speech.voice.find_first_of(":+"));
    std::vector<std::string> choice;
    for (const auto& model : models) {
      const std::vector<std::string>& voices = model->info().speech().voices;
      if (std::ranges::find(voices, voice) != voices.end()) return absl::OkStatus();
      choice.push_back(StrCat(absl::StrJoin(voices, ", "), " (", model->info().name, ")"));
    }
    return absl::InvalidArgumentError(
        StrCat("voice: ", Shown(voice),
               " is a voice of no model; there are: ", absl::StrJoin(choice, ", ")));
  }

  // False ends the connection where it is, which tells the client that something is missing.
  static bool Write(SpeechReply& reply, const SpeechReply::Piece& piece, httplib::DataSink& sink) {
    if (!piece.bytes.empty()) {
      if (!sink.write(piece.bytes.data(), piece.bytes.size())) return false;
    } else if (!piece.end) {
      return !HttpClientGone();
    }
    if (!piece.end) return true;
    if (!piece.end->ok()) return WriteError(reply, InOpenAiTerms(*piece.end), sink);
    sink.done();
    reply.Delivered();
    return true;
  }

  static bool WriteError(const SpeechReply& reply, const absl::Status& status,
                         httplib::DataSink& sink) {
    if (!reply.sends_events()) return false;
    const std::string event = StrCat("data: ", OpenAiErrorBody(status), "\n\n");
    if (!sink.write(event.data(), event.size())) return false;
    sink.done();
    return true;
  }

  Json ToJson(std::string_view model) const {
    return {{"id", model}, {"object", "model"}, {"created", started_at_}, {"owned_by", "millrace"}};
  }

  Services& services_;
  const OpenAiOptions options_;
  Admission connections_;
  const int64_t started_at_ = std::chrono::duration_cast<std::chrono::seconds>(
                                  std::chrono::system_clock::now().time_since_epoch())
                                  .count();
};

}  // namespace

void AddOpenAiRoutes(HttpServer& server, Services& services, OpenAiOptions options) {
  const auto routes = std::make_shared<OpenAiRoutes>(services, std::move(options));
  const auto to = [&routes](auto handler) {
    return [routes, handler](const httplib::Request& request, httplib::Response& response) {
      (*routes.*handler)(request, response);
    };
  };
  server.ShapeErrorsBelow("/v1/", [](int status, const std::string& message) {
    return OpenAiErrorBody(status, message, "", "");
  });
  server.routes().Post("/v1/audio/speech", to(&OpenAiRoutes::Speech));
  server.routes().Get("/v1/audio/voices", to(&OpenAiRoutes::Voices));
  server.routes().Get("/v1/models", to(&OpenAiRoutes::Models));
  server.routes().Get("/v1/models/([^/]+)", to(&OpenAiRoutes::Model));
}

}  // namespace millrace::server
