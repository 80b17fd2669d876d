#include "server/websocket/websocket_server.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

#include "httplib.h"
#include "models/core/strings.h"
#include "server/http/connection.h"
#include "server/http2/peer.h"
#include "server/logging/logging.h"
#include "server/sockets/nonblocking.h"
#include "server/websocket/handshake.h"

namespace millrace {
namespace {

using std::chrono::milliseconds;

// The time that clients have to confirm the close when the server stops.
constexpr milliseconds kStopGrace{1000};
// From one connection, before others have their turn.
constexpr size_t kReceivedAtOnce = size_t{16} << 10;

}  // namespace

// A place among the connections that may be open.
class WebSocketServer::Place {
 public:
  explicit Place(std::atomic<size_t>& open) : open_(open) { ++open_; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { --open_; }

 private:
  std::atomic<size_t>& open_;
};

struct WebSocketServer::Peer {
  Peer(std::atomic<size_t>& open, server::PeerPlaces::Place place_of_address)
      : place(open), of_address(std::move(place_of_address)) {}

  int descriptor() const { return socket->descriptor; }
  short WantedEvents() const {
    short events = web_socket->wants_bytes() ? POLLIN : kPollClosed;
    if (!web_socket->unsent().empty()) events |= POLLOUT;
    return events;
  }
  // Receives what there is. False: the client is gone.
  bool Receive();
  // Sends what the socket takes. False: the client is gone.
  bool Send();

  // Set by sessions when they have changed, and shared with their work.
  const std::shared_ptr<std::atomic<bool>> changed = std::make_shared<std::atomic<bool>>(true);
  std::unique_ptr<Connection> socket;
  std::unique_ptr<WebSocketConnection> web_socket;
  // Last: they are free before the client sees the end.
  const Place place;
  const server::PeerPlaces::Place of_address;
};

bool WebSocketServer::Peer::Receive() {
  char bytes[kReceivedAtOnce];
  const ssize_t count = recv(descriptor(), bytes, sizeof(bytes), MSG_DONTWAIT);
  if (count < 0) return WouldBlock();
  if (count > 0) web_socket->Receive({bytes, static_cast<size_t>(count)});
  return count > 0;
}

bool WebSocketServer::Peer::Send() {
  while (!web_socket->unsent().empty()) {
    const std::string_view unsent = web_socket->unsent();
    const ssize_t count = send(descriptor(), unsent.data(), unsent.size(), kSendFlags);
    if (count < 0) return WouldBlock();
    web_socket->Sent(static_cast<size_t>(count));
    web_socket->Advance();
  }
  return true;
}

WebSocketServer::WebSocketServer(Options options, Clock& clock)
    : options_(options), clock_(clock), open_of_peer_(options.max_connections_of_peer) {}

WebSocketServer::~WebSocketServer() { Stop(); }

absl::Status WebSocketServer::Start() {
  if (absl::Status status = wake_->Open(); !status.ok()) return status;
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::exception& error) {
    return absl::UnavailableError(StrCat("cannot start a thread: ", error.what()));
  }
  MutexLock lock(mu_);
  closed_ = false;
  return absl::OkStatus();
}

void WebSocketServer::Drain() {
  draining_ = true;
  if (thread_.joinable()) wake_->Wake();
}

void WebSocketServer::Stop() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  wake_->Wake();
  thread_.join();
}

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
    http.CountRefusal(request, status);
    for (const char* name : {"Upgrade", "Connection", "Sec-WebSocket-Accept"})
      response.headers.erase(name);
    response.set_header("Retry-After", "1");
    return Refusal{status, std::move(message)};
  };
  if (draining_) return refused(503, "the server is shutting down");
  // The closure below must be copyable.
  const auto peer = std::make_shared<std::unique_ptr<Peer>>(
      std::make_unique<Peer>(open_, open_of_peer_.TryEnter(server::Peer(request.remote_addr))));
  if (!(*peer)->of_address.held()) {
    return refused(429, StrCat("the server already has ", options_.max_connections_of_peer,
                               " WebSocket connections of this address, which is the limit"));
  }
  if (open_ > options_.max_connections) {
    return refused(503, StrCat("the server already has ", options_.max_connections,
                               " WebSocket connections, which is its limit"));
  }
  (*peer)->web_socket =
      std::make_unique<WebSocketConnection>(make([wake = wake_, changed = (*peer)->changed] {
                                              if (!changed->exchange(true)) wake->Wake();
                                            }),
                                            options_.connection, clock_);
  HandOverConnection([this, peer](std::unique_ptr<Connection> connection) {
    Adopt(std::move(*peer), std::move(connection));
  });
  return std::nullopt;
}

void WebSocketServer::Adopt(std::unique_ptr<Peer> peer, std::unique_ptr<Connection> connection) {
  peer->socket = std::move(connection);
  {
    MutexLock lock(mu_);
    if (closed_) return;
    new_.push_back(std::move(peer));
  }
  ++opened_total_;
  wake_->Wake();
}

void WebSocketServer::Run() {
  while (TakeNew()) {
    Wait();
    const TimePoint now = clock_.Now();
    // From the last to the first: one that goes is replaced by the last, which has been served.
    for (size_t i = peers_.size(); i-- > 0;) {
      const short events = waits_[i + 1].revents;
      Peer& peer = *peers_[i];
      const bool changed = peer.changed->exchange(false);
      if (events == 0 && !changed && peer.web_socket->due() > now) continue;
      bool stays = false;
      try {
        stays = Serve(peer, events);
      } catch (const std::exception& error) {  // there is no memory for what came
        logging::Error("WebSocket failed and is closed", {{"reason", error.what()}});
      }
      if (stays) continue;
      std::swap(peers_[i], peers_.back());
      peers_.pop_back();
    }
  }
  peers_.clear();
}

bool WebSocketServer::TakeNew() {
  std::vector<std::unique_ptr<Peer>> taken;
  bool stopping = false;
  {
    MutexLock lock(mu_);
    taken.swap(new_);
    stopping = stopping_;
    if (stopping) closed_ = true;
  }
  for (std::unique_ptr<Peer>& peer : taken) {
    try {
      // The bytes behind the request.
      const std::string received = std::exchange(peer->socket->received, std::string());
      if (!received.empty()) peer->web_socket->Receive(received);
      peers_.push_back(std::move(peer));
    } catch (const std::exception& error) {
      logging::Error("WebSocket failed and is closed", {{"reason", error.what()}});
    }
  }
  const TimePoint now = clock_.Now();
  if (stopping && stop_end_ == TimePoint::max()) {
    stop_end_ = now + kStopGrace;
    for (const auto& peer : peers_) peer->web_socket->GoAway();
  } else if (draining_) {
    for (const auto& peer : peers_) {
      peer->web_socket->Drain();
      *peer->changed = true;
    }
  }
  return !stopping || (!peers_.empty() && now < stop_end_);
}

void WebSocketServer::Wait() {
  TimePoint next = stop_end_;
  waits_.clear();
  waits_.push_back({.fd = wake_->descriptor(), .events = POLLIN, .revents = 0});
  for (const auto& peer : peers_) {
    waits_.push_back({.fd = peer->descriptor(), .events = peer->WantedEvents(), .revents = 0});
    next = std::min(next, *peer->changed ? TimePoint::min() : peer->web_socket->due());
  }
  int timeout_ms = -1;
  if (next == TimePoint::min()) {
    timeout_ms = 0;
  } else if (next != TimePoint::max()) {
    const auto left = std::chrono::ceil<milliseconds>(next - clock_.Now());
    timeout_ms = static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000));
  }
  if (poll(waits_.data(), waits_.size(), timeout_ms) < 0) {
    for (pollfd& wait : waits_) wait.revents = 0;  // a signal
  }
  if (waits_[0].revents != 0) wake_->Drain();
}

bool WebSocketServer::Serve(Peer& peer, short events) {
  bool client_is_there = (events & (POLLERR | POLLNVAL)) == 0;
  if (client_is_there && (events & (POLLIN | POLLHUP)) != 0 && peer.web_socket->wants_bytes())
    client_is_there = peer.Receive();
  else if ((events & (POLLHUP | kPollClosed)) != 0)
    client_is_there = false;
  if (!client_is_there) return false;
  peer.web_socket->Advance();
  return peer.Send() && !peer.web_socket->over();
}

}  // namespace millrace
