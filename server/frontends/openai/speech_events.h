#pragma once

#include <string>

#include "models/core/payload.h"

namespace millrace::server {

// The server-sent event speech.timestamps: the times of a sentence, of the whole audio.
std::string TimestampsEvent(const models::SynthesizeOutput& sentence);

}  // namespace millrace::server
