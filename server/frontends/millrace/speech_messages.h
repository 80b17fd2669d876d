#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "millrace/v1/synthesis.pb.h"
#include "models/audio/audio_encoder.h"
#include "models/core/payload.h"
#include "server/frontends/grpc/reply_stream.h"
#include "server/requests/speech_request.h"

namespace millrace::server {

v1::AudioEncoding ToEncoding(models::AudioFormat format);

// Returns the request in its native form; unset fields get the container's defaults. Returns
// InvalidArgument for an encoding or a text format that does not exist; nothing else is checked.
absl::StatusOr<SpeechRequest> ToSpeechRequest(v1::SynthesizeRequest message,
                                              models::AudioContainer container);

using SpokenSpans = google::protobuf::RepeatedPtrField<v1::SpokenSpan>;

// Adds the times of a sentence, which count from the beginning of the whole audio in samples of
// that rate.
void AddSpans(std::vector<models::SpokenSpan> times, int sample_rate, size_t sentence,
              SpokenSpans& spans);

// Returns the message of a streamed piece without its audio.
v1::StreamSynthesizeResponse ToMessage(models::SynthesizeOutput piece);
// Sends the messages of a piece in order, at least one. message: the piece without its audio; its
// text and times go with the first of them, and the end of its sentence with the last.
void SendAudio(const models::AudioEncoderOptions& encoding, std::string_view audio,
               v1::StreamSynthesizeResponse message, ReplyStream& stream);

}  // namespace millrace::server
