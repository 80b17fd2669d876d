#include "server/frontends/wyoming/wyoming_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "models/core/strings.h"
#include "server/frontends/wyoming/event.h"
#include "server/frontends/wyoming/voice_list.h"
#include "server/logging/logging.h"
#include "server/net/address_policy.h"
#include "server/sockets/nonblocking.h"
#include "server/sockets/socket_address.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;

// How long a client that got an error may take to stop sending: closing a socket with unread bytes
// would reset the connection before the client has read the error.
constexpr milliseconds kLinger{1000};
// From one connection, before others have their turn.
constexpr size_t kReceivedAtOnce = size_t{16} << 10;

// An address that cannot be parsed is left for the listening socket to refuse.
Acceptor::Options OptionsOfAcceptor(const WyomingServer::Options& options) {
  const absl::StatusOr<ListenAddress> address = ParseListenAddress(options.address);
  return {.protocol = "Wyoming",
          .address = address.ok() ? *address
                                  : ListenAddress{.tcp = {options.address, 0}, .socket_file = {}},
          .inherited = options.inherited,
          .retry = options.accept_retry};
}

}  // namespace

struct WyomingServer::Connection {
  Connection(int descriptor, const WyomingContext& context, std::string address,
             std::function<void()> changed)
      : descriptor(descriptor), session(context, std::move(address), std::move(changed)) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(descriptor); }

  bool lingers() const { return linger_end != TimePoint::max(); }
  short WantedEvents() const {
    if (lingers()) return POLLIN;
    short events = session.wants_bytes() ? POLLIN : kPollClosed;
    if (!session.unsent().empty()) events |= POLLOUT;
    return events;
  }
  // Receives what the session wants. False: the client is gone.
  bool Receive();
  // Sends what the socket takes. False: the client is gone.
  bool Send();

  const int descriptor;
  Session session;
  Peer peer;
  PeerPlaces::Place place;                  // among the connections of the peer
  TimePoint linger_end = TimePoint::max();  // set once nothing more is sent
};

bool WyomingServer::Connection::Receive() {
  char bytes[kReceivedAtOnce];
  const ssize_t count = recv(descriptor, bytes, sizeof(bytes), MSG_DONTWAIT);
  if (count < 0) return WouldBlock();
  if (count > 0 && !lingers()) session.Receive({bytes, static_cast<size_t>(count)});
  return count > 0;
}

bool WyomingServer::Connection::Send() {
  while (!session.unsent().empty()) {
    const std::string_view unsent = session.unsent();
    const ssize_t count = send(descriptor, unsent.data(), unsent.size(), kSendFlags);
    if (count < 0) return WouldBlock();
    session.Sent(static_cast<size_t>(count));
    session.Advance();
  }
  return true;
}

WyomingServer::WyomingServer(Services& services, Options options)
    : options_(std::move(options)),
      info_(services.models, MakeInfoEvent),
      context_{.services = services,
               .info = info_,
               .started = options_.started,
               .event_timeout = options_.event_timeout,
               .idle_timeout = options_.idle_timeout,
               .stall_timeout = options_.stall_timeout,
               .text_timeout = options_.text_timeout},
      places_of_peer_(options_.max_connections_of_peer),
      acceptor_(OptionsOfAcceptor(options_)) {}

WyomingServer::~WyomingServer() { Stop(); }

absl::Status WyomingServer::Start() {
  absl::Status status = acceptor_.Start();
  if (status.ok()) status = wake_->Open();
  if (status.ok()) {
    try {
      thread_ = std::thread([this] { Run(); });
    } catch (const std::exception& error) {
      status = absl::UnavailableError(StrCat("cannot start a thread: ", error.what()));
    }
  }
  if (status.ok()) return status;
  return absl::UnavailableError(
      StrCat("--wyoming-address ", options_.address, ": ", Message(status)));
}

void WyomingServer::Stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  wake_->Wake();
  thread_.join();
}

void WyomingServer::Run() {
  while (!stopping_) {
    acceptor_.Resume();
    Wait();
    // From the last to the first: one that goes is replaced by the last, which has been served.
    for (size_t i = connections_.size(); i-- > 0;) {
      bool stays = false;
      try {
        stays = Serve(*connections_[i], waits_[first_wait_ + i].revents);
      } catch (const std::exception& error) {  // there is no memory for what came
        logging::Error("Wyoming connection failed and is closed", {{"reason", error.what()}});
      }
      if (stays) continue;
      std::swap(connections_[i], connections_.back());
      connections_.pop_back();
    }
    if (acceptor_.IsReady(waits_)) Accept();
  }
  acceptor_.Close();
  connections_.clear();
}

void WyomingServer::Wait() {
  TimePoint next = TimePoint::max();
  waits_.clear();
  waits_.push_back({.fd = wake_->descriptor(), .events = POLLIN, .revents = 0});
  acceptor_.AddTo(waits_);
  first_wait_ = waits_.size();
  if (!acceptor_.accepts()) next = acceptor_.retry_at();
  for (const auto& connection : connections_) {
    waits_.push_back(
        {.fd = connection->descriptor, .events = connection->WantedEvents(), .revents = 0});
    next = std::min({next, connection->linger_end, connection->session.due()});
  }
  int timeout_ms = -1;
  if (next != TimePoint::max()) {
    const auto left = std::chrono::ceil<milliseconds>(next - context_.services.clock.Now());
    timeout_ms = static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000));
  }
  if (poll(waits_.data(), waits_.size(), timeout_ms) < 0) {
    for (pollfd& wait : waits_) wait.revents = 0;  // a signal
  }
  if (waits_[0].revents != 0) wake_->Drain();
}

bool WyomingServer::Serve(Connection& connection, short events) {
  Session& session = connection.session;
  const TimePoint now = context_.services.clock.Now();
  if (connection.lingers()) {
    return now < connection.linger_end && (events == 0 || connection.Receive());
  }
  bool client_is_there = (events & (POLLERR | POLLNVAL)) == 0;
  if (client_is_there && (events & (POLLIN | POLLHUP)) != 0 && session.wants_bytes())
    client_is_there = connection.Receive();
  else if ((events & (POLLHUP | kPollClosed)) != 0)
    client_is_there = false;
  // Also for one that only ends its own side, and counts as gone: what is ready is sent.
  session.Advance();
  if (!connection.Send() || !client_is_there) return false;
  if (!session.over() || !session.unsent().empty()) return true;
  shutdown(connection.descriptor, SHUT_WR);
  connection.linger_end = now + kLinger;
  return true;
}

void WyomingServer::Accept() {
  acceptor_.Accept([this](int descriptor) { Take(descriptor); },
                   [this] { return MakeRoom(nullptr); });
}

void WyomingServer::Take(int descriptor) {
  std::unique_ptr<Connection> connection;
  try {
    const std::optional<HostPort> address = PeerAddress(descriptor);
    connection = std::make_unique<Connection>(
        descriptor, context_, address ? ToString(*address) : "", [wake = wake_] { wake->Wake(); });
  } catch (const std::exception&) {
    close(descriptor);
    return;
  }
  try {
    const Peer& peer = connection->peer = Peer::OfSocket(descriptor);
    connection->place = places_of_peer_.TryEnter(peer);
    if (!connection->place.held() && MakeRoom(&peer))
      connection->place = places_of_peer_.TryEnter(peer);
    if (!connection->place.held()) {
      return Refuse(descriptor,
                    StrCat("this address already has ", options_.max_connections_of_peer,
                           " Wyoming connections in use, which is its limit"));
    }
    if (connections_.size() >= options_.max_connections && !MakeRoom(nullptr)) {
      return Refuse(descriptor, StrCat("the server already has ", options_.max_connections,
                                       " Wyoming connections in use, which is its limit"));
    }
    connections_.push_back(std::move(connection));
  } catch (const std::exception&) {  // there is no memory for it
  }
}

void WyomingServer::Refuse(int descriptor, const std::string& what) {
  context_.services.no_model_metrics.CountRefusal(Refusal::kTooMany);
  if (const auto held_back = refusals_.Pass()) {
    const std::optional<HostPort> address = PeerAddress(descriptor);
    logging::Info("Wyoming connection refused", {{"client", address ? ToString(*address) : ""},
                                                 {"reason", what},
                                                 {"not_logged", *held_back}});
  }
  const std::string error =
      SerializeEvent("error", {{"text", what}, {"code", "RESOURCE_EXHAUSTED"}});
  // Bytes that the socket cannot take at once are given up.
  send(descriptor, error.data(), error.size(), kSendFlags);
}

bool WyomingServer::MakeRoom(const Peer* peer) {
  const TimePoint now = context_.services.clock.Now();
  std::unique_ptr<Connection>* longest = nullptr;
  for (auto& one : connections_) {
    if (peer != nullptr && one->peer != *peer) continue;
    if (!one->lingers() && !one->session.MayGiveWay(now)) continue;
    if (longest == nullptr || one->session.last_event() < (*longest)->session.last_event())
      longest = &one;
  }
  if (longest == nullptr) return false;
  std::swap(*longest, connections_.back());
  connections_.pop_back();
  return true;
}

}  // namespace millrace::server
