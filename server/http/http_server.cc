#include "server/http/http_server.h"

#include <algorithm>
#include <exception>
#include <initializer_list>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/lookup.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/http/accept_encoding.h"
#include "server/http/allowed_hosts.h"
#include "server/http/bounded_server.h"
#include "server/http/connection_poller.h"
#include "server/http/next_request.h"
#include "server/http/query.h"
#include "server/http/request_head.h"
#include "server/http/request_threads.h"
#include "server/json/ignored_members.h"
#include "server/json/json_text.h"
#include "server/logging/logging.h"
#include "server/net/address_policy.h"
#include "server/security/api_key_store.h"

namespace millrace {
namespace {

constexpr size_t kReservedThreads = 2;

// The most of a handler's answer that is logged as the reason of a refusal.
constexpr size_t kMostReason = 200;

// The time that a thread waits for the next request of a connection before the poller does.
constexpr std::chrono::milliseconds kNextRequest{10};

// Says why a request is refused, where what refused it has not. path: as far as it is known.
std::string DefaultMessage(int status, std::string_view path, size_t max_body_bytes) {
  if (status == 404) return StrCat("no such path: ", Shown(path));
  if (status == 413) return StrCat("body is larger than the ", max_body_bytes, " bytes allowed");
  static constexpr std::pair<int, const char*> kMessages[] = {
      {400, "malformed request"},
      {403, "pages of this origin may not use the server"},
      {408, "the request did not come whole within the time for it; send it faster"},
      {411, "a body needs a Content-Length or Transfer-Encoding: chunked"},
      {429, "too many requests of this address wait for their bodies already; try again soon"},
      {503, "too many requests wait already; try again soon"}};
  const char* const message = ValueOf(kMessages, status, static_cast<const char*>(nullptr));
  return message != nullptr ? message : StrCat("failed with status ", status);
}

// Returns a time as a Date header has it (RFC 9110, 5.6.7).
std::string DateOf(absl::Time time) {
  return absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", time, absl::UTCTimeZone());
}

// Returns the Allow header of the path that this thread's request names.
std::string AllowedHere() { return StrCat(BoundedServer::CurrentRoute().methods, ", OPTIONS"); }

// Returns the name of a status with which a request is refused that is not parsed.
const char* RawReason(int status) {
  static constexpr std::pair<int, const char*> kReasons[] = {
      {400, "Bad Request"}, {408, "Request Timeout"}, {431, "Request Header Fields Too Large"}};
  return ValueOf(kReasons, status, "Service Unavailable");
}

// Says what is wrong with bytes that begin no request of HTTP.
std::string NoRequestMessage(std::string_view received) {
  constexpr char kTlsHandshake = '\x16';
  if (received.starts_with(kTlsHandshake)) {
    return "TLS is not spoken on this address: use http:// in place of https://, or a proxy that "
           "ends TLS";
  }
  if (received.starts_with('\n')) return "malformed request: each line must end with CR LF";
  if (MayBeginRequest(received.substr(0, received.find('\n'))))
    return "malformed request: the first line is not METHOD TARGET HTTP/1.1";
  return "these bytes are no request of HTTP/1.1";
}

// Returns the message of a handler's error, whatever the form of its protocol, for the log.
std::string MessageIn(const std::string& body) {
  const nlohmann::json error = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  const nlohmann::json* message = &error;
  for (const char* member : {"error", "detail", "message"}) {
    if (message->is_object() && message->contains(member)) message = &message->at(member);
  }
  const std::string text = message->is_string() ? message->get<std::string>() : body;
  return text.substr(0, kMostReason);
}

std::string ErrorBody(const std::string& message) {
  return server::JsonText(nlohmann::json{{"error", message}});
}

// Names what had no effect on an answer. A handler that fails may not have read all that it would.
void WarnOfUnreadParameters(httplib::Response& response) {
  if (response.status >= 300 || BoundedServer::CurrentRefusal() != 0) return;
  const std::string warning =
      server::IgnoredMembersWarning(BoundedServer::CurrentQuery().Unread(), "query parameters");
  if (!warning.empty()) response.set_header("Warning", warning);
}

// Two of the headers traceparent are as good as none; several tracestate are one list.
tracing::Arrival ArrivalOf(const httplib::Request& request) {
  tracing::Arrival arrival{.traceparent = {},
                           .tracestate = {},
                           .http_method = request.method,
                           .http_route = BoundedServer::CurrentRoute().pattern,
                           .url_path = request.path};
  if (request.get_header_value_count("traceparent") != 1) return arrival;
  arrival.traceparent = request.get_header_value("traceparent");
  const auto [begin, end] = request.headers.equal_range("tracestate");
  for (auto state = begin; state != end; ++state)
    arrival.tracestate += StrCat(arrival.tracestate.empty() ? "" : ",", state->second);
  return arrival;
}

}  // namespace

HttpServer::HttpServer(Options options)
    : options_(std::move(options)),
      cors_(options_.cors_origins),
      server_(std::make_unique<BoundedServer>(options_.max_body_bytes, options_.max_bodies_of_peer,
                                              options_.compress)) {
  server_->set_pre_routing_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        using enum httplib::Server::HandlerResponse;
        const int refusal = BoundedServer::CurrentRefusal();
        if (refusal == 0) return Unhandled;
        if (refusal == 204 && cors_.IsPreflight(request) && IsShared(request)) {
          cors_.AnswerPreflight(request, response, BoundedServer::CurrentRoute().methods);
          return Handled;
        }
        if (refusal == 204) {
          response.status = refusal;
          response.set_header("Allow", AllowedHere());
          return Handled;
        }
        SendRefusal(request, response, refusal);
        return Handled;
      });
  // The library tells of a bound on the requests of a connection, and of ranges; there are none.
  server_->set_post_routing_handler(
      [this, keep_alive = StrCat("timeout=", options_.keep_alive_timeout.count())](
          const httplib::Request& request, httplib::Response& response) {
        response.headers.erase("Accept-Ranges");
        response.set_header("Date", DateOf(absl::Now()));
        // Such an answer has no length of its own (RFC 9110, 8.6).
        if (response.status == 101 || response.status == 204 || response.status == 304)
          response.headers.erase("Content-Length");
        if (!response.body.empty() && request.method != "HEAD") BoundedServer::SendInOnePiece();
        WarnOfUnreadParameters(response);
        response.headers.erase("Keep-Alive");
        if (response.status == 101) return;
        response.headers.erase("Connection");
        // A header for the next hop alone is named as such (RFC 9110, 7.8).
        if (response.has_header("Upgrade")) response.set_header("Connection", "Upgrade");
        if (server_->ClosesConnection()) {
          response.set_header("Connection", "close");
        } else {
          response.set_header("Keep-Alive", keep_alive);
          if (request.version == "HTTP/1.0") response.set_header("Connection", "keep-alive");
        }
        if (IsShared(request)) cors_.AddTo(request, response);
      });
  server_->set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
    // The library, and a handler that reads, know that it failed and not why.
    const int body_refusal = BoundedServer::CurrentBodyRefusal();
    if (body_refusal != 0) response.status = body_refusal;
    if (response.body.empty() || body_refusal != 0) {
      const std::string message =
          body_refusal == 400 ? "malformed request: the body's chunks are malformed"
                              : DefaultMessage(response.status, request.path,
                                               BoundedServer::CurrentRoute().max_body_bytes);
      CountRefusal(request, response.status, message);
      SendErrorFor(request, response, response.status, message);
    } else if (BoundedServer::CurrentRefusal() == 0 &&
               (response.status == 401 || response.status == 403)) {
      // A handler has refused it, and said why.
      CountRefusal(request, response.status, MessageIn(response.body));
    }
  });
  server_->set_exception_handler([this](const httplib::Request& request,
                                        httplib::Response& response, std::exception_ptr error) {
    std::string what = "unknown";
    try {
      std::rethrow_exception(std::move(error));
    } catch (const std::exception& e) {
      what = e.what();
    } catch (...) {
    }
    logging::Error("HTTP handler failed", {{"path", request.path}, {"reason", what}});
    SendErrorFor(request, response, 500, "internal error");
  });
}

HttpServer::~HttpServer() { Stop(); }

HttpRoutes& HttpServer::routes() { return server_->routes(); }

void HttpServer::ReserveThreadsFor(std::string path_prefix) {
  reserved_prefixes_.push_back(std::move(path_prefix));
}

void HttpServer::ShapeErrorsBelow(std::string path_prefix, MakeErrorBody make) {
  error_shapes_.emplace_back(std::move(path_prefix), std::move(make));
}

void HttpServer::ShapeErrorsOf(IsOfClient is_of_client, MakeErrorBody make) {
  client_error_shapes_.emplace_back(std::move(is_of_client), std::move(make));
}

absl::Status HttpServer::Start() {
  const absl::StatusOr<ListenAddress> address = ParseListenAddress(options_.address);
  if (!address.ok()) {
    return InvalidArgument(options_.setting, " ", options_.address, ": ",
                           Message(address.status()));
  }
  // The library's own limit is for all routes; BoundedServer keeps each route's.
  server_->set_payload_max_length(server_->routes().largest_body_bytes());
  poller_ = std::make_unique<ConnectionPoller>(
      ConnectionPoller::Options{.address = *address,
                                .inherited = options_.inherited,
                                .max_connections = options_.max_connections,
                                .max_connections_of_peer = options_.max_connections_of_peer,
                                .max_head_bytes = options_.max_head_bytes,
                                .head_timeout = options_.request_timeout,
                                .keep_alive_timeout = options_.keep_alive_timeout,
                                .accept_retry = options_.accept_retry},
      [this](std::unique_ptr<Connection>& connection) { return Dispatch(connection); },
      [this](std::string_view received, const Peer& peer, int status) {
        return RawRefusal(received, peer, status);
      });
  const auto make_threads = [this](size_t max_threads, size_t max_waiting,
                                   std::chrono::milliseconds write_timeout) {
    const BoundedStream::Limits limits{.body_timeout = options_.request_timeout,
                                       .write_timeout = write_timeout};
    return std::make_unique<RequestThreads>(
        max_threads, max_waiting,
        [this, limits](Connection& connection) { return server_->Serve(connection, limits); },
        [this](std::unique_ptr<Connection> connection, Connection::Fate fate) {
          Return(std::move(connection), fate);
        });
  };
  threads_ = make_threads(options_.max_requests, options_.max_waiting, options_.write_timeout);
  threads_->ServeOnWith([max_head_bytes = options_.max_head_bytes](Connection& connection) {
    return AwaitRequest(connection, kNextRequest, max_head_bytes);
  });
  // An answer that the socket does not take at once must not hold one of these.
  reserved_threads_ = make_threads(kReservedThreads, options_.max_connections, {});
  absl::Status status = threads_->Start();
  if (status.ok() && !reserved_prefixes_.empty()) status = reserved_threads_->Start();
  if (status.ok()) status = poller_->Listen();
  if (status.ok() && options_.checks_host && poller_->is_loopback())
    server_->AllowHosts(AllowedHosts(options_.allowed_hosts), reserved_prefixes_);
  if (status.ok()) status = poller_->Start();
  if (status.ok()) return status;
  Stop();
  return Unavailable(options_.setting, " ", options_.address, ": ", Message(status));
}

int HttpServer::port() const { return poller_ == nullptr ? 0 : poller_->port(); }

void HttpServer::CloseConnections() { server_->CloseConnections(); }

std::vector<std::pair<int, uint64_t>> HttpServer::CountRefusals() const {
  return refusals_.Counts();
}

void HttpServer::Stop() {
  if (poller_ == nullptr) return;
  server_->Stop();
  poller_->Stop();
  threads_->Stop();
  reserved_threads_->Stop();
}

bool HttpServer::Dispatch(std::unique_ptr<Connection>& connection) {
  const bool reserved = IsReserved(connection->received);
  return (reserved ? reserved_threads_ : threads_)->Submit(connection);
}

void HttpServer::Return(std::unique_ptr<Connection> connection, Connection::Fate fate) noexcept {
  if (fate != Connection::Fate::kHandOver) return poller_->Return(std::move(connection), fate);
  connection->place = {};
  try {
    const auto take = std::exchange(connection->hand_over, nullptr);
    take(std::move(connection));
  } catch (const std::exception& error) {
    logging::Error("HTTP connection is not handed over and closed", {{"reason", error.what()}});
  }
}

bool HttpServer::MayConnect(const httplib::Request& request) const {
  return cors_.MayConnect(request);
}

bool HttpServer::IsReserved(std::string_view head) const {
  const std::string_view method = MethodOf(head);
  return (method == "GET" || method == "HEAD") && HasReservedPrefix(PathOf(head));
}

bool HttpServer::HasReservedPrefix(std::string_view path) const {
  return std::ranges::any_of(
      reserved_prefixes_, [path](const std::string& prefix) { return path.starts_with(prefix); });
}

bool HttpServer::IsShared(const httplib::Request& request) const {
  return !BoundedServer::CurrentRoute().methods.empty() && !HasReservedPrefix(request.path);
}

std::string HttpServer::ErrorBodyFor(std::string_view path, int status,
                                     const std::string& message) const {
  const std::pair<std::string, MakeErrorBody>* longest = nullptr;
  for (const auto& shape : error_shapes_) {
    const bool longer = longest == nullptr || shape.first.size() > longest->first.size();
    if (longer && path.starts_with(shape.first)) longest = &shape;
  }
  return longest == nullptr ? ErrorBody(message) : longest->second(status, message);
}

void HttpServer::SendErrorFor(const httplib::Request& request, httplib::Response& response,
                              int status, const std::string& message) const {
  response.status = status;
  for (const auto& [is_of_client, make] : client_error_shapes_) {
    if (is_of_client(request))
      return response.set_content(make(status, message), "application/json");
  }
  response.set_content(ErrorBodyFor(request.path, status, message), "application/json");
}

void HttpServer::SendRefusal(const httplib::Request& request, httplib::Response& response,
                             int status) const {
  if (status == 429) {
    response.set_header("Retry-After", "1");
    response.set_header("Retry-After-Ms", "1000");
  }
  const HttpRoutes::Route& route = BoundedServer::CurrentRoute();
  std::string message = BoundedServer::CurrentRefusalMessage();
  if (status == 405) {
    response.set_header("Allow", AllowedHere());
    message = StrCat("the method ", request.method, " is not allowed here; ", route.methods,
                     route.methods.find(',') == route.methods.npos ? " is" : " are");
  } else if (message.empty()) {
    message = DefaultMessage(status, request.path, route.max_body_bytes);
  }
  CountRefusal(request, status, message);
  SendErrorFor(request, response, status, message);
}

std::string HttpServer::RawRefusal(std::string_view received, const Peer& peer, int status) const {
  const bool no_request = status == 400;
  const std::string_view path = no_request ? std::string_view() : PathOf(received);
  const std::string message = no_request ? NoRequestMessage(received)
                              : status == 431
                                  ? StrCat("request line and headers are longer than the ",
                                           options_.max_head_bytes, " bytes allowed")
                                  : DefaultMessage(status, path, options_.max_body_bytes);
  CountRefused(status, no_request ? std::string_view() : MethodOf(received), path, peer.ToString(),
               message);
  const std::string body = ErrorBodyFor(path, status, message);
  return StrCat("HTTP/1.1 ", status, " ", RawReason(status),
                status == 503 ? "\r\nRetry-After: 1\r\nRetry-After-Ms: 1000" : "",
                "\r\nConnection: close\r\nDate: ", DateOf(absl::Now()),
                "\r\nContent-Type: application/json\r\nContent-Length: ", body.size(), "\r\n\r\n",
                body);
}

void HttpServer::CountRefusal(const httplib::Request& request, int status,
                              std::string_view reason) const {
  CountRefused(status, request.method, request.path, request.remote_addr, reason);
}

void HttpServer::CountRefused(int status, std::string_view method, std::string_view path,
                              std::string_view client, std::string_view reason) const {
  constexpr size_t kMostPath = 200;  // bytes of a path that are logged
  if (const auto held_back = refusals_.Add(status)) {
    logging::Info("HTTP request refused", {{"status", status},
                                           {"http_method", method.substr(0, 16)},
                                           {"path", path.substr(0, kMostPath)},
                                           {"client", client},
                                           {"reason", reason},
                                           {"not_logged", *held_back}});
  }
}

void SendError(httplib::Response& response, int http_status, const std::string& message) {
  response.status = http_status;
  response.set_content(ErrorBody(message), "application/json");
}

bool HttpClientGone() { return BoundedServer::ClientGone(); }

Query& HttpQuery() { return BoundedServer::CurrentQuery(); }

Peer HttpClientPeer() { return BoundedServer::CurrentPeer(); }

bool HttpClientAcceptsGzip() { return AcceptsEncoding(BoundedServer::CurrentHead(), "gzip"); }

void HandOverConnection(std::function<void(std::unique_ptr<Connection>)> take) {
  BoundedServer::HandOver(std::move(take));
}

absl::Status AuthenticateHttp(const httplib::Request& request, const ApiKeyStore* keys,
                              std::string_view other_key) {
  if (keys == nullptr) return absl::OkStatus();
  if (!other_key.empty() && keys->Authenticate(other_key)) return absl::OkStatus();
  const std::string authorization = request.get_header_value("Authorization");
  const std::string plain = request.get_header_value("X-Api-Key");
  const std::string_view bearer = BearerToken(authorization);
  if (keys->Authenticate(bearer.empty() ? plain : bearer)) return absl::OkStatus();
  return absl::UnauthenticatedError(
      bearer.empty() && plain.empty() && other_key.empty()
          ? "an API key is needed, as `authorization: Bearer <key>` or `x-api-key: <key>`"
          : "the API key is not known");
}

Caller HttpCaller(const httplib::Request& request, const ApiKeyStore* keys,
                  std::string_view other_key) {
  Caller caller;
  caller.address = ToString(HostPort{request.remote_addr, request.remote_port});
  caller.arrival = ArrivalOf(request);
  caller.priority = request.get_header_value("X-Priority");
  if (keys == nullptr) return caller;
  const std::string authorization = request.get_header_value("Authorization");
  const std::string plain = request.get_header_value("X-Api-Key");
  for (const std::string_view key :
       std::initializer_list<std::string_view>{BearerToken(authorization), plain, other_key}) {
    if (key.empty() || !caller.key.empty()) continue;
    if (const auto principal = keys->Authenticate(key)) caller.key = principal->name;
  }
  return caller;
}

bool CheckApiKey(const httplib::Request& request, httplib::Response& response,
                 const ApiKeyStore* keys) {
  const absl::Status status = AuthenticateHttp(request, keys);
  if (status.ok()) return true;
  response.set_header("WWW-Authenticate", "Bearer");
  const std::string message(Message(status));
  SendError(response, 401, message);
  return false;
}

}  // namespace millrace
