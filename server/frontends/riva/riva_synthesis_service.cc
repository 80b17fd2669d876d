#include "server/frontends/riva/riva_synthesis_service.h"

#include <string>
#include <utility>
#include <variant>

#include "riva/tts.pb.h"
#include "server/frontends/grpc/answer.h"
#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/frontends/grpc/text_stream_call.h"
#include "server/frontends/grpc/unary_call.h"
#include "server/frontends/riva/field_names.h"
#include "server/frontends/riva/opus_packets.h"
#include "server/frontends/riva/riva_text_stream_task.h"
#include "server/frontends/riva/riva_voices.h"
#include "server/frontends/riva/speech_fields.h"
#include "server/requests/speech_request.h"
#include "server/requests/whole_speech.h"

namespace millrace::server {
namespace {

using nvidia::riva::tts::RivaSynthesisConfigRequest;
using nvidia::riva::tts::RivaSynthesisConfigResponse;
using nvidia::riva::tts::SynthesizeSpeechRequest;
using nvidia::riva::tts::SynthesizeSpeechResponse;

class SynthesizeTask {
 public:
  static constexpr Method kMethod = Method::kRivaSynthesize;

  absl::StatusOr<Work> Decode(const ByteBuffer& buffer, const Services& services) {
    SynthesizeSpeechRequest message;
    if (absl::Status status = ParseMessage(buffer, message); !status.ok()) return status;
    if (message.has_id()) *response_.mutable_id() = message.id();
    auto speech = ToRivaSpeech(std::move(message), services);
    if (!speech.ok()) return speech.status();
    auto work = MakeSpeechWork(std::move(speech->request), models::AudioContainer::kFile,
                               kMaxWholeCharacters, services);
    if (!work.ok()) return work.status();
    response_.mutable_meta()->set_text(std::get<models::SynthesizeInput>(work->work.input).text);
    audio_.Start(work->encoding);
    return std::move(work->work);
  }

  void Emit(models::Output output, const RequestRun& run) {
    auto& piece = std::get<models::SynthesizeOutput>(output);
    if (!audio_.Push(piece, run)) return;
    AddWordTimings(std::move(piece.words), piece.sample_rate,
                   *response_.mutable_meta()->mutable_words());
  }

  absl::Status End(const absl::Status& status, const RequestRun&, ByteBuffer& reply) {
    absl::StatusOr<std::string> bytes = audio_.Take(status, "text", "SynthesizeOnline");
    if (!bytes.ok()) return WithRivaFieldName(bytes.status());
    const bool opus = audio_.encoding().format == models::AudioFormat::kOggOpus;
    response_.set_audio(opus ? OpusPackets().Push(*bytes) : *std::move(bytes));
    return SerializeMessage(response_, reply);
  }

 private:
  WholeSpeech audio_;
  SynthesizeSpeechResponse response_;
};

}  // namespace

RivaSynthesisService::RivaSynthesisService(Services& services)
    : RpcService("nvidia.riva.tts.RivaSpeechSynthesis") {
  Serve("Synthesize", UnaryCall<SynthesizeTask>::Serving(services));
  Serve("SynthesizeOnline", TextStreamCall<RivaSynthesizeOnlineTask>::Serving(services));
  Serve("GetRivaSynthesisConfig",
        Answering<RivaSynthesisConfigRequest, RivaSynthesisConfigResponse>(
            [&services](const ByteCall& call, const auto& request, auto& response) {
              absl::Status status = Authenticate(services.keys, call, Role::kUser);
              if (!status.ok()) return status;
              return ListRivaVoices(request.model_name(), services.models, response);
            }));
}

}  // namespace millrace::server
