#pragma once

#include <string>

#include "server/requests/speech_request.h"

namespace millrace::server {

// Returns the value of a Warning header, or of the trailing metadata "warning", that names the
// scripts in the text that the model cannot read; empty if there are none.
std::string UnreadScriptsWarning(const SpeechWork& work);

}  // namespace millrace::server
