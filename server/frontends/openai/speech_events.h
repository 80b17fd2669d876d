#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "models/core/payload.h"

namespace millrace::server {

// Returns the server-sent event speech.timestamps: the times of a sentence, which count from the
// beginning of the whole audio.
std::string TimestampsEvent(const models::SynthesizeOutput& sentence);

// Returns OpenAI's event speech.audio.delta: a piece of the audio.
std::string AudioEvent(std::string_view audio);

// Returns OpenAI's event speech.audio.done, the last one, with the usage: the characters of the
// text, and the audio in units of 50 ms.
std::string DoneEvent(size_t characters, double seconds);

}  // namespace millrace::server
