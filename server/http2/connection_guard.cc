#include "server/http2/connection_guard.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "server/logging/line_limiter.h"
#include "server/logging/logging.h"

namespace millrace::server {
namespace {

constexpr Duration kLogInterval = std::chrono::seconds(10);

}  // namespace

TlsRandom WatchedConnection::Random() const {
  TlsRandom random;
  std::copy(hello_.end() - random.size(), hello_.end(), random.begin());
  return random;
}

ConnectionGuard& ConnectionGuard::Process() {
  // Never destroyed: threads of libraries may read from sockets until the very end.
  static ConnectionGuard& guard = *new ConnectionGuard;
  return guard;
}

void ConnectionGuard::Configure(const FrameLimits& limits, bool tls) {
  limits_ = limits;
  tls_ = tls;
}

WatchedConnection* ConnectionGuard::Find(int fd) const {
  const size_t index = static_cast<size_t>(fd);
  if (fd < 0 || index >= kChunk * kChunks) return nullptr;
  Chunk* const chunk = chunks_[index / kChunk].load(std::memory_order_acquire);
  return chunk != nullptr ? &(*chunk)[index % kChunk] : nullptr;
}

const WatchedConnection* ConnectionGuard::Watch(int fd, const Peer& peer) {
  const size_t index = static_cast<size_t>(fd);
  if (!hooked() || fd < 0 || index >= kChunk * kChunks) return nullptr;
  MutexLock lock(mu_);
  std::atomic<Chunk*>& chunk = chunks_[index / kChunk];
  if (chunk.load(std::memory_order_relaxed) == nullptr)
    chunk.store(new Chunk, std::memory_order_release);
  WatchedConnection& connection = *Find(fd);
  Forget(connection);
  connection.peer_ = peer;
  connection.frames_ = FrameGuard(limits_);
  connection.watched_ = true;
  connection.calls_.store(0, std::memory_order_relaxed);
  return &connection;
}

bool ConnectionGuard::OnReceived(int fd, std::span<const iovec> pieces, size_t size) {
  WatchedConnection* const connection = Find(fd);
  if (connection == nullptr || !connection->watched_) return true;
  for (const iovec& piece : pieces) {
    const std::span bytes(static_cast<const char*>(piece.iov_base), std::min(piece.iov_len, size));
    size -= bytes.size();
    if (tls_) {
      ReadHello(*connection, bytes);
    } else if (!bytes.empty() && !OnReceived(*connection, bytes)) {
      return false;
    }
  }
  return true;
}

void ConnectionGuard::ReadHello(WatchedConnection& connection, std::span<const char> bytes) {
  size_t& filled = connection.hello_filled_;
  if (filled == connection.hello_.size()) return;
  const size_t taken = std::min(connection.hello_.size() - filled, bytes.size());
  std::memcpy(connection.hello_.data() + filled, bytes.data(), taken);
  filled += taken;
  if (filled != connection.hello_.size()) return;
  MutexLock lock(mu_);
  by_random_.emplace(connection.Random(), &connection);
}

// Removes the hello of a handshake that was not completed.
void ConnectionGuard::Forget(WatchedConnection& connection) {
  if (std::exchange(connection.hello_filled_, 0) != connection.hello_.size()) return;
  const auto found = by_random_.find(connection.Random());
  if (found != by_random_.end() && found->second == &connection) by_random_.erase(found);
}

WatchedConnection* ConnectionGuard::FindTls(const TlsRandom& random) {
  MutexLock lock(mu_);
  const auto found = by_random_.find(random);
  if (found == by_random_.end()) return nullptr;
  WatchedConnection* const connection = found->second;
  by_random_.erase(found);
  return connection;
}

bool ConnectionGuard::OnReceived(WatchedConnection& connection, std::span<const char> bytes) {
  const TimePoint now = std::chrono::steady_clock::now();
  const bool was_fine = connection.frames_.abuse() == FrameAbuse::kNone;
  const FrameAbuse abuse = connection.frames_.Read(bytes, now);
  connection.calls_.store(connection.frames_.calls(), std::memory_order_relaxed);
  if (abuse == FrameAbuse::kNone) return true;
  if (was_fine) OnAbuse(connection, abuse, now);
  return false;
}

void ConnectionGuard::OnAbuse(const WatchedConnection& connection, FrameAbuse abuse,
                              TimePoint now) {
  static logging::LineLimiter lines(1, kLogInterval);
  const uint64_t closed =
      closed_[static_cast<size_t>(abuse)].fetch_add(1, std::memory_order_relaxed) + 1;
  penalties_.Add(connection.peer_, now);
  if (lines.Pass()) {
    logging::Warning("connection closed: its client abuses HTTP/2",
                     {{"by", ToString(abuse)},
                      {"peer", connection.peer_.ToString()},
                      {"calls", connection.frames_.calls()},
                      {"closed_so_far", closed}});
  }
}

ConnectionGuard::Counts ConnectionGuard::counts() const {
  const auto count = [this](FrameAbuse abuse) {
    return closed_[static_cast<size_t>(abuse)].load(std::memory_order_relaxed);
  };
  return {.open = open_.load(std::memory_order_relaxed),
          .refused = refused_.load(std::memory_order_relaxed),
          .made_room = made_room_.load(std::memory_order_relaxed),
          .headers = count(FrameAbuse::kHeaders),
          .resets = count(FrameAbuse::kResets),
          .control_frames = count(FrameAbuse::kControlFrames),
          .incomplete_calls = incomplete_calls_.load(std::memory_order_relaxed)};
}

}  // namespace millrace::server
