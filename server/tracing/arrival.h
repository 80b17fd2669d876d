#pragma once

#include <string>

namespace millrace::tracing {

// The part of a request's head that its trace needs: the headers of W3C Trace Context as they came,
// unchecked, and over HTTP the request line.
struct Arrival {
  std::string traceparent = {};
  std::string tracestate = {};
  std::string http_method = {};  // "POST"; empty for other transports
  std::string http_route = {};   // the pattern of the path, of which there are few
  std::string url_path = {};
};

}  // namespace millrace::tracing
