#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/http/connection.h"
#include "server/http/cors.h"
#include "server/http/httplib_fwd.h"
#include "server/logging/refusal_counts.h"
#include "server/security/caller.h"

namespace millrace {

class ApiKeyStore;
class BoundedServer;
class ConnectionPoller;
class HttpRoutes;
class Query;
class RequestThreads;

// HTTP/1.1 on one address. One thread waits for what all clients send; a request has a thread of
// its own once its head has come, while its body comes and its answer goes. Routes are added before
// Start.
//
// Start and Stop belong to one thread; handlers run on the server's threads.
class HttpServer {
 public:
  struct Options {
    std::string address = "127.0.0.1:8000";  // port 0: a free one
    int inherited = -1;  // a socket that listens already, in place of the address; -1: none
    std::string setting = "HTTP address";      // how errors call the address
    size_t max_body_bytes = size_t{16} << 20;  // where a route has no limit of its own
    size_t max_requests = 128;                 // served at once
    // Requests among these that wait for their bodies, of one address or IPv6 /64; the next gets
    // 429. >= 1.
    int max_bodies_of_peer = 96;
    size_t max_waiting = 64;       // requests that wait for a thread; the next gets 503
    size_t max_connections = 320;  // more than both; those that are idle give way to new ones
    // Connections among these of one address or IPv6 /64, for which its next one takes the place of
    // one of its own. >= 1.
    int max_connections_of_peer = 256;
    size_t max_head_bytes = size_t{64} << 10;  // request line and headers
    std::chrono::milliseconds request_timeout =
        std::chrono::seconds(15);  // from first to last byte: of the head, and of the body
    std::chrono::milliseconds write_timeout = std::chrono::seconds(30);  // for one write
    std::chrono::seconds keep_alive_timeout{75};  // for a connection without a request
    // If true, answers of text are compressed for clients that take them so. Small ones gain
    // nothing.
    bool compress = false;
    // Whose pages may read answers: see Cors.
    std::vector<std::string> cors_origins = {};
    // If true and the address is of this machine alone, requests need a Host that AllowedHosts
    // allows, with these names.
    bool checks_host = false;
    std::vector<std::string> allowed_hosts = {};
    std::chrono::milliseconds accept_retry = std::chrono::seconds(1);  // when accepting fails
  };

  explicit HttpServer(Options options);
  ~HttpServer();  // stops
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Handlers run for paths of at most 1024 bytes; errors without a body get a JSON one.
  // A body needs a Content-Length or comes in chunks, and must not be compressed. What a handler
  // throws is answered with 500. Where services add their endpoints, streaming ones with
  // set_chunked_content_provider. Only before Start.
  HttpRoutes& routes();
  // Keeps threads for GET below the path: they answer whatever all others do. Handlers there must
  // not wait, and their answers must be short. Only before Start.
  void ReserveThreadsFor(std::string path_prefix);

  using MakeErrorBody = std::function<std::string(int http_status, const std::string& message)>;
  // Has errors below the path come with another body than {"error": "..."}, of the same type. The
  // longest prefix counts. Only before Start.
  void ShapeErrorsBelow(std::string path_prefix, MakeErrorBody make);
  // The same for the requests of clients that tell themselves apart, on any path; it comes before
  // the paths. Only before Start.
  using IsOfClient = std::function<bool(const httplib::Request& request)>;
  void ShapeErrorsOf(IsOfClient is_of_client, MakeErrorBody make);

  // Returns true if a page that opens a connection of its own with this request may do so, which
  // browsers leave to servers: it came from this server, or from one of cors_origins. True for a
  // client that is no page.
  bool MayConnect(const httplib::Request& request) const;

  // Listens when it returns OK. A port in use gives an error that names the address.
  absl::Status Start();
  int port() const;  // the real one, after Start
  // Counts and logs a request that is refused although a handler saw it. Any thread.
  void CountRefusal(const httplib::Request& request, int status, std::string_view reason) const;
  // Returns how many requests were refused, by HTTP status: before a handler saw them, for want of
  // a key or a right, and those that CountRefusal has counted. Any thread.
  std::vector<std::pair<int, uint64_t>> CountRefusals() const;
  // Has each answer from now on say that its connection is closed, so that clients and proxies send
  // their next request elsewhere. Any thread.
  void CloseConnections();
  // Refuses new connections, closes those that are idle, waits for the handlers that run, joins.
  // Idempotent. Clients cannot hold it up: what is not received yet is dropped, an answer under way
  // has a second. A handler that streams must end by itself.
  void Stop();

 private:
  // Gives a request to threads; false: too many wait for one.
  bool Dispatch(std::unique_ptr<Connection>& connection);
  // Takes back the connection of a request that has been served.
  void Return(std::unique_ptr<Connection> connection, Connection::Fate fate) noexcept;
  bool IsReserved(std::string_view head) const;
  bool HasReservedPrefix(std::string_view path) const;
  // The body of an error of this server's own.
  std::string ErrorBodyFor(std::string_view path, int status, const std::string& message) const;
  void SendErrorFor(const httplib::Request& request, httplib::Response& response, int status,
                    const std::string& message) const;
  // Answers a request that no handler sees, with what the client may do about it.
  void SendRefusal(const httplib::Request& request, httplib::Response& response, int status) const;
  // Returns true if pages of other origins may be allowed to read the answer to the request that
  // this thread serves. Probes and unknown paths are not part of the API.
  bool IsShared(const httplib::Request& request) const;
  // Counts and logs a request. path: as the client sent it. Empty: it is not known.
  void CountRefused(int status, std::string_view method, std::string_view path,
                    std::string_view client, std::string_view reason) const;
  // Answers what was received of a request that is not parsed.
  std::string RawRefusal(std::string_view received, const Peer& peer, int status) const;

  const Options options_;
  static constexpr int kRefusals[] = {400, 401, 403, 404, 405, 408, 411, 413,
                                      414, 415, 417, 429, 431, 501, 503, 505};
  mutable logging::RefusalCounts refusals_{kRefusals};
  const Cors cors_;
  std::vector<std::string> reserved_prefixes_;
  std::vector<std::pair<std::string, MakeErrorBody>> error_shapes_;  // by path prefix
  std::vector<std::pair<IsOfClient, MakeErrorBody>> client_error_shapes_;
  const std::unique_ptr<BoundedServer> server_;
  std::unique_ptr<ConnectionPoller> poller_;
  std::unique_ptr<RequestThreads> threads_;
  std::unique_ptr<RequestThreads> reserved_threads_;
};

// For a handler or what it streams: whether the client of the request that this thread serves has
// gone. One that only ends its own side of the connection counts as gone.
bool HttpClientGone();
// The interval at which a connection without news asks that.
inline constexpr std::chrono::milliseconds kClientCheckInterval{100};

// For a handler: the query of the request that this thread serves. The client is told of
// parameters that no handler has read, by a Warning header. The request that the handler gets has
// none.
Query& HttpQuery();

// For a handler: the client of the request that this thread serves, for limits by client.
Peer HttpClientPeer();

// For a handler: whether the client of the request that this thread serves takes answers that are
// packed by gzip. The request that the handler gets does not tell.
bool HttpClientAcceptsGzip();

// For a handler that goes on with the connection in another protocol: once its answer is written,
// `take` is given the connection, which is no longer the HTTP server's, with what has come behind
// the request. It is called on any thread, and not if the connection cannot be kept.
void HandOverConnection(std::function<void(std::unique_ptr<Connection>)> take);

// Answers with {"error": "..."}.
void SendError(httplib::Response& response, int http_status, const std::string& message);

// OK when the request carries a known key, as `authorization: Bearer` or `x-api-key` or as
// other_key, or keys is null; else UNAUTHENTICATED. other_key: a key that came in another way, or
// empty.
absl::Status AuthenticateHttp(const httplib::Request& request, const ApiKeyStore* keys,
                              std::string_view other_key = {});
// Returns the sender, with what the request says for its trace.
Caller HttpCaller(const httplib::Request& request, const ApiKeyStore* keys,
                  std::string_view other_key = {});
// As AuthenticateHttp; otherwise the response is 401. True when keys is null.
bool CheckApiKey(const httplib::Request& request, httplib::Response& response,
                 const ApiKeyStore* keys);

}  // namespace millrace
