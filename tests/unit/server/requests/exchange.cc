#include "tests/unit/server/requests/exchange.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include "millrace/v1/synthesis.pb.h"
#include "millrace/v1/translation.pb.h"
#include "riva/tts.pb.h"
#include "server/frontends/http/speech_reply.h"
#include "server/frontends/http/translate_reply.h"
#include "server/frontends/kserve/rest_infer_reply.h"
#include "server/frontends/openai/speech_framing.h"
#include "server/frontends/wyoming/synthesis_reply.h"
#include "server/requests/speech_request.h"
#include "server/requests/translation_request.h"
#include "tests/fakes/fake_call.h"
#include "tests/unit/server/requests/fake_voice.h"
#include "tests/unit/server/requests/infer_request.h"

namespace millrace::server {
namespace {

// How long a client over HTTP waits before it looks whether it is to leave.
constexpr std::chrono::milliseconds kLook{1};

struct StepsDone final : models::RequestState {
  explicit StepsDone(std::function<void()> suspend) : suspend(std::move(suspend)) {}
  void Suspend() override {
    if (suspend) suspend();
  }

  size_t count = 0;
  const std::function<void()> suspend;
};

std::string MethodName(Method method) {
  switch (method) {
    case Method::kModelInfer:
      return "ModelInfer";
    case Method::kTranslate:
      return "Translate";
    case Method::kStreamTranslate:
      return "StreamTranslate";
    case Method::kSynthesize:
      return "Synthesize";
    case Method::kStreamSynthesize:
      return "StreamSynthesize";
    case Method::kRivaSynthesize:
      return "Synthesize";
    case Method::kRivaSynthesizeOnline:
      return "SynthesizeOnline";
    default:
      return "SynthesizeTextStream";
  }
}

bool IsRiva(const Kind& kind) {
  return kind.method == Method::kRivaSynthesize || kind.method == Method::kRivaSynthesizeOnline;
}

std::string RivaRequest() {
  nvidia::riva::tts::SynthesizeSpeechRequest request;
  request.set_voice_name("m");
  request.set_text("One.");
  return request.SerializeAsString();
}

std::string RequestBytes(const Kind& kind) {
  if (IsRiva(kind)) return RivaRequest();
  if (kind.method == Method::kModelInfer) return InferRequest("m").SerializeAsString();
  if (kind.method == Method::kTranslate || kind.method == Method::kStreamTranslate) {
    v1::TranslateRequest request;
    request.add_texts("x");
    request.set_source_language(kind.pivots ? "pt" : "en");
    request.set_target_language("de");
    if (!kind.pivots) request.set_model("m");
    return request.SerializeAsString();
  }
  v1::SynthesizeRequest request;
  request.set_model("m");
  request.set_text("One.");
  return request.SerializeAsString();
}

std::string TextStreamMessage() {
  v1::SynthesizeTextStreamRequest message;
  message.mutable_config()->set_model("m");
  message.set_text("One.");
  message.set_flush(true);
  return message.SerializeAsString();
}

class CallExchange final : public Exchange {
 public:
  CallExchange(RpcService& service, const Kind& kind) : service_(service), kind_(kind) {
    if (!kind.takes_text) {
      call_.emplace(RequestBytes(kind));
      return;
    }
    call_.emplace();
    call_->Send(IsRiva(kind) ? RivaRequest() : TextStreamMessage());
    call_->EndMessages();
  }

  void Begin() override { call_->Begin(service_, MethodName(kind_.method)); }
  absl::Status RunToEnd() override { return call_->RunToEnd(); }
  size_t received() const override {
    return kind_.streams ? call_->written().size() : call_->reply().size();
  }
  bool has_taken() const override { return call_->taken() != 0; }
  bool is_gone() const override { return call_->told_of_cancel(); }
  void Leave() override { call_->Leave(); }
  void StopReading() override { call_->StopReading(); }
  void ReadOn() override { call_->ReadOn(); }

 private:
  RpcService& service_;
  const Kind kind_;
  std::optional<testing::FakeCall> call_;
};

// Does what a connection's thread does for a request over HTTP.
class HttpExchange : public Exchange {
 public:
  absl::Status RunToEnd() override {
    for (;;) {
      if (has_left_) {
        Abandon();
        is_gone_ = true;
        return absl::CancelledError("the caller went away");
      }
      if (!reads_) {
        std::this_thread::yield();
      } else if (const auto end = Take()) {
        return *end;
      }
    }
  }
  size_t received() const override { return received_; }
  bool has_taken() const override { return received_ != 0; }
  bool is_gone() const override { return is_gone_; }
  void Leave() override { has_left_ = true; }
  void StopReading() override { reads_ = false; }
  void ReadOn() override { reads_ = true; }

 protected:
  // Takes what there is, for a moment; the end if it has come, after which the reply is gone.
  virtual std::optional<absl::Status> Take() = 0;
  virtual void Abandon() = 0;

  std::atomic<size_t> received_{0};

 private:
  std::atomic<bool> has_left_{false};
  std::atomic<bool> is_gone_{false};
  std::atomic<bool> reads_{true};
};

class HttpSpeech final : public HttpExchange {
 public:
  HttpSpeech(Services& services, const Kind& kind)
      : services_(services),
        kind_(kind),
        reply_(std::make_shared<SpeechReply>(services, "request-id")) {}

  void Begin() override {
    SpeechRequest request;
    request.model = "m";
    request.text = "One.";
    request.format = models::AudioFormat::kPcmS16;
    const auto framing = kind_.sends_events ? SpeechFraming::kEvents : SpeechFraming::kAudio;
    auto framer = std::make_unique<OpenAiFramer>(framing, request.format, request.text.size());
    reply_->Start(MakeSpeechWork(std::move(request), models::AudioContainer::kStream,
                                 kMaxStreamCharacters, services_),
                  std::move(framer));
  }

 private:
  std::optional<absl::Status> Take() override {
    const SpeechReply::Piece piece = reply_->Take(kLook);
    received_ += piece.bytes.size();
    if (!piece.end) return std::nullopt;
    if (piece.end->ok()) reply_->Delivered();
    Abandon();
    return piece.end;
  }
  void Abandon() override {
    reply_->Abandon();
    reply_.reset();
  }

  Services& services_;
  const Kind kind_;
  std::shared_ptr<SpeechReply> reply_;
};

class HttpTranslation final : public HttpExchange {
 public:
  HttpTranslation(Services& services, const Kind& kind)
      : services_(services),
        kind_(kind),
        reply_(std::make_shared<TranslateReply>(services, "request-id")) {}

  void Begin() override {
    TranslationRequest request;
    request.input.texts = {"x"};
    request.input.source_language = kind_.pivots ? "pt" : "en";
    request.input.target_language = "de";
    reply_->Start(MakeTranslationWorks(std::move(request), services_));
  }

 private:
  std::optional<absl::Status> Take() override {
    const std::optional<absl::Status> end = reply_->Wait(kLook);
    if (!end) return std::nullopt;
    if (end->ok()) received_ = reply_->TakeResults().front().text.size();
    reply_.reset();
    return end;
  }
  void Abandon() override {
    reply_->Abandon();
    reply_.reset();
  }

  Services& services_;
  const Kind kind_;
  std::shared_ptr<TranslateReply> reply_;
};

class HttpInference final : public HttpExchange {
 public:
  explicit HttpInference(Services& services)
      : services_(services), reply_(std::make_shared<RestInferReply>(services, "request-id")) {}

  void Begin() override {
    auto model = services_.models.FindForTask(models::Task::kInfer, "m", "");
    if (!model.ok()) return reply_->Start(model.status());
    models::InferInput input;
    input.inputs.push_back({"INPUT0", models::DataType::kFp32, {4}, "0123456789abcdef"});
    reply_->Start(Work{*std::move(model), std::move(input)});
  }

 private:
  std::optional<absl::Status> Take() override {
    std::optional<absl::Status> end = reply_->Wait(kLook);
    if (!end) return std::nullopt;
    if (end->ok()) received_ = reply_->output().outputs.front().data.size();
    reply_.reset();
    return end;
  }
  void Abandon() override {
    reply_->Abandon();
    reply_.reset();
  }

  Services& services_;
  std::shared_ptr<RestInferReply> reply_;
};

// Does what the thread of all connections does for one of them.
class WyomingExchange final : public HttpExchange {
 public:
  WyomingExchange(Services& services, const Kind& kind)
      : kind_(kind),
        reply_(std::make_unique<SynthesisReply>(
            services,
            kind.takes_text ? SynthesisReply::Kind::kStreamed : SynthesisReply::Kind::kWhole,
            "address", [] {})) {}

  void Begin() override {
    SpeechRequest request;
    request.model = "m";
    request.format = models::AudioFormat::kPcmS16;
    reply_->Start(std::move(request), {});
    if (!kind_.takes_text) return reply_->Speak("One.");
    reply_->Push("One.");
    reply_->EndText();
  }

 private:
  std::optional<absl::Status> Take() override {
    const SynthesisReply::Piece piece = reply_->Take();
    received_ += piece.events.size();
    if (!piece.end) {
      if (piece.events.empty()) std::this_thread::yield();
      return std::nullopt;
    }
    if (piece.end->ok()) reply_->Delivered();
    Abandon();
    return piece.end;
  }
  void Abandon() override {
    reply_->Fail(absl::CancelledError("the caller went away"));
    reply_.reset();
  }

  const Kind kind_;
  std::unique_ptr<SynthesisReply> reply_;
};

}  // namespace

std::vector<Kind> AllKinds() {
  return {
      {.name = "Infer", .method = Method::kModelInfer},
      {.name = "Translate", .method = Method::kTranslate},
      {.name = "PivotTranslate", .method = Method::kTranslate, .pivots = true},
      {.name = "StreamTranslate", .method = Method::kStreamTranslate, .streams = true},
      {.name = "PivotStreamTranslate",
       .method = Method::kStreamTranslate,
       .streams = true,
       .pivots = true},
      {.name = "Synthesize", .method = Method::kSynthesize},
      {.name = "StreamSynthesize", .method = Method::kStreamSynthesize, .streams = true},
      {.name = "TextStream",
       .method = Method::kSynthesizeTextStream,
       .streams = true,
       .takes_text = true},
      {.name = "Riva", .method = Method::kRivaSynthesize},
      {.name = "RivaTextStream",
       .method = Method::kRivaSynthesizeOnline,
       .streams = true,
       .takes_text = true},
      {.name = "HttpSpeech", .method = Method::kHttpSpeech, .is_http = true, .streams = true},
      {.name = "HttpSpeechEvents",
       .method = Method::kHttpSpeech,
       .is_http = true,
       .streams = true,
       .sends_events = true},
      {.name = "HttpTranslate", .method = Method::kHttpTranslate, .is_http = true},
      {.name = "HttpPivotTranslate",
       .method = Method::kHttpTranslate,
       .is_http = true,
       .pivots = true},
      {.name = "HttpInfer", .method = Method::kHttpInfer, .is_http = true},
      {.name = "Wyoming", .method = Method::kWyomingSpeech, .is_http = true, .streams = true},
      {.name = "WyomingTextStream",
       .method = Method::kWyomingTextStream,
       .is_http = true,
       .streams = true,
       .takes_text = true},
  };
}

std::vector<Kind> StreamingKinds() {
  std::vector<Kind> kinds = AllKinds();
  // Requests to two models are tested in pivot_test.cc.
  std::erase_if(kinds, [](const Kind& kind) { return !kind.streams || kind.pivots; });
  return kinds;
}

void Steps::operator()(models::Request& request) const {
  if (request.state() == nullptr) request.set_state(std::make_unique<StepsDone>(suspend));
  size_t& done = static_cast<StepsDone&>(*request.state()).count;
  const bool is_last = ++done == count;
  if (std::holds_alternative<models::InferInput>(request.input())) {
    if (is_last) return Echo(request);
  } else if (std::holds_alternative<models::TranslateInput>(request.input())) {
    models::TranslateOutput part;
    part.text.assign(bytes, 'a');
    part.text_finished = is_last;
    request.Emit(std::move(part));
  } else {
    models::SynthesizeOutput part = Sound(bytes);
    part.sentence_index = done - 1;
    part.sentence_finished = true;
    request.Emit(std::move(part));
  }
  if (is_last) request.Finish(absl::OkStatus());
}

World::World(const Kind& kind, testing::ModelHooks hooks, TestBackend::Options options)
    : kind(kind), backend(options), hooks_(std::move(hooks)) {
  AddModels();
}

models::ModelInfo World::Info() const {
  switch (TaskOf(kind.method)) {
    case models::Task::kInfer:
      return InferInfo("m");
    case models::Task::kSynthesis:
      return VoiceInfo("m");
    case models::Task::kTranslation:
      break;
  }
  return kind.pivots ? TranslatorInfo("m", "pt", "en") : TranslatorInfo("m", "en", "de");
}

void World::AddModels() {
  model_ = backend.Add(Info(), hooks_);
  if (kind.pivots) backend.Add(TranslatorInfo("second", "en", "de"), {.complete = Steps()});
}

void World::RemoveModels() {
  backend.directory.Remove("m");
  backend.directory.Remove("second");
  model_.reset();
}

std::unique_ptr<Exchange> World::NewExchange() {
  switch (kind.method) {
    case Method::kHttpSpeech:
      return std::make_unique<HttpSpeech>(backend.services(), kind);
    case Method::kHttpTranslate:
      return std::make_unique<HttpTranslation>(backend.services(), kind);
    case Method::kHttpInfer:
      return std::make_unique<HttpInference>(backend.services());
    case Method::kWyomingSpeech:
    case Method::kWyomingTextStream:
      return std::make_unique<WyomingExchange>(backend.services(), kind);
    case Method::kModelInfer:
      return std::make_unique<CallExchange>(infer_, kind);
    case Method::kTranslate:
    case Method::kStreamTranslate:
      return std::make_unique<CallExchange>(translation_, kind);
    case Method::kRivaSynthesize:
    case Method::kRivaSynthesizeOnline:
      return std::make_unique<CallExchange>(riva_, kind);
    default:
      return std::make_unique<CallExchange>(synthesis_, kind);
  }
}

double World::Ended(absl::StatusCode code) {
  return backend.Count("m", kind.method, code) + backend.Count("", kind.method, code);
}

double World::Ended() {
  double sum = 0;
  for (size_t code = 0; code < kStatusCodes; ++code)
    sum += Ended(static_cast<absl::StatusCode>(code));
  return sum;
}

}  // namespace millrace::server
