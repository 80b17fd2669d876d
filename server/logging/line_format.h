#pragma once

#include <string>
#include <string_view>

#include "server/logging/logging.h"

namespace millrace::logging {

// Renders the part of a line after time and level. JSON: members of an object,
// `"message":"...","key":value`. Text: the message, then key=value. Control characters and invalid
// UTF-8 never appear raw.
std::string RenderJson(std::string_view message, Fields fields);
std::string RenderText(std::string_view message, Fields fields);

}  // namespace millrace::logging
