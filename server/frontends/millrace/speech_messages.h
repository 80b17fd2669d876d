#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "millrace/v1/synthesis.pb.h"
#include "models/audio/audio_encoder.h"
#include "models/core/payload.h"
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

// The fields of a streamed piece besides its audio.
struct SpeechPiece {
  std::string text = {};       // the sentence's, with its first piece
  uint32_t sentence = 0;       // index of the sentence
  bool sentence_ends = false;  // the sentence ends with this piece
  SpokenSpans words = {};      // the sentence's, with its first piece
  SpokenSpans phonemes = {};
};

SpeechPiece ToPiece(models::SynthesizeOutput piece);

// Returns the messages of a piece in order, at least one.
void ForEachMessage(const models::AudioEncoderOptions& encoding, std::string_view audio,
                    SpeechPiece piece,
                    const std::function<void(const v1::StreamSynthesizeResponse&)>& send);

}  // namespace millrace::server
