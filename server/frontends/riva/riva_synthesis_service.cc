#include "server/frontends/riva/riva_synthesis_service.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "google/protobuf/util/message_differencer.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/trim.h"
#include "riva/tts.pb.h"
#include "server/frontends/grpc/answer.h"
#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/frontends/grpc/reply_stream.h"
#include "server/frontends/grpc/text_stream_call.h"
#include "server/frontends/grpc/unary_call.h"
#include "server/frontends/riva/custom_dictionary.h"
#include "server/frontends/riva/field_names.h"
#include "server/frontends/riva/opus_packets.h"
#include "server/frontends/riva/riva_voices.h"
#include "server/frontends/riva/speech_fields.h"
#include "server/requests/services.h"
#include "server/requests/speech_request.h"
#include "server/requests/text_stream.h"
#include "server/requests/whole_speech.h"
#include "server/rpc/byte_buffer.h"

namespace millrace::server {
namespace {

using google::protobuf::util::MessageDifferencer;
using nvidia::riva::tts::RivaSynthesisConfigRequest;
using nvidia::riva::tts::RivaSynthesisConfigResponse;
using nvidia::riva::tts::SynthesizeSpeechRequest;
using nvidia::riva::tts::SynthesizeSpeechResponse;

class SynthesizeTask {
 public:
  static constexpr Method kMethod = Method::kRivaSynthesize;

  absl::StatusOr<Work> Decode(const ByteBuffer& buffer, const Services& services) {
    SynthesizeSpeechRequest message;
    MILLRACE_RETURN_IF_ERROR(ParseMessage(buffer, message));
    if (message.has_id()) *response_.mutable_id() = message.id();
    MILLRACE_ASSIGN_OR_RETURN(auto speech, ToRivaSpeech(std::move(message), services));
    MILLRACE_ASSIGN_OR_RETURN(
        auto work, MakeSpeechWork(std::move(speech.request), models::AudioContainer::kFile,
                                  kMaxWholeCharacters, services));
    response_.mutable_meta()->set_text(std::get<models::SynthesizeInput>(work.work.input).text);
    audio_.Start(work.encoding);
    return std::move(work.work);
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

// The messages of RivaSpeechSynthesis.SynthesizeOnline, for TextStreamCall. Clients cut a text at
// its white space and drop that, so the texts of two messages are joined by a space.
class RivaSynthesizeOnlineTask {
 public:
  static constexpr Method kMethod = Method::kRivaSynthesizeOnline;

  absl::Status Take(const ByteBuffer& buffer, const Services& services, TextStream& text) {
    SynthesizeSpeechRequest message;
    MILLRACE_RETURN_IF_ERROR(ParseMessage(buffer, message));
    const std::string piece = std::exchange(*message.mutable_text(), {});
    const bool has_id = message.has_id();
    const nvidia::riva::RequestId id = message.id();
    message.clear_id();  // may differ
    const bool is_first = !text.configured();
    if (is_first) {
      if (has_id) id_ = id;
      settings_ = message;
    } else if (message.ByteSizeLong() != 0 && !MessageDifferencer::Equals(message, settings_)) {
      return InvalidArgument(
          "the settings of a message that is not the first must be those of the first, or unset");
    }
    const bool blank = models::Trim(piece).empty();
    // The beginning of the text decides what the settings leave open; wrong ones do not wait for
    // it.
    if (is_first || (!has_text_ && !blank)) {
      MILLRACE_RETURN_IF_ERROR(Configure(piece, services, text));
    }
    if (piece.empty() || (!has_text_ && blank)) return absl::OkStatus();
    has_text_ = true;
    const bool joined = needs_space_ && models::TrimLeft(piece).size() == piece.size();
    needs_space_ = models::TrimRight(piece).size() == piece.size();
    return text.Push(StrCat(joined ? " " : "", dictionary_.Apply(piece)), /*flush=*/false);
  }

  absl::Status EmptyStream(const TextStream&) const {
    return InvalidArgument("text: there is nothing to speak; it needs a letter or a digit");
  }

  void SendAudio(std::string_view bytes, models::SynthesizeOutput piece, const TextStream&,
                 ReplyStream& stream) {
    SynthesizeSpeechResponse message;
    if (!piece.text.empty()) message.mutable_meta()->set_text(std::move(piece.text));
    if (!piece.words.empty()) {
      AddWordTimings(std::move(piece.words), piece.sample_rate,
                     *message.mutable_meta()->mutable_words());
    }
    Send(bytes, std::move(message), stream);
  }

  void SendRest(std::string_view bytes, const TextStream&, ReplyStream& stream) {
    Send(bytes, {}, stream);
  }

  absl::Status End(const absl::Status& status) const { return WithRivaFieldName(status); }

 private:
  absl::Status Configure(const std::string& first_text, const Services& services,
                         TextStream& text) {
    SynthesizeSpeechRequest with_text = settings_;
    with_text.set_text(first_text);
    MILLRACE_ASSIGN_OR_RETURN(auto speech, ToRivaSpeech(std::move(with_text), services));
    dictionary_ = std::move(speech.dictionary);
    if (speech.request.format == models::AudioFormat::kOggOpus) opus_.emplace();
    speech.request.text.clear();
    return text.Configure(std::move(speech.request));
  }

  void Send(std::string_view bytes, SynthesizeSpeechResponse message, ReplyStream& stream) {
    if (id_) *message.mutable_id() = *id_;
    if (opus_) {
      // A message has whole packets, which are a few KiB for a sentence.
      message.set_audio(opus_->Push(bytes));
      return stream.Send(message);
    }
    ForEachChunk(bytes, [&](std::string_view chunk, bool) {
      message.set_audio(std::string(chunk));
      stream.Send(message);
      message.clear_meta();
    });
  }

  SynthesizeSpeechRequest settings_;           // the first message's, without text
  std::optional<nvidia::riva::RequestId> id_;  // the first message's
  CustomDictionary dictionary_;
  std::optional<OpusPackets> opus_;  // set for a call with that encoding
  bool has_text_ = false;
  bool needs_space_ = false;  // before the text of the next message
};

}  // namespace

RivaSynthesisService::RivaSynthesisService(Services& services)
    : RpcService("nvidia.riva.tts.RivaSpeechSynthesis") {
  Serve("Synthesize", UnaryCall<SynthesizeTask>::Serving(services));
  Serve("SynthesizeOnline", TextStreamCall<RivaSynthesizeOnlineTask>::Serving(services));
  Serve("GetRivaSynthesisConfig",
        Answering<RivaSynthesisConfigRequest, RivaSynthesisConfigResponse>(
            [&services](const ByteCall& call, const auto& request, auto& response) {
              MILLRACE_RETURN_IF_ERROR(Authenticate(services.keys, call, Role::kUser));
              return ListRivaVoices(request.model_name(), services.models, response);
            }));
}

}  // namespace millrace::server
