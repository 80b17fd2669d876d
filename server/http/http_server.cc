#include "server/http/http_server.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "httplib.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/http/bounded_server.h"
#include "server/http/connection_threads.h"
#include "server/http/openai_error.h"
#include "server/logging/logging.h"
#include "server/security/address_policy.h"
#include "server/security/api_key_store.h"

namespace millrace {
namespace {

// Bounds the work of the library's regular expressions, which recurse once a character.
constexpr size_t kMaxPathBytes = 1024;

std::string DefaultMessage(int status, size_t max_body_bytes) {
  switch (status) {
    case 400:
      return "malformed request";
    case 404:
      return "no such path or method";
    case 411:
      return "a body needs a Content-Length and no Transfer-Encoding";
    case 413:
      return absl::StrCat("body is larger than the ", max_body_bytes, " bytes allowed");
    case 414:
      return "request line is too long";
    case 415:
      return "a body must not be compressed";
    default:
      return absl::StrCat("failed with status ", status);
  }
}

void SendErrorFor(const httplib::Request& request, httplib::Response& response, int status,
                  const std::string& message) {
  if (!IsOpenAiPath(request.path)) return SendError(response, status, message);
  response.status = status;
  response.set_content(OpenAiErrorBody(status, message, "", ""), "application/json");
}

// The library's own options allow several processes to share a port; a port in use must be an
// error.
void SetListenOptions(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
}

}  // namespace

HttpServer::HttpServer(Options options)
    : options_(std::move(options)),
      gate_(std::make_unique<ConnectionGate>(options_.max_connections)),
      server_(std::make_unique<BoundedServer>(
          BoundedStream::Limits{.request_timeout = options_.request_timeout,
                                .head_bytes = options_.max_head_bytes,
                                .write_timeout = options_.write_timeout},
          options_.max_body_bytes)) {
  server_->set_socket_options(SetListenOptions);
  server_->set_tcp_nodelay(true);
  server_->set_payload_max_length(options_.max_body_bytes);
  server_->set_keep_alive_timeout(options_.keep_alive_timeout.count());
  server_->set_pre_routing_handler([this](const httplib::Request& request,
                                          httplib::Response& response) {
    using enum httplib::Server::HandlerResponse;
    if (const int refusal = server_->BodyRefusal(request); refusal != 0) {
      SendErrorFor(request, response, refusal, DefaultMessage(refusal, options_.max_body_bytes));
      return Handled;
    }
    if (request.path.size() <= kMaxPathBytes) return Unhandled;
    SendErrorFor(request, response, 414,
                 absl::StrCat("path is longer than ", kMaxPathBytes, " bytes"));
    return Handled;
  });
  server_->set_error_handler([max = options_.max_body_bytes](const httplib::Request& request,
                                                             httplib::Response& response) {
    if (response.body.empty())
      SendErrorFor(request, response, response.status, DefaultMessage(response.status, max));
  });
  server_->set_exception_handler(
      [](const httplib::Request& request, httplib::Response& response, std::exception_ptr error) {
        std::string what = "unknown";
        try {
          std::rethrow_exception(error);
        } catch (const std::exception& e) {
          what = e.what();
        } catch (...) {
        }
        logging::Error("HTTP handler failed", {{"path", request.path}, {"reason", what}});
        SendErrorFor(request, response, 500, "internal error");
      });
}

HttpServer::~HttpServer() { Stop(); }

httplib::Server& HttpServer::routes() { return *server_; }

absl::Status HttpServer::Start() {
  const absl::StatusOr<HostPort> address = ParseHostPort(options_.address);
  if (!address.ok()) return address.status();
  errno = 0;
  if (address->port == 0) {
    port_ = server_->bind_to_any_port(address->host);
  } else {
    port_ = server_->bind_to_port(address->host, address->port) ? address->port : -1;
  }
  if (port_ <= 0) {
    const char* why = errno != 0 ? std::strerror(errno) : "the host is unknown";
    return absl::UnavailableError(
        absl::StrCat("HTTP address ", options_.address, ": cannot listen: ", why));
  }
  server_->new_task_queue = [this] {
    return new ConnectionThreads(*gate_, [this] { server_->AcceptLoopEnded(); });
  };
  listener_ = std::thread(
      [this, host = address->host] { server_->Serve(host, port_, options_.accept_retry); });
  return absl::OkStatus();
}

void HttpServer::Stop() {
  if (!listener_.joinable()) return;
  server_->Stop();
  gate_->Close();
  listener_.join();
}

void SendError(httplib::Response& response, int http_status, const std::string& message) {
  response.status = http_status;
  response.set_content(nlohmann::json{{"error", message}}.dump(
                           -1, ' ', false, nlohmann::json::error_handler_t::replace),
                       "application/json");
}

bool HttpClientGone() { return BoundedServer::ClientGone(); }

absl::Status AuthenticateHttp(const httplib::Request& request, const ApiKeyStore* keys) {
  if (keys == nullptr) return absl::OkStatus();
  const std::string authorization = request.get_header_value("Authorization");
  const std::string plain = request.get_header_value("X-Api-Key");
  const std::string_view bearer = BearerToken(authorization);
  if (keys->Authenticate(bearer.empty() ? plain : bearer)) return absl::OkStatus();
  return absl::UnauthenticatedError(
      bearer.empty() && plain.empty()
          ? "an API key is needed, as `authorization: Bearer <key>` or `x-api-key: <key>`"
          : "the API key is not known");
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
