#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/frontends/elevenlabs/stream_session.h"
#include "server/http/query.h"
#include "server/requests/speech_names.h"

namespace millrace::server {

// The parameter that says that texts are SSML.
inline constexpr char kSsmlFlag[] = "enable_ssml_parsing";
// Our own, which says what texts are by a name that the protocols share.
inline constexpr char kTextFormatParameter[] = "text_format";

// Returns what texts are by these two parameters; an empty name was not given. InvalidArgument
// names text_format.
absl::StatusOr<SpeechTextFormat> ChooseTextFormat(bool ssml, std::string_view name);

// Sets the model and the voice that ElevenLabs' names stand for. A model_id that is loaded is
// meant; one of ElevenLabs', or none, stands for the model that has the voice, or for the best for
// the language. InvalidArgument lists the voices.
absl::Status ResolveModelAndVoice(const SpeechNames& names, const std::string& model_id,
                                  const std::string& voice_id, SpeechRequest& speech);

// Reads the query of a request that opens a session. InvalidArgument names the parameter, its value
// and what is allowed.
absl::StatusOr<StreamOptions> ParseStreamQuery(Query& query, const std::string& voice_id,
                                               bool multi, const SpeechNames& names);

}  // namespace millrace::server
