#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "httplib.h"
#include "server/http/allowed_hosts.h"
#include "server/http/bounded_stream.h"
#include "server/http/connection.h"
#include "server/http/http_routes.h"
#include "server/http/query.h"
#include "server/http/request_head.h"
#include "server/sockets/peer_places.h"

namespace millrace {

// The library's parser, routing and answers, for one request at a time, each bounded in time and
// size. Its sockets and threads are not used. Thread-safe once the routes are added.
class BoundedServer final : public httplib::Server {
 public:
  // max_body_bytes: the limit of routes that have none of their own. max_bodies_of_peer: see
  // HttpServer::Options. packs: true if answers of text are packed for clients that take them so.
  BoundedServer(size_t max_body_bytes, int max_bodies_of_peer, bool packs);
  // Refuses requests whose Host is not among these, but for paths that begin with one of the open
  // prefixes. Only before the first is served.
  void AllowHosts(AllowedHosts hosts, std::vector<std::string> open_prefixes) {
    hosts_ = std::move(hosts);
    open_prefixes_ = std::move(open_prefixes);
  }
  ~BoundedServer() override = default;

  HttpRoutes& routes() { return routes_; }

  // Serves the next request of a connection, whose head has come, and says what becomes of the
  // connection. What throws, as for want of memory, costs the connection.
  Connection::Fate Serve(Connection& connection, const BoundedStream::Limits& limits) noexcept;
  // Closes each connection behind its next answer. Idempotent, from any thread.
  void CloseConnections() { closing_ = true; }
  // Ends soon what is being served. Idempotent, from any thread.
  void Stop() { svr_sock_ = INVALID_SOCKET; }

  // Why the request that the calling thread serves is not given to a handler, as an HTTP status; 0:
  // it is. 204: it asks for the methods of its path, or of the whole server.
  static int CurrentRefusal();
  // Returns what is wrong with it, where the status does not say enough; else empty.
  static const std::string& CurrentRefusalMessage();
  // Returns why the body that the calling thread has read is refused, as an HTTP status; 0: it is
  // not.
  static int CurrentBodyRefusal();
  // Returns true if the connection of the request that the calling thread serves is closed behind
  // its answer, which must say so.
  bool ClosesConnection() const;
  // Returns what is known of the path that it names.
  static const HttpRoutes::Route& CurrentRoute();
  // Returns its query, which the library does not get.
  static Query& CurrentQuery();
  // Returns its head as the client sent it.
  static std::string_view CurrentHead();
  // Returns its client.
  static const Peer& CurrentPeer();
  // Returns true if the client of the request that the calling thread serves has gone.
  static bool ClientGone();
  // Has the answer to the request that the calling thread serves go out with its head and its body
  // in one piece. For an answer whose body is known before its head is written.
  static void SendInOnePiece();
  // See HandOverConnection.
  static void HandOver(std::function<void(std::unique_ptr<Connection>)> take);

 private:
  // head: null where it is malformed.
  Connection::Fate ServeRequest(BoundedStream& stream, RequestHead* head);
  // `route`: what is known of the path.
  int Refusal(const httplib::Request& request, HttpRoutes::Route& route) const;
  // Has the library read a body that the request announces, or says why not.
  int PrepareBody(BoundedStream& stream, httplib::Request& request);
  // Returns true if a body of this length may be waited for.
  bool MayReceive(BoundedStream& stream, size_t length);
  // The refusal of a request for its body's framing, before that is read.
  static int BodyRefusal(const httplib::Request& request, size_t max_body_bytes);
  template <class Self>
  static bool ProcessRequest(Self& self, BoundedStream& stream, bool& closed,
                             const std::function<void(httplib::Request&)>& setup);

  bool AllowsHost(const httplib::Request& request) const;

  const bool packs_;
  AllowedHosts hosts_ = AllowedHosts::All();
  std::vector<std::string> open_prefixes_;
  std::atomic<bool> closing_{false};
  HttpRoutes routes_;
  PeerPlaces bodies_of_peer_;
};

}  // namespace millrace
