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
#include "server/http/request_head.h"
#include "server/http2/peer.h"
#include "server/logging/logging.h"

namespace millrace {
namespace {

using Fate = Connection::Fate;

// Bounds the work of the library's regular expressions, which recurse once a character.
constexpr size_t kMaxPathBytes = 1024;

// A number that the library takes for a socket and nobody reads or writes.
constexpr socket_t kServing = 0;

struct Current {
  BoundedStream* stream = nullptr;
  int refusal = 0;
  HttpRoutes::Route route;  // of its path
  std::string_view head;    // as the client sent it
  std::function<void(std::unique_ptr<Connection>)> hand_over;
};
// The request that this thread serves.
thread_local Current current;

// For the scope of a request.
class CurrentScope {
 public:
  CurrentScope(BoundedStream& stream, std::string_view head) {
    current = {.stream = &stream, .refusal = 0, .route = {}, .head = head, .hand_over = nullptr};
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

// Returns true if nothing of the request follows its head.
bool EndsWithHead(const httplib::Request& request) {
  return !TakesBody(request) && !request.has_header("Transfer-Encoding") &&
         ContentLength(request) == uint64_t{0};
}

}  // namespace

BoundedServer::BoundedServer(size_t max_body_bytes, int max_bodies_of_peer, bool packs)
    : packs_(packs), routes_(*this, max_body_bytes), bodies_of_peer_(max_bodies_of_peer) {
  svr_sock_ = kServing;
}

int BoundedServer::Refusal(const httplib::Request& request, HttpRoutes::Route& route) const {
  if (request.path.size() > kMaxPathBytes) return 414;
  route = routes_.Find(request.path, request.method);
  if (!route.methods.empty() && !HttpRoutes::Has(route.methods, request.method)) return 405;
  if (const int refusal = BodyRefusal(request, route.max_body_bytes); refusal != 0) return refusal;
  return route.methods.empty() ? 404 : 0;
}

bool BoundedServer::MayReceive(BoundedStream& stream, size_t length) {
  if (length <= stream.received_body()) return true;
  std::string address;
  int port = 0;
  stream.get_remote_ip_and_port(address, port);
  server::PeerPlaces::Place place = bodies_of_peer_.TryEnter(server::Peer(address));
  if (!place.held()) return false;
  stream.HoldUntilDrained(std::move(place));
  return true;
}

int BoundedServer::BodyRefusal(const httplib::Request& request, size_t max_body_bytes) {
  if (request.has_header("Transfer-Encoding")) return 411;
  const std::optional<uint64_t> length = ContentLength(request);
  if (!length) return 400;
  if (*length > max_body_bytes) return 413;
  if (!TakesBody(request)) return 0;
  if (!request.has_header("Content-Length")) return 411;
  // The library would unpack it, to any size.
  const std::string encoding = request.get_header_value("Content-Encoding");
  return encoding.empty() || absl::EqualsIgnoreCase(encoding, "identity") ? 0 : 415;
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
    // The library answers a range with as many copies as it has parts, and one of a stream not as
    // it ought to. A server may ignore it (RFC 9110, 14.2).
    std::string head =
        WithoutHeader(std::string_view(connection.received).substr(0, size), "range");
    // The library packs whatever is text for a client that takes it packed.
    if (!packs_) head = WithoutHeader(head, "accept-encoding");
    const size_t head_bytes = head.size();
    head.append(connection.received, size);
    BoundedStream stream(connection.descriptor, std::move(head), head_bytes, limits,
                         [this] { return svr_sock_ == INVALID_SOCKET; });
    const CurrentScope scope(stream, std::string_view(connection.received).substr(0, size));
    const Fate fate = ServeRequest(stream);
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

Fate BoundedServer::ServeRequest(BoundedStream& stream) {
  bool closed = false;
  bool parsed = false;
  bool drained = true;  // the client has nothing left to send of this request
  // Called once the head has been read and before anything else is looked at.
  const std::function<void(httplib::Request&)> setup = [&](httplib::Request& request) {
    parsed = true;
    current.refusal = Refusal(request, current.route);
    const uint64_t length = ContentLength(request).value_or(0);
    const bool library_reads = TakesBody(request) || length == 0;
    const bool reads = library_reads || ReadsBodyOfGet(request, length);
    if (current.refusal == 0 && reads && !MayReceive(stream, length)) current.refusal = 429;
    if (current.refusal == 0 && library_reads) {
      stream.AllowBody(length);
      return;
    }
    if (current.refusal == 0 && reads) {
      if (ReadBody(stream, length, request.body)) return;
      current.refusal = 400;
    }
    if (EndsWithHead(request)) return;
    drained = false;
    closed = true;
    request.headers.erase("Expect");  // asks to be told to go on
    request.headers.erase("Connection");
    request.headers.emplace("Connection", "close");  // the answer says so then
  };
  const bool written = ProcessRequest(*this, stream, closed, setup);
  if (!written || !stream.SendHeld()) return Fate::kClose;
  // Where the library gives up on a body, the rest of it is no request.
  if (!drained || !parsed || !stream.drained()) return Fate::kLinger;
  return closed ? Fate::kClose : Fate::kKeep;
}

int BoundedServer::CurrentRefusal() { return current.refusal; }

const HttpRoutes::Route& BoundedServer::CurrentRoute() { return current.route; }

std::string_view BoundedServer::CurrentHead() { return current.head; }

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
