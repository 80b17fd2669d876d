#include "server/frontends/riva/riva_text_stream_task.h"

#include <utility>

#include "google/protobuf/util/message_differencer.h"
#include "models/core/strings.h"
#include "models/text/trim.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/frontends/riva/field_names.h"
#include "server/frontends/riva/speech_fields.h"

namespace millrace::server {

using google::protobuf::util::MessageDifferencer;
using nvidia::riva::tts::SynthesizeSpeechRequest;
using nvidia::riva::tts::SynthesizeSpeechResponse;

absl::Status RivaSynthesizeOnlineTask::Take(const ByteBuffer& buffer, const Services& services,
                                            TextStream& text) {
  SynthesizeSpeechRequest message;
  if (absl::Status status = ParseMessage(buffer, message); !status.ok()) return status;
  const std::string piece = std::exchange(*message.mutable_text(), {});
  const bool has_id = message.has_id();
  const nvidia::riva::RequestId id = message.id();
  message.clear_id();  // may differ
  const bool is_first = !text.configured();
  if (is_first) {
    if (has_id) id_ = id;
    settings_ = message;
  } else if (message.ByteSizeLong() != 0 && !MessageDifferencer::Equals(message, settings_)) {
    return absl::InvalidArgumentError(
        "the settings of a message that is not the first must be those of the first, or unset");
  }
  const bool blank = models::Trim(piece).empty();
  // The beginning of the text decides what the settings leave open; wrong ones do not wait for it.
  if (is_first || (!has_text_ && !blank)) {
    if (absl::Status status = Configure(piece, services, text); !status.ok()) return status;
  }
  if (piece.empty() || (!has_text_ && blank)) return absl::OkStatus();
  has_text_ = true;
  const bool joined = needs_space_ && models::TrimLeft(piece).size() == piece.size();
  needs_space_ = models::TrimRight(piece).size() == piece.size();
  return text.Push(StrCat(joined ? " " : "", dictionary_.Apply(piece)), /*flush=*/false);
}

absl::Status RivaSynthesizeOnlineTask::Configure(const std::string& first_text,
                                                 const Services& services, TextStream& text) {
  SynthesizeSpeechRequest with_text = settings_;
  with_text.set_text(first_text);
  auto speech = ToRivaSpeech(std::move(with_text), services);
  if (!speech.ok()) return speech.status();
  dictionary_ = std::move(speech->dictionary);
  if (speech->request.format == models::AudioFormat::kOggOpus) opus_.emplace();
  speech->request.text.clear();
  return text.Configure(std::move(speech->request));
}

absl::Status RivaSynthesizeOnlineTask::EmptyStream(const TextStream&) const {
  return absl::InvalidArgumentError(
      "text: there is nothing to speak; it needs a letter or a digit");
}

void RivaSynthesizeOnlineTask::SendAudio(std::string_view bytes, models::SynthesizeOutput piece,
                                         const TextStream&, ReplyStream& stream) {
  SynthesizeSpeechResponse message;
  if (!piece.text.empty()) message.mutable_meta()->set_text(std::move(piece.text));
  if (!piece.words.empty()) {
    AddWordTimings(std::move(piece.words), piece.sample_rate,
                   *message.mutable_meta()->mutable_words());
  }
  Send(bytes, std::move(message), stream);
}

void RivaSynthesizeOnlineTask::SendRest(std::string_view bytes, const TextStream&,
                                        ReplyStream& stream) {
  Send(bytes, {}, stream);
}

absl::Status RivaSynthesizeOnlineTask::End(const absl::Status& status) const {
  return WithRivaFieldName(status);
}

void RivaSynthesizeOnlineTask::Send(std::string_view bytes, SynthesizeSpeechResponse message,
                                    ReplyStream& stream) {
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

}  // namespace millrace::server
