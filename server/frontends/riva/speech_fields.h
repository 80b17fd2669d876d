#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "models/core/payload.h"
#include "riva/tts.pb.h"
#include "server/frontends/riva/custom_dictionary.h"
#include "server/requests/services.h"
#include "server/requests/speech_request.h"

namespace millrace::server {

// A request of Riva's in its native form.
struct RivaSpeech {
  SpeechRequest request;             // its text has the pronunciations of the dictionary
  CustomDictionary dictionary = {};  // for texts that follow
};

// Chooses model and voice, and returns the request. The text, or its beginning, may decide the
// language and whether it is SSML. InvalidArgument names the field as Riva does; what does not
// depend on the protocol is not checked.
absl::StatusOr<RivaSpeech> ToRivaSpeech(nvidia::riva::tts::SynthesizeSpeechRequest message,
                                        const Services& services);

using WordTimings = google::protobuf::RepeatedPtrField<nvidia::riva::tts::WordTiming>;

// Adds the times of words, which count from the beginning of the whole audio in samples of that
// rate.
void AddWordTimings(std::vector<models::SpokenSpan> words, int sample_rate, WordTimings& timings);

}  // namespace millrace::server
