#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace {

// The first bytes of a request: its line and its headers, each ended by CR LF, and an empty line.

// Removes the empty lines that some clients send behind a body (RFC 9112, 2.2).
void DropEmptyLines(std::string& received);

// Returns false if what came begins no request: its method would begin with another character, or
// its first line has no three parts.
bool MayBeginRequest(std::string_view received);

// The size of the head that the bytes begin with; 0: its end is not among them. What lies before
// `searched` is known to hold no end.
size_t HeadSize(std::string_view bytes, size_t searched);

// The method and the path of a head, as sent and without the query; empty where there are none.
std::string_view MethodOf(std::string_view head);
std::string_view PathOf(std::string_view head);

// A head in its parts.
struct RequestHead {
  std::string method;
  std::string path;          // as sent, with its percent signs; "*" for OPTIONS of the whole server
  std::string query;         // the part behind the first '?'
  bool is_http_1_0 = false;  // else 1.1, or a later one that begins with 1
  // Values have no blanks around them. One Host; where the target is a whole URL, its host.
  std::vector<std::pair<std::string, std::string>> headers;
};

// Parses a head that HeadSize found by RFC 9112 alone: whatever two readers could take differently
// is an error, whose message says what is wrong. Unimplemented: it is of another version of HTTP.
absl::StatusOr<RequestHead> ParseRequestHead(std::string_view head);

// Returns true for a line of headers or trailers, without its end, as RFC 9112 (5) has them.
bool IsFieldLine(std::string_view line);

// Returns true if a header with a list of tokens, such as Connection, has this one (in lower case).
bool HasToken(std::string_view list, std::string_view token);

}  // namespace millrace
