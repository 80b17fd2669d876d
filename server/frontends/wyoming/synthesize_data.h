#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "server/requests/speech_request.h"
#include "server/scheduling/model_directory.h"

namespace millrace::server {

// These return the speech that the data of a synthesize or synthesize-start event requests, without
// the text. The voice may be named as in an info event, by itself, or by its model's name, perhaps
// with a speaker; or there is only a language. Without any, the voice is one for the language of
// `text` if that is sure, else the server's default. text: empty if it is still to come.
// ignored: gets the members that have no effect. Errors name the member, its value and what is
// allowed.
absl::StatusOr<SpeechRequest> ParseSpeechOptions(const nlohmann::json& data,
                                                 const ModelDirectory& models,
                                                 std::string_view text,
                                                 std::vector<std::string>& ignored);

// Returns the text of a synthesize or synthesize-chunk event, which may be empty.
absl::StatusOr<std::string> ParseEventText(const nlohmann::json& data);

}  // namespace millrace::server
