#include "tests/load/loadgen/calls.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "inference/grpc_service.grpc.pb.h"
#include "millrace/v1/synthesis.grpc.pb.h"
#include "millrace/v1/translation.grpc.pb.h"
#include "tests/load/loadgen/http_calls.h"
#include "tests/load/loadgen/player.h"

namespace millrace::loadgen {
namespace {

using inference::GRPCInferenceService;
using inference::ModelInferRequest;
using inference::ModelInferResponse;
using v1::StreamSynthesizeResponse;
using v1::StreamTranslateResponse;
using v1::SynthesisService;
using v1::SynthesizeRequest;
using v1::SynthesizeResponse;
using v1::TranslateRequest;
using v1::TranslateResponse;
using v1::TranslationService;

constexpr double kPcm16BytesPerSample = 2;

// Where the calls of a run leave their results.
struct Sinks {
  Recorder& recorder;
  Outputs& outputs;
};

std::vector<std::shared_ptr<grpc::Channel>> MakeChannels(const Options& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  // Otherwise gRPC would let equal channels share one connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < options.connections; ++i) {
    channels.push_back(
        grpc::CreateCustomChannel(options.address, grpc::InsecureChannelCredentials(), arguments));
    // So that the first calls do not carry the cost of connecting; when nobody listens they say so
    // themselves.
    channels.back()->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(5));
  }
  return channels;
}

std::vector<ModelInferRequest> MakeInferRequests(const Options& options) {
  constexpr int kValues = 64;
  std::vector<float> values(kValues);
  for (int i = 0; i < kValues; ++i) values[i] = 0.5F * static_cast<float>(i) - 7;
  ModelInferRequest request;
  request.set_model_name(options.model);
  auto* input = request.add_inputs();
  input->set_name("INPUT0");
  input->set_datatype("FP32");
  input->add_shape(kValues);
  request.add_raw_input_contents(values.data(), values.size() * sizeof(float));
  return {request};
}

std::vector<TranslateRequest> MakeTranslateRequests(const Options& options) {
  std::vector<TranslateRequest> requests(options.texts.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].set_model(options.model);
    requests[i].add_texts(options.texts[i]);
    if (options.target_tokens.empty()) continue;
    v1::TranslateSearch& search = *requests[i].mutable_search();
    search.set_min_target_tokens(options.target_tokens[i]);
    search.set_max_target_tokens(options.target_tokens[i]);
  }
  return requests;
}

std::vector<SynthesizeRequest> MakeSynthesizeRequests(const Options& options) {
  std::vector<SynthesizeRequest> requests(options.texts.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].set_model(options.model);
    requests[i].set_text(options.texts[i]);
    requests[i].set_seed(options.seed);
    requests[i].set_encoding(v1::AUDIO_ENCODING_PCM_S16LE);
  }
  return requests;
}

void Begin(GRPCInferenceService::Stub& stub, grpc::ClientContext* context,
           const ModelInferRequest* request, ModelInferResponse* response,
           std::function<void(grpc::Status)> done) {
  stub.async()->ModelInfer(context, request, response, std::move(done));
}
void Begin(TranslationService::Stub& stub, grpc::ClientContext* context,
           const TranslateRequest* request, TranslateResponse* response,
           std::function<void(grpc::Status)> done) {
  stub.async()->Translate(context, request, response, std::move(done));
}
void Begin(SynthesisService::Stub& stub, grpc::ClientContext* context,
           const SynthesizeRequest* request, SynthesizeResponse* response,
           std::function<void(grpc::Status)> done) {
  stub.async()->Synthesize(context, request, response, std::move(done));
}

void Check(const ModelInferRequest& request, const ModelInferResponse& response, size_t /*input*/,
           const Sinks& sinks) {
  if (response.raw_output_contents_size() != 1 ||
      response.raw_output_contents(0) != request.raw_input_contents(0)) {
    sinks.recorder.AddWrong();
  }
}
// Returns true if another length was asked for.
bool IsOfWrongLength(const TranslateRequest& request, int64_t target_tokens) {
  const v1::TranslateSearch& search = request.search();
  return search.has_max_target_tokens() && target_tokens != search.max_target_tokens();
}
void Check(const TranslateRequest& request, const TranslateResponse& response, size_t input,
           const Sinks& sinks) {
  if (response.translations_size() != 1 || response.translations(0).text().empty()) {
    sinks.recorder.AddWrong();
    return;
  }
  if (IsOfWrongLength(request, response.translations(0).target_tokens())) sinks.recorder.AddWrong();
  const std::string& text = response.translations(0).text();
  Hash hash;
  hash.Append(text);
  sinks.recorder.AddWork(0, text.size());
  sinks.outputs.Add(input, text.size(), hash.value(), text);
}
void Check(const SynthesizeRequest& /*request*/, const SynthesizeResponse& response, size_t input,
           const Sinks& sinks) {
  if (response.audio().empty()) sinks.recorder.AddWrong();
  Hash hash;
  hash.Append(response.audio());
  sinks.recorder.AddWork(response.duration_seconds(), response.audio().size());
  sinks.outputs.Add(input, response.audio().size(), hash.value(), "");
}

// The settings of calls of all kinds.
struct Terms {
  explicit Terms(const Options& options)
      : deadline(options.deadline), authorization("Bearer " + options.api_key) {
    if (options.api_key.empty()) authorization.clear();
  }
  std::chrono::nanoseconds deadline;
  std::string authorization;  // empty: none
};

// The part that calls of all kinds share; the context must outlive the call.
class CallBase {
 public:
  CallBase(SteadyTime intended, const Terms& terms, CallObserver& observer) : observer_(observer) {
    times_.intended = intended;
    times_.sent = std::chrono::steady_clock::now();
    context_.set_deadline(
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::system_clock::duration>(terms.deadline));
    if (!terms.authorization.empty()) context_.AddMetadata("authorization", terms.authorization);
  }

 protected:
  grpc::ClientContext context_;
  CallTimes times_;
  CallObserver& observer_;
};

template <typename Request, typename Response>
class UnaryCall final : public CallBase {
 public:
  using CallBase::CallBase;

  // Deletes itself when it is done.
  template <typename Stub>
  void Start(Stub& stub, const Request& request, size_t input, const Sinks& sinks) {
    Begin(stub, &context_, &request, &response_,
          [this, &request, input, &sinks](const grpc::Status& status) {
            times_.done = std::chrono::steady_clock::now();
            if (status.ok()) Check(request, response_, input, sinks);
            sinks.recorder.AddCall(status, times_);
            CallObserver& observer = observer_;
            delete this;
            observer.OnCallDone();
          });
  }

 private:
  Response response_;
};

template <typename Service, typename Request, typename Response>
class UnaryCaller final : public Caller {
 public:
  UnaryCaller(const Options& options, std::vector<Request> requests, Sinks sinks)
      : terms_(options), requests_(std::move(requests)), sinks_(sinks) {
    for (auto& channel : MakeChannels(options)) stubs_.push_back(Service::NewStub(channel));
  }

  void Start(uint64_t index, SteadyTime intended, CallObserver& observer) override {
    const size_t input = index % requests_.size();
    auto* call = new UnaryCall<Request, Response>(intended, terms_, observer);
    call->Start(*stubs_[index % stubs_.size()], requests_[input], input, sinks_);
  }

 private:
  const Terms terms_;
  const std::vector<Request> requests_;
  const Sinks sinks_;
  std::vector<std::unique_ptr<typename Service::Stub>> stubs_;
};

// Hears the audio of one stream.
class Listener {
 public:
  using Service = SynthesisService;
  using Request = SynthesizeRequest;
  using Response = StreamSynthesizeResponse;

  explicit Listener(SteadyTime intended) : player_(intended) {}

  static void Begin(Service::Stub& stub, grpc::ClientContext* context, const Request* request,
                    grpc::ClientReadReactor<Response>* reactor) {
    stub.async()->StreamSynthesize(context, request, reactor);
  }

  void OnMessage(const Response& response, SteadyTime now, const Sinks& sinks) {
    const size_t bytes = response.audio().size();
    if (bytes == 0) return;
    const double seconds = static_cast<double>(bytes) / kPcm16BytesPerSample /
                           std::max<uint32_t>(response.sample_rate(), 1);
    if (const auto gap = player_.OnPiece(now, seconds)) sinks.recorder.AddGap(*gap);
    bytes_ += bytes;
    hash_.Append(response.audio());
  }

  void OnEnd(const Request& /*request*/, size_t input, const Sinks& sinks) const {
    if (bytes_ == 0) sinks.recorder.AddWrong();
    sinks.outputs.Add(input, bytes_, hash_.value(), "");
    sinks.recorder.AddWork(player_.playback().audio_seconds, bytes_);
    sinks.recorder.AddPlayback(player_.playback());
  }

 private:
  Player player_;
  Hash hash_;
  uint64_t bytes_ = 0;
};

// Reads the words of one stream.
class Reader {
 public:
  using Service = TranslationService;
  using Request = TranslateRequest;
  using Response = StreamTranslateResponse;

  explicit Reader(SteadyTime intended) : intended_(intended) {}

  static void Begin(Service::Stub& stub, grpc::ClientContext* context, const Request* request,
                    grpc::ClientReadReactor<Response>* reactor) {
    stub.async()->StreamTranslate(context, request, reactor);
  }

  void OnMessage(const Response& response, SteadyTime now, const Sinks& sinks) {
    if (text_.empty() && !response.text().empty()) sinks.recorder.AddFirstText(now - intended_);
    text_ += response.text();
    target_tokens_ += response.target_tokens();
  }

  void OnEnd(const Request& request, size_t input, const Sinks& sinks) const {
    if (text_.empty() || IsOfWrongLength(request, target_tokens_)) sinks.recorder.AddWrong();
    Hash hash;
    hash.Append(text_);
    sinks.recorder.AddWork(0, text_.size());
    sinks.outputs.Add(input, text_.size(), hash.value(), text_);
  }

 private:
  const SteadyTime intended_;
  std::string text_;
  int64_t target_tokens_ = 0;
};

template <typename Client>
class StreamCall final : public CallBase,
                         public grpc::ClientReadReactor<typename Client::Response> {
 public:
  StreamCall(SteadyTime intended, const Terms& terms, CallObserver& observer, size_t input,
             const Sinks& sinks)
      : CallBase(intended, terms, observer), input_(input), sinks_(sinks), client_(intended) {}

  // Deletes itself when it is done.
  void Start(typename Client::Service::Stub& stub, const typename Client::Request& request) {
    request_ = &request;
    Client::Begin(stub, &context_, &request, this);
    this->StartRead(&response_);
    this->StartCall();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    client_.OnMessage(response_, std::chrono::steady_clock::now(), sinks_);
    this->StartRead(&response_);
  }

  void OnDone(const grpc::Status& status) override {
    times_.done = std::chrono::steady_clock::now();
    if (status.ok()) client_.OnEnd(*request_, input_, sinks_);
    sinks_.recorder.AddCall(status, times_);
    CallObserver& observer = observer_;
    delete this;
    observer.OnCallDone();
  }

 private:
  const size_t input_;
  const Sinks& sinks_;
  const typename Client::Request* request_ = nullptr;
  typename Client::Response response_;
  Client client_;
};

template <typename Client>
class StreamCaller final : public Caller {
 public:
  StreamCaller(const Options& options, std::vector<typename Client::Request> requests, Sinks sinks)
      : terms_(options), requests_(std::move(requests)), sinks_(sinks) {
    for (auto& channel : MakeChannels(options)) stubs_.push_back(Client::Service::NewStub(channel));
  }

  void Start(uint64_t index, SteadyTime intended, CallObserver& observer) override {
    const size_t input = index % requests_.size();
    auto* call = new StreamCall<Client>(intended, terms_, observer, input, sinks_);
    call->Start(*stubs_[index % stubs_.size()], requests_[input]);
  }

 private:
  const Terms terms_;
  const std::vector<typename Client::Request> requests_;
  const Sinks sinks_;
  std::vector<std::unique_ptr<typename Client::Service::Stub>> stubs_;
};

// Whose replies come as their words are decided.
std::vector<TranslateRequest> MakePartialRequests(const Options& options) {
  std::vector<TranslateRequest> requests = MakeTranslateRequests(options);
  for (TranslateRequest& request : requests) request.set_partial(true);
  return requests;
}

}  // namespace

std::unique_ptr<Caller> MakeCaller(const Options& options, Recorder& recorder, Outputs& outputs) {
  const Sinks sinks{recorder, outputs};
  switch (options.method) {
    case Method::kInfer:
      return std::make_unique<
          UnaryCaller<GRPCInferenceService, ModelInferRequest, ModelInferResponse>>(
          options, MakeInferRequests(options), sinks);
    case Method::kTranslate:
      return std::make_unique<UnaryCaller<TranslationService, TranslateRequest, TranslateResponse>>(
          options, MakeTranslateRequests(options), sinks);
    case Method::kSynthesize:
      return std::make_unique<UnaryCaller<SynthesisService, SynthesizeRequest, SynthesizeResponse>>(
          options, MakeSynthesizeRequests(options), sinks);
    case Method::kStreamSynthesize:
      return std::make_unique<StreamCaller<Listener>>(options, MakeSynthesizeRequests(options),
                                                      sinks);
    case Method::kStreamTranslate:
      return std::make_unique<StreamCaller<Reader>>(options, MakePartialRequests(options), sinks);
    case Method::kHttpInfer:
    case Method::kHttpTranslate:
    case Method::kHttpSynthesize:
      return MakeHttpCaller(options, recorder, outputs);
  }
  return nullptr;
}

}  // namespace millrace::loadgen
