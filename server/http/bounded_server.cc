#include "server/http/bounded_server.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "server/http/accept_encoding.h"
#include "server/http/request_head.h"
#include "server/logging/logging.h"
#include "server/sockets/peer.h"

namespace millrace {
namespace {

using Fate = Connection::Fate;

// Bounds the work of the library's regular expressions, which recurse once a character.
constexpr size_t kMaxPathBytes = 1024;

// Bounds what a query is parsed into. The library refuses lines of more than 8 KiB.
constexpr size_t kMaxTargetBytes = 8000;

// The one expectation that there is: the client waits to be told to go on (RFC 9110, 10.1.1).
constexpr char kExpected[] = "100-continue";

// A number that the library takes for a socket and nobody reads or writes.
constexpr socket_t kServing = 0;

struct Current {
  BoundedStream* stream = nullptr;
  Peer peer;  // the client
  int refusal = 0;
  HttpRoutes::Route route;  // the route of its path
  Query query;
  std::string_view head;  // as the client sent it
  std::string refusal_message;
  bool closes = true;  // the connection
  std::function<void(std::unique_ptr<Connection>)> hand_over;
};
// The request that this thread serves.
thread_local Current current;

// For the scope of a request.
class CurrentScope {
 public:
  CurrentScope(BoundedStream& stream, const Peer& peer, std::string_view head) {
    current = {};
    current.stream = &stream;
    current.peer = peer;
    current.head = head;
  }
  CurrentScope(const CurrentScope&) = delete;
  CurrentScope& operator=(const CurrentScope&) = delete;
  ~CurrentScope() { current = {}; }
};

// The body's length that a request announces: digits only, named once. Nothing: malformed.
std::optional<uint64_t> ContentLength(const httplib::Request& request) {
  const auto [begin, end] = request.headers.equal_range("Content-Length");
  if (begin == end) return 0;
  const std::string& text = begin->second;
  uint64_t length = 0;
  const bool digits =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (std::next(begin) != end || !digits || !absl::SimpleAtoi(text, &length)) return std::nullopt;
  return length;
}

// Returns true if the library reads a body. It takes the body of others for the next request.
bool TakesBody(const httplib::Request& request) {
  constexpr std::string_view kWithout[] = {"GET", "HEAD", "OPTIONS"};
  return std::find(std::begin(kWithout), std::end(kWithout), request.method) == std::end(kWithout);
}

// Returns true if the route of this request reads the body of a GET.
bool ReadsBodyOfGet(const httplib::Request& request, uint64_t length) {
  return request.method == "GET" && length <= HttpRoutes::kMaxGetBody &&
         !request.has_header("Expect") && current.route.get_body;
}

// Reads what the library does not: the body of a GET. Returns false if it does not come.
bool ReadBody(BoundedStream& stream, size_t length, std::string& body) {
  stream.AllowBody(length);
  body.resize(length);
  for (size_t read = 0; read < length;) {
    const ssize_t count = stream.read(body.data() + read, length - read);
    if (count <= 0) return false;
    read += static_cast<size_t>(count);
  }
  return true;
}

// Refuses the request that this thread serves.
int Refuse(int status, std::string message) {
  current.refusal_message = std::move(message);
  return status;
}

int Malformed(std::string_view what) { return Refuse(400, StrCat("malformed request: ", what)); }

// Returns what all lines of a header say, as the list that they are together.
std::string ValuesOf(const httplib::Request& request, const char* name) {
  std::string values;
  const auto [begin, end] = request.headers.equal_range(name);
  for (auto line = begin; line != end; ++line)
    absl::StrAppend(&values, line == begin ? "" : ", ", line->second);
  return values;
}

// Refuses a header for its value.
int RefuseHeader(int status, const httplib::Request& request, const char* name,
                 std::string_view allowed) {
  return Refuse(status,
                StrCat(name, ": ", Shown(ValuesOf(request, name)), " is not allowed; ", allowed));
}

// Refuses a path or a whole target for its length.
int TooLong(std::string_view what, size_t bytes, size_t most) {
  return Refuse(414, StrCat(what, " has ", bytes, " bytes; at most ", most, " are allowed"));
}

// Returns true if nothing of the request follows its head.
bool EndsWithHead(const httplib::Request& request) {
  return !request.has_header("Transfer-Encoding") && ContentLength(request) == uint64_t{0} &&
         (!TakesBody(request) || request.has_header("Content-Length"));
}

// The library refuses other methods without asking.
bool IsKnownMethod(std::string_view method) {
  constexpr std::string_view kMethods[] = {"GET",    "HEAD",    "POST",  "PUT",
                                           "DELETE", "OPTIONS", "TRACE", "PATCH"};
  return std::ranges::find(kMethods, method) != std::end(kMethods);
}

// Returns a head for the library that it takes as it is meant. The headers are given to it later:
// it bounds the length of each, and decodes them. It does not get the query, of which it forgets
// what was read, and takes a second '?' for an error.
std::string PlainHead(const RequestHead& head) {
  return StrCat(head.method, " ", head.path, head.is_http_1_0 ? " HTTP/1.0" : " HTTP/1.1",
                "\r\n\r\n");
}

// Returns a head for the answer to one that was refused: of its path, for the form of the error.
std::string RefusedHead(std::string_view received) {
  const std::string_view path = PathOf(received);
  const bool plain =
      path.starts_with('/') && path.size() <= kMaxPathBytes &&
      std::ranges::all_of(path, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  return StrCat(MethodOf(received) == "HEAD" ? "HEAD " : "GET ",
                plain ? absl::string_view(path.data(), path.size()) : "/", " HTTP/1.1\r\n\r\n");
}

// Returns true if the client keeps its connection.
bool KeepsConnection(const RequestHead& head) {
  bool close = false;
  bool keep = false;
  for (const auto& [name, value] : head.headers) {
    if (!absl::EqualsIgnoreCase(name, "Connection")) continue;
    close |= HasToken(value, "close");
    keep |= HasToken(value, "keep-alive");
  }
  return !close && (keep || !head.is_http_1_0);
}

}  // namespace

BoundedServer::BoundedServer(size_t max_body_bytes, int max_bodies_of_peer, bool packs)
    : packs_(packs), routes_(*this, max_body_bytes), bodies_of_peer_(max_bodies_of_peer) {
  svr_sock_ = kServing;
}

int BoundedServer::Refusal(const httplib::Request& request, HttpRoutes::Route& route) const {
  if (request.path.size() > kMaxPathBytes)
    return TooLong("the path", request.path.size(), kMaxPathBytes);
  if (request.path == "*") {  // OPTIONS of the whole server
    route.methods = routes_.Methods();
    return 204;
  }
  route = routes_.Find(request.path, request.method);
  if (!route.methods.empty() && !HttpRoutes::Has(route.methods, request.method))
    return request.method == "OPTIONS" ? 204 : 405;
  if (const int refusal = BodyRefusal(request, route.max_body_bytes); refusal != 0) return refusal;
  return route.methods.empty() ? 404 : 0;
}

bool BoundedServer::MayReceive(BoundedStream& stream, size_t length) {
  if (length <= stream.received_body()) return true;
  PeerPlaces::Place place = bodies_of_peer_.TryEnter(current.peer);
  if (!place.held()) return false;
  stream.HoldUntilDrained(std::move(place));
  return true;
}

int BoundedServer::BodyRefusal(const httplib::Request& request, size_t max_body_bytes) {
  const size_t codings = request.get_header_value_count("Transfer-Encoding");
  if (codings > 0) {
    // A length beside it is how requests are smuggled past proxies.
    if (request.has_header("Content-Length"))
      return Malformed("Content-Length and Transfer-Encoding exclude each other");
    if (request.version == "HTTP/1.0") return Malformed("HTTP/1.0 has no Transfer-Encoding");
    if (!TakesBody(request)) return Malformed("this method takes no body in chunks");
    if (codings > 1 ||
        !absl::EqualsIgnoreCase(request.get_header_value("Transfer-Encoding"), "chunked")) {
      return RefuseHeader(501, request, "Transfer-Encoding", "chunked alone is");
    }
  }
  const std::optional<uint64_t> length = ContentLength(request);
  if (!length) {
    return Malformed(StrCat("Content-Length must be one number, not ",
                            Shown(ValuesOf(request, "Content-Length"))));
  }
  if (*length > max_body_bytes) return 413;
  if (!TakesBody(request)) return 0;
  // The library would unpack it, to any size.
  const std::string encoding = request.get_header_value("Content-Encoding");
  if (encoding.empty() || absl::EqualsIgnoreCase(encoding, "identity")) return 0;
  return RefuseHeader(415, request, "Content-Encoding", "a body must not be compressed");
}

int BoundedServer::PrepareBody(BoundedStream& stream, httplib::Request& request) {
  if (request.has_header("Transfer-Encoding")) {
    if (!MayReceive(stream, SIZE_MAX)) return 429;
    request.headers.erase("Transfer-Encoding");
    request.headers.emplace("Transfer-Encoding", "chunked");
    stream.AllowChunks(current.route.max_body_bytes);
    return 0;
  }
  if (TakesBody(request) && !request.has_header("Content-Length")) {
    // The body is empty. Bytes that follow were meant as one, or are the next request of a client
    // that should have said so.
    if (stream.received_body() > 0) return 411;
    request.headers.emplace("Content-Length", "0");
    current.closes = true;  // later bytes cannot be told from the next request
    return 0;
  }
  const uint64_t length = ContentLength(request).value_or(0);
  const bool library_reads = TakesBody(request) || length == 0;
  if (!library_reads && !ReadsBodyOfGet(request, length)) return 0;
  if (!MayReceive(stream, length)) return 429;
  if (library_reads) {
    stream.AllowBody(length);
    return 0;
  }
  if (ReadBody(stream, length, request.body)) return 0;
  const int refusal = stream.body_refusal();
  return refusal != 0 ? refusal : Malformed("the body ends before its Content-Length");
}

// A template, so that only the form that the library has is looked up: newer versions ask for the
// addresses here.
template <class Self>
bool BoundedServer::ProcessRequest(Self& self, BoundedStream& stream, bool& closed,
                                   const std::function<void(httplib::Request&)>& setup) {
  if constexpr (requires { self.process_request(stream, false, closed, setup); }) {
    return self.process_request(stream, false, closed, setup);
  } else {
    std::string remote, local;
    int remote_port = 0, local_port = 0;
    stream.get_remote_ip_and_port(remote, remote_port);
    stream.get_local_ip_and_port(local, local_port);
    return self.process_request(stream, remote, remote_port, local, local_port, false, closed,
                                setup);
  }
}

Fate BoundedServer::Serve(Connection& connection, const BoundedStream::Limits& limits) noexcept {
  try {
    const size_t size = HeadSize(connection.received, 0);
    const std::string_view received = std::string_view(connection.received).substr(0, size);
    absl::StatusOr<RequestHead> head = ParseRequestHead(received);
    int refusal = 0;
    std::string message;
    if (!head.ok()) {
      refusal = absl::IsUnimplemented(head.status()) ? 505 : 400;
      message = Message(head.status());
    } else if (!IsKnownMethod(head->method)) {
      refusal = 501;
      message = StrCat("there is no method ", Shown(head->method));
    }
    std::string plain = refusal == 0 && head->path.size() + head->query.size() <= kMaxTargetBytes
                            ? PlainHead(*head)
                            : RefusedHead(received);
    const size_t head_bytes = plain.size();
    plain.append(connection.received, size);
    BoundedStream stream(connection.socket.get(), std::move(plain), head_bytes, limits,
                         [this] { return svr_sock_ == INVALID_SOCKET; });
    const CurrentScope scope(stream, connection.peer, received);
    current.refusal = refusal;
    current.refusal_message = std::move(message);
    const Fate fate = ServeRequest(stream, refusal == 0 ? &*head : nullptr);
    connection.received = stream.TakeUnread();
    if (current.hand_over == nullptr || fate != Fate::kKeep) return fate;
    connection.hand_over = std::move(current.hand_over);
    return Fate::kHandOver;
  } catch (const std::exception& error) {
    logging::Error("HTTP request failed, its connection is closed", {{"reason", error.what()}});
  } catch (...) {
    logging::Error("HTTP request failed, its connection is closed", {{"reason", "unknown"}});
  }
  return Fate::kClose;
}

Fate BoundedServer::ServeRequest(BoundedStream& stream, RequestHead* head) {
  bool closed = false;     // by the library, which does not know the headers
  bool rest_comes = true;  // the rest of the request may come, and nobody reads it
  // Called once the library has read the plain head and before anything else is looked at.
  const std::function<void(httplib::Request&)> setup = [&](httplib::Request& request) {
    request.headers.clear();
    if (head == nullptr) return;
    current.closes = !KeepsConnection(*head);
    std::optional<std::string> unknown_expectation;
    for (auto& [name, value] : head->headers) {
      // The library answers a range with as many copies as it has parts, and one of a stream not
      // as it ought to. A server may ignore it (RFC 9110, 14.2). The library packs whatever is text
      // for a client that takes it packed.
      if (absl::EqualsIgnoreCase(name, "Range")) continue;
      if (absl::EqualsIgnoreCase(name, "Accept-Encoding")) {
        // The library takes a coding of weight 0 for one that is wanted.
        if (!packs_ || !AcceptsEncoding(current.head, "gzip")) continue;
        value = "gzip";
      }
      if (absl::EqualsIgnoreCase(name, "Expect")) {
        // The library compares letters by their case, and forgets that HTTP/1.0 has no such answer.
        if (head->is_http_1_0 || value.empty()) continue;
        if (!absl::EqualsIgnoreCase(value, kExpected)) unknown_expectation = value;
        value = kExpected;
      }
      // The library knows forms with parts by the small letters of their type, and reads them by
      // itself, differently when they come in other pieces.
      if (absl::EqualsIgnoreCase(name, "Content-Type") &&
          absl::StartsWithIgnoreCase(value, "multipart/")) {
        value.front() = 'M';
      }
      request.headers.emplace(std::move(name), std::move(value));
    }
    if (const size_t target = head->path.size() + head->query.size(); target > kMaxTargetBytes) {
      current.refusal = TooLong("the path with the query", target, kMaxTargetBytes);
    } else if (!AllowsHost(request)) {
      current.refusal = 403;
      current.refusal_message = AllowedHosts::Refusal(request.get_header_value("Host"));
    } else if (unknown_expectation) {
      current.refusal = Refuse(417, StrCat("Expect: ", Shown(*unknown_expectation),
                                           " is not allowed; ", kExpected, " is"));
    } else {
      current.refusal = Refusal(request, current.route);
    }
    if (current.refusal == 0) current.query = Query(head->query);
    // The library reads forms itself, which it knows by small letters too: it refuses one of more
    // than 8 KiB, and takes members for those of the query. That is the type which curl -d names.
    if (request.method == "POST" && current.route.whole_body) {
      const auto type = request.headers.find("Content-Type");
      if (type != request.headers.end() && type->second.starts_with('a'))
        type->second.front() = 'A';
    }
    const bool framed = !TakesBody(request) || request.has_header("Content-Length") ||
                        request.has_header("Transfer-Encoding");
    if (current.refusal == 0) current.refusal = PrepareBody(stream, request);
    rest_comes = !framed;
    const bool reads_rest = current.refusal == 0 && (TakesBody(request) || !request.body.empty());
    if (reads_rest && !EndsWithHead(request)) return;
    request.headers.erase("Expect");  // nothing is to come, or nobody reads it
    if (reads_rest || EndsWithHead(request)) return;
    rest_comes = true;
    current.closes = true;
  };
  const bool written = ProcessRequest(*this, stream, closed, setup);
  if (!written || !stream.SendHeld()) return Fate::kClose;
  // Where the library gives up on a body, the rest of it is no request.
  if (rest_comes || !stream.drained()) return Fate::kLinger;
  return current.closes ? Fate::kClose : Fate::kKeep;
}

bool BoundedServer::AllowsHost(const httplib::Request& request) const {
  return !request.has_header("Host") || hosts_.Allows(request.get_header_value("Host")) ||
         std::ranges::any_of(open_prefixes_, [&](const std::string& prefix) {
           return request.path.starts_with(prefix);
         });
}

int BoundedServer::CurrentRefusal() { return current.refusal; }

const std::string& BoundedServer::CurrentRefusalMessage() { return current.refusal_message; }

int BoundedServer::CurrentBodyRefusal() {
  return current.stream == nullptr ? 0 : current.stream->body_refusal();
}

bool BoundedServer::ClosesConnection() const {
  current.closes |= closing_.load();
  return current.closes || current.stream == nullptr || !current.stream->drained();
}

const HttpRoutes::Route& BoundedServer::CurrentRoute() { return current.route; }

Query& BoundedServer::CurrentQuery() { return current.query; }

std::string_view BoundedServer::CurrentHead() { return current.head; }

const Peer& BoundedServer::CurrentPeer() { return current.peer; }

bool BoundedServer::ClientGone() {
  return current.stream != nullptr && current.stream->ClientGone();
}

void BoundedServer::SendInOnePiece() {
  if (current.stream != nullptr) current.stream->HoldHead();
}

void BoundedServer::HandOver(std::function<void(std::unique_ptr<Connection>)> take) {
  current.hand_over = std::move(take);
}

}  // namespace millrace
