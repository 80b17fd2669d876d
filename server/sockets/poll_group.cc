#include "server/sockets/poll_group.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "models/core/strings.h"
#include "server/logging/logging.h"
#include "server/sockets/nonblocking.h"

namespace millrace {
namespace {

// How long a connection that lingers may take to stop sending.
constexpr std::chrono::milliseconds kLinger{1000};

// Returns false at the end of what is thrown away.
bool Discard(int descriptor) {
  char bytes[4096];
  const ssize_t count = recv(descriptor, bytes, sizeof(bytes), MSG_DONTWAIT);
  return count > 0 || (count < 0 && WouldBlock());
}

}  // namespace

void PollClient::Linger(TimePoint now) {
  shutdown(descriptor(), SHUT_WR);
  linger_end_ = now + kLinger;
}

PollGroup::PollGroup(PollLoop& loop, Options options)
    : loop_(loop),
      options_(std::move(options)),
      places_(options_.max_connections_of_peer, options_.max_connections) {
  if (options_.accept) acceptor_.emplace(*options_.accept);
  added_.reserve(options_.max_connections);
  taken_.reserve(options_.max_connections);
  clients_.reserve(options_.max_connections);
}

absl::Status PollGroup::Start() {
  {
    MutexLock lock(loop_.mu_);
    running_ = true;
  }
  absl::Status status = loop_.Add(*this);
  if (status.ok()) return status;
  MutexLock lock(loop_.mu_);
  running_ = false;
  return status;
}

bool PollGroup::Add(std::unique_ptr<PollClient> client) {
  MutexLock lock(loop_.mu_);
  if (!running_) return false;
  // The loop has been woken for those that were added before, and has not taken them yet.
  if (added_.empty()) loop_.wake_->Wake();
  added_.push_back(std::move(client));
  return true;
}

void PollGroup::Drain() {
  draining_ = true;
  loop_.wake_->Wake();
}

void PollGroup::Stop() {
  MutexLock lock(loop_.mu_);
  stopping_ = true;
  loop_.wake_->Wake();
  while (std::ranges::find(loop_.groups_, this) != loop_.groups_.end())
    loop_.group_gone_.Wait(loop_.mu_);
}

size_t PollGroup::most_waits() const {
  return options_.max_connections + (acceptor_ ? acceptor_->sockets() : 0);
}

bool PollGroup::Prepare(TimePoint now) {
  bool stopping = false;
  {
    MutexLock lock(loop_.mu_);
    taken_.swap(added_);
    stopping = stopping_;
  }
  if (draining_ && !std::exchange(drained_, true)) {
    for (const auto& client : clients_) client->Drain();
  }
  for (std::unique_ptr<PollClient>& client : taken_) Enter(std::move(client), now);
  taken_.clear();
  if (!stopping) {
    if (acceptor_) acceptor_->Resume();
    return true;
  }
  if (stop_end_ == TimePoint::max()) {
    stop_end_ = now + options_.stop_grace;
    if (acceptor_) acceptor_->Close();
    for (const auto& client : clients_) client->GoAway();
  }
  if (!clients_.empty() && now < stop_end_) return true;
  clients_.clear();
  {
    MutexLock lock(loop_.mu_);
    running_ = false;
    taken_.swap(added_);
  }
  taken_.clear();
  return false;
}

TimePoint PollGroup::AddTo(std::vector<pollfd>& waits) {
  TimePoint next = stop_end_;
  if (acceptor_) {
    acceptor_->AddTo(waits);
    if (!acceptor_->accepts()) next = std::min(next, acceptor_->retry_at());
  }
  first_wait_ = waits.size();
  for (const auto& client : clients_) {
    const bool lingers = client->lingers();
    waits.push_back({.fd = client->descriptor(),
                     .events = lingers ? short{POLLIN} : client->WantedEvents(),
                     .revents = 0});
    next = std::min(next, lingers ? client->linger_end_ : client->due());
  }
  return next;
}

void PollGroup::Serve(const std::vector<pollfd>& waits, TimePoint now) {
  // From the last to the first: one that goes is replaced by the last, which has been served.
  for (size_t i = clients_.size(); i-- > 0;) {
    const short events = waits[first_wait_ + i].revents;
    PollClient& client = *clients_[i];
    const TimePoint due = client.lingers() ? client.linger_end_ : client.due();
    if ((events != 0 || due <= now) && !Serve(client, events, now)) Remove(i);
  }
  if (!acceptor_ || !acceptor_->IsReady(waits)) return;
  // Clients that connect meanwhile are accepted in the same call, so that time goes on.
  acceptor_->Accept([this](int descriptor) { Take(descriptor, loop_.clock().Now()); },
                    [this] { return MakeRoom(nullptr, loop_.clock().Now()); });
}

bool PollGroup::Serve(PollClient& client, short events, TimePoint now) {
  if (client.lingers())
    return now < client.linger_end_ && (events == 0 || Discard(client.descriptor()));
  try {
    return client.Serve(events, now);
  } catch (const std::exception& error) {
    logging::Error(StrCat(options_.protocol, " connection failed and is closed"),
                   {{"reason", error.what()}});
    return false;
  }
}

void PollGroup::Take(int descriptor, TimePoint now) {
  FileDescriptor socket(descriptor);
  try {
    const Peer peer = Peer::OfSocket(descriptor);
    PeerPlaces::Place place = places_.TryEnter(peer);
    if (!place.held()) {
      const bool of_peer = place.full() == PeerPlaces::Full::kOfPeer;
      if (MakeRoom(of_peer ? &peer : nullptr, now) || (!of_peer && MakeFairRoom(peer)))
        place = places_.TryEnter(peer);
    }
    if (!place.held()) return options_.refuse(descriptor, peer, place.full());
    Enter(options_.open(std::move(socket), peer, std::move(place)), now);
  } catch (const std::exception& error) {
    logging::Error(StrCat(options_.protocol, " connection cannot be taken and is closed"),
                   {{"reason", error.what()}});
  }
}

void PollGroup::Enter(std::unique_ptr<PollClient> client, TimePoint now) {
  clients_.push_back(std::move(client));
  if (drained_) clients_.back()->Drain();
  if (!Serve(*clients_.back(), 0, now)) Remove(clients_.size() - 1);
}

bool PollGroup::MakeRoom(const Peer* peer, TimePoint now) {
  return CloseFirst([&](const PollClient& one) -> std::optional<TimePoint> {
    if (peer != nullptr && one.peer() != *peer) return std::nullopt;
    // One that lingers has its answer already.
    return one.lingers() ? TimePoint::min() : one.IdleSince(now);
  });
}

bool PollGroup::MakeFairRoom(const Peer& peer) {
  const std::optional<Peer> crowding = places_.Crowding(peer);
  return crowding && CloseFirst([&](const PollClient& one) {
           return one.peer() == *crowding ? one.LastServed() : std::nullopt;
         });
}

bool PollGroup::CloseFirst(absl::FunctionRef<std::optional<TimePoint>(const PollClient&)> since) {
  std::optional<size_t> first;
  TimePoint first_since = TimePoint::max();
  for (size_t i = 0; i < clients_.size(); ++i) {
    const std::optional<TimePoint> its = since(*clients_[i]);
    if (!its || *its >= first_since) continue;
    first_since = *its;
    first = i;
  }
  if (!first) return false;
  Remove(*first);
  options_.on_made_room();
  return true;
}

void PollGroup::Remove(size_t index) {
  std::swap(clients_[index], clients_.back());
  clients_.pop_back();
}

}  // namespace millrace
