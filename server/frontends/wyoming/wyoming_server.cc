#include "server/frontends/wyoming/wyoming_server.h"

#include <sys/socket.h>

#include <optional>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/frontends/wyoming/event.h"
#include "server/frontends/wyoming/voice_list.h"
#include "server/logging/logging.h"
#include "server/net/address_policy.h"
#include "server/sockets/nonblocking.h"
#include "server/sockets/session_client.h"
#include "server/sockets/socket_address.h"

namespace millrace::server {
namespace {

// An address that cannot be parsed is left for the listening socket to refuse.
Acceptor::Options OptionsOfAcceptor(const WyomingServer::Options& options) {
  const absl::StatusOr<ListenAddress> address = ParseListenAddress(options.address);
  return {.protocol = "Wyoming",
          .address = address.ok() ? *address
                                  : ListenAddress{.tcp = {options.address, 0}, .socket_file = {}},
          .inherited = options.inherited,
          .retry = options.accept_retry};
}

std::string AddressOfClient(int descriptor) {
  const std::optional<HostPort> address = PeerAddress(descriptor);
  return address ? ToString(*address) : "";
}

}  // namespace

WyomingServer::WyomingServer(PollLoop& loop, Services& services, Options options)
    : options_(std::move(options)),
      loop_(loop),
      info_(services.models, MakeInfoEvent),
      context_{.services = services,
               .info = info_,
               .started = options_.started,
               .event_timeout = options_.event_timeout,
               .idle_timeout = options_.idle_timeout,
               .stall_timeout = options_.stall_timeout,
               .text_timeout = options_.text_timeout},
      group_(loop, {.protocol = "Wyoming",
                    .accept = OptionsOfAcceptor(options_),
                    .max_connections = options_.max_connections,
                    .max_connections_of_peer = options_.max_connections_of_peer,
                    .open =
                        [this](FileDescriptor socket, const Peer& peer, PeerPlaces::Place place) {
                          return Open(std::move(socket), peer, std::move(place));
                        },
                    .refuse = [this](int descriptor, const Peer&,
                                     PeerPlaces::Full full) { Refuse(descriptor, full); }}) {}

absl::Status WyomingServer::Start() {
  absl::Status status = group_.acceptor().Start();
  if (status.ok()) status = group_.Start();
  if (status.ok()) return status;
  return Unavailable("--wyoming-address ", options_.address, ": ", Message(status));
}

std::unique_ptr<PollClient> WyomingServer::Open(FileDescriptor socket, const Peer& peer,
                                                PeerPlaces::Place place) const {
  auto client = std::make_unique<SessionClient>(loop_.wake_pipe(), peer, std::move(place),
                                                SessionClient::Options{.lingers = true});
  client->SetSession(
      std::make_unique<Session>(context_, AddressOfClient(socket.get()), client->Changed()));
  client->SetSocket(std::move(socket));
  return client;
}

void WyomingServer::Refuse(int descriptor, PeerPlaces::Full full) {
  const std::string what =
      full == PeerPlaces::Full::kOfPeer
          ? StrCat("this address already has ", options_.max_connections_of_peer,
                   " Wyoming connections in use, which is its limit")
          : StrCat("the server already has ", options_.max_connections,
                   " Wyoming connections in use, which is its limit");
  context_.services.no_model_metrics.CountRefusal(Refusal::kTooMany);
  if (const auto held_back = refusals_.Pass()) {
    logging::Info(
        "Wyoming connection refused",
        {{"client", AddressOfClient(descriptor)}, {"reason", what}, {"not_logged", *held_back}});
  }
  const std::string error =
      SerializeEvent("error", {{"text", what}, {"code", "RESOURCE_EXHAUSTED"}});
  // Bytes that the socket cannot take at once are given up.
  send(descriptor, error.data(), error.size(), kSendFlags);
}

}  // namespace millrace::server
