#pragma once

#include <string>
#include <string_view>

#include "server/http/httplib_fwd.h"

namespace millrace {

// Answers the request that opens a WebSocket (RFC 6455, section 4.2.2) with 101 and returns true,
// or makes it an error that says what is wrong, without a body, and returns false with the message.
// Neither extensions nor subprotocols are agreed to.
bool AnswerHandshake(const httplib::Request& request, httplib::Response& response,
                     std::string& error);

// Returns the Sec-WebSocket-Accept of a Sec-WebSocket-Key.
std::string AcceptOf(std::string_view key);

}  // namespace millrace
