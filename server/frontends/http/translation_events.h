#pragma once

#include <string>
#include <string_view>

#include "server/frontends/http/translate_reply.h"

namespace millrace::server {

// Return the server-sent events of a translation that is sent while it is made. Each is a JSON
// object with a type.

// translation.delta: a piece of the translation of a text.
std::string TranslationPartEvent(const TranslateReply::Part& part);
// translation.done, the last one: `answer` is the JSON object of the whole answer.
std::string TranslationEndEvent(std::string_view answer);
// error, the last one of a translation that failed halfway.
std::string TranslationErrorEvent(std::string_view message);

}  // namespace millrace::server
