#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace httplib {
class Server;
struct Request;
struct Response;
}  // namespace httplib

namespace millrace {

class ApiKeyStore;
class BoundedServer;
class ConnectionGate;
class ServerView;

// HTTP/1.1 on one address. A connection occupies one of its own threads while it is open, at most
// max_connections of them; further ones wait in the kernel's backlog. Routes are added with
// routes() before Start.
//
// Start and Stop belong to one thread; handlers run on the server's threads.
class HttpServer {
 public:
  struct Options {
    std::string address = "127.0.0.1:8000";  // port 0: a free one
    size_t max_body_bytes = size_t{16} << 20;
    int max_connections = 128;
    size_t max_head_bytes = size_t{64} << 10;  // request line and headers
    std::chrono::milliseconds request_timeout =
        std::chrono::seconds(15);  // from a request's first byte to its last
    std::chrono::milliseconds write_timeout = std::chrono::seconds(30);  // of one write
    std::chrono::seconds keep_alive_timeout{2};  // of a connection without a request
    std::chrono::milliseconds accept_retry = std::chrono::seconds(1);  // when accepting fails
  };

  explicit HttpServer(Options options);
  ~HttpServer();  // stops
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Handlers run for paths of at most 1024 bytes; errors without a body get a JSON one, below
  // /v1/ in OpenAI's shape. A body
  // needs a Content-Length and comes as it is: neither chunked nor compressed. Where services add
  // their endpoints, streaming ones with set_chunked_content_provider. Only before Start.
  httplib::Server& routes();

  // Listens when it returns OK. A port in use gives an error that names the address.
  absl::Status Start();
  int port() const { return port_; }  // the real one, after Start
  // Refuses new connections, waits for the handlers that run, joins. Idempotent. Clients cannot
  // hold it up: what is not received yet is dropped, an answer under way has a second. A handler
  // that streams must end by itself.
  void Stop();

 private:
  const Options options_;
  const std::unique_ptr<ConnectionGate> gate_;
  const std::unique_ptr<BoundedServer> server_;
  int port_ = 0;
  std::thread listener_;
};

// For a handler or what it streams: whether the client of the request that this thread serves has
// gone. One that only ends its own side of the connection counts as gone.
bool HttpClientGone();

// Answers with {"error": "..."}.
void SendError(httplib::Response& response, int http_status, const std::string& message);

// Adds the KServe v2 health, metadata and model endpoints. view outlives the server. With keys (may
// be null) all but health need one, as `authorization: Bearer` or `x-api-key`.
void AddKServeRoutes(HttpServer& server, const ServerView& view, const ApiKeyStore* keys);

// OK when the request carries a known key, as `authorization: Bearer` or `x-api-key`, or keys is
// null; else UNAUTHENTICATED.
absl::Status AuthenticateHttp(const httplib::Request& request, const ApiKeyStore* keys);
// The same; otherwise the response is 401. True when keys is null.
bool CheckApiKey(const httplib::Request& request, httplib::Response& response,
                 const ApiKeyStore* keys);

}  // namespace millrace
