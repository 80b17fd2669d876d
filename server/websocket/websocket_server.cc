#include "server/websocket/websocket_server.h"

#include <chrono>
#include <memory>
#include <utility>

#include "httplib.h"
#include "models/core/strings.h"
#include "server/http/connection.h"
#include "server/sockets/session_client.h"
#include "server/websocket/handshake.h"

namespace millrace {
namespace {

// The time that clients have to confirm the close when the server stops.
constexpr std::chrono::milliseconds kStopGrace{1000};

}  // namespace

WebSocketServer::WebSocketServer(PollLoop& loop, Options options)
    : options_(options),
      loop_(loop),
      group_(loop, {.protocol = "WebSocket",
                    .max_connections = options.max_connections,
                    .max_connections_of_peer = options.max_connections_of_peer,
                    .stop_grace = kStopGrace}) {}

std::optional<WebSocketServer::Refusal> WebSocketServer::Upgrade(const HttpServer& http,
                                                                 const httplib::Request& request,
                                                                 httplib::Response& response,
                                                                 const MakeWebSocketSession& make) {
  if (!http.MayConnect(request)) return Refusal{403, "pages of this origin may not use the server"};
  Refusal refusal;
  if (!AnswerHandshake(request, response, refusal.message)) {
    refusal.http_status = response.status;
    return refusal;
  }
  const auto refused = [&](int status, std::string message) {
    http.CountRefusal(request, status, message);
    for (const char* name : {"Upgrade", "Connection", "Sec-WebSocket-Accept"})
      response.headers.erase(name);
    response.set_header("Retry-After", "1");
    return Refusal{status, std::move(message)};
  };
  if (group_.draining()) return refused(503, "the server is shutting down");
  const Peer client_peer = HttpClientPeer();
  PeerPlaces::Place place = group_.places().TryEnter(client_peer);
  if (place.full() == PeerPlaces::Full::kOfPeer) {
    return refused(429, StrCat("the server already has ", options_.max_connections_of_peer,
                               " WebSocket connections of this address, which is the limit"));
  }
  if (place.full() == PeerPlaces::Full::kAll) {
    return refused(503, StrCat("the server already has ", options_.max_connections,
                               " WebSocket connections, which is its limit"));
  }
  auto client = std::make_unique<SessionClient>(loop_.wake_pipe(), client_peer, std::move(place),
                                                SessionClient::Options());
  client->SetSession(std::make_unique<WebSocketConnection>(make(client->Changed()),
                                                           options_.connection, loop_.clock()));
  // The closure below must be copyable.
  const auto shared = std::make_shared<std::unique_ptr<SessionClient>>(std::move(client));
  HandOverConnection([this, shared](std::unique_ptr<Connection> connection) {
    SessionClient& client = **shared;
    client.SetSocket(std::move(connection->socket));
    // The bytes behind the request.
    if (!connection->received.empty()) client.session().Receive(connection->received);
    if (group_.Add(std::move(*shared))) ++opened_total_;
  });
  return std::nullopt;
}

}  // namespace millrace
