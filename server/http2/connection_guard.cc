#include "server/http2/connection_guard.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>
#include <utility>

#include "server/logging/line_limiter.h"
#include "server/logging/logging.h"
#include "server/metrics/metric_writer.h"

namespace millrace::server {
namespace {

constexpr Duration kLogInterval = std::chrono::seconds(10);

// A client that leaves in good order has sent a few frames at most since it was read.
constexpr size_t kMostUnread = 16 << 10;

constexpr char kTlsHandshake = '\x16';  // the first byte of a client that speaks TLS

// A connection on whose bytes this thread works, and the thread's time when it had read them.
struct Turn {
  WatchedConnection* connection = nullptr;
  uint64_t begun = 0;
};
thread_local Turn turn;

// Returns the time that this thread has run, in nanoseconds.
uint64_t ThreadTime() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

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

WatchedConnection* ConnectionGuard::Watch(int fd, const Peer& peer) {
  const size_t index = static_cast<size_t>(fd);
  if (!hooked() || fd < 0 || index >= kChunk * kChunks) return nullptr;
  MutexLock lock(mu_);
  std::atomic<Chunk*>& chunk = chunks_[index / kChunk];
  if (chunk.load(std::memory_order_relaxed) == nullptr)
    chunk.store(new Chunk, std::memory_order_release);
  WatchedConnection& connection = *Find(fd);
  Forget(connection);
  connection.descriptor_ = fd;
  connection.peer_ = peer;
  {
    MutexLock frames_lock(connection.mu_);
    if (connection.frames_) connection.frames_->Leave();
    connection.frames_.emplace(limits_, totals_, TotalsOf(peer));
    connection.end_.reset();
    connection.has_turn_ = false;
    connection.turns_ = {};
    connection.polled_.reset();
    connection.has_left_ = false;
    connection.is_decrypted_ = false;
    connection.encrypted_ = 0;
    connection.is_withheld_ = false;
    connection.is_marked_ = false;
  }
  connection.must_end_.store(false, std::memory_order_relaxed);
  connection.calls_.store(0, std::memory_order_relaxed);
  connection.acknowledged_.store(false, std::memory_order_relaxed);
  connection.watched_.store(true, std::memory_order_release);
  return &connection;
}

WatchedConnection* ConnectionGuard::FindWatched(int fd) const {
  WatchedConnection* const connection = Find(fd);
  const bool watched =
      connection != nullptr && connection->watched_.load(std::memory_order_acquire);
  return watched ? connection : nullptr;
}

void ConnectionGuard::OnHungUp(int fd, size_t unread) {
  WatchedConnection* const connection = FindWatched(fd);
  if (connection == nullptr) return;
  {
    MutexLock lock(connection->mu_);
    connection->has_left_ = true;
  }
  if (unread > kMostUnread) penalties_.Add(connection->peer_, std::chrono::steady_clock::now());
}

void ConnectionGuard::OnPolled(int fd, const PollEntry& entry) {
  WatchedConnection* const connection = FindWatched(fd);
  if (connection == nullptr) return;
  MutexLock lock(connection->mu_);
  // gRPC adds a connection once. The number has gone to another socket, which gRPC has opened.
  if (connection->polled_) connection->watched_.store(false, std::memory_order_relaxed);
  connection->polled_ = entry;
}

size_t ConnectionGuard::Allowed(int fd, PollEntry& entry) {
  constexpr size_t kAll = std::numeric_limits<size_t>::max();
  WatchedConnection* const connection = FindWatched(fd);
  if (connection == nullptr) return kAll;
  MutexLock lock(connection->mu_);
  if (!connection->polled_) return kAll;
  entry = *connection->polled_;
  if (connection->is_marked_ && !connection->end_) return 0;  // the byte has to come alone
  const size_t allowed = connection->turns_.Allowed(rounds_.load(std::memory_order_relaxed));
  // Their cost is known when they are decrypted.
  if (connection->is_decrypted_ && allowed != 0) return kMostEncrypted - connection->encrypted_;
  return allowed;
}

size_t ConnectionGuard::AllowedDecrypted(WatchedConnection& connection) {
  MutexLock lock(connection.mu_);
  if (!connection.polled_) return std::numeric_limits<size_t>::max();
  connection.is_decrypted_ = true;
  return connection.turns_.Allowed(rounds_.load(std::memory_order_relaxed));
}

void ConnectionGuard::OnDecrypted(WatchedConnection& connection) {
  MutexLock lock(connection.mu_);
  connection.encrypted_ = 0;
}

std::optional<PollEntry> ConnectionGuard::Withhold(WatchedConnection& connection) {
  MutexLock lock(connection.mu_);
  if (std::exchange(connection.is_withheld_, true)) return std::nullopt;
  return connection.polled_;
}

bool ConnectionGuard::IsWithheld(WatchedConnection& connection) const {
  MutexLock lock(connection.mu_);
  return connection.is_withheld_;
}

size_t ConnectionGuard::ReadMark(int fd, std::span<const iovec> pieces) {
  WatchedConnection* const connection = FindWatched(fd);
  if (!tls_ || connection == nullptr || pieces.empty() || pieces[0].iov_len == 0) return 0;
  MutexLock lock(connection->mu_);
  if (!std::exchange(connection->is_withheld_, false)) return 0;
  connection->is_marked_ = true;
  *static_cast<char*>(pieces[0].iov_base) = '\0';
  return 1;
}

bool ConnectionGuard::IsMarked(WatchedConnection& connection) const {
  MutexLock lock(connection.mu_);
  return connection.is_marked_;
}

void ConnectionGuard::Unmark(WatchedConnection& connection) {
  MutexLock lock(connection.mu_);
  connection.is_marked_ = false;
}

size_t ConnectionGuard::OnReceived(int fd, std::span<const iovec> pieces, size_t size) {
  WatchedConnection* const connection = FindWatched(fd);
  if (connection == nullptr) return size;
  {
    MutexLock lock(connection->mu_);
    if (connection->is_decrypted_)
      connection->encrypted_ += size;
    else if (tls_)
      connection->turns_.OnRead(size);
  }
  size_t shown = 0;
  for (const iovec& piece : pieces) {
    const std::span bytes(static_cast<char*>(piece.iov_base),
                          std::min(piece.iov_len, size - shown));
    size_t shown_of_piece = bytes.size();
    if (tls_) {
      if (!ReadHello(*connection, bytes)) return 0;
    } else if (!bytes.empty()) {
      shown_of_piece = OnReceived(*connection, bytes);
    }
    shown += shown_of_piece;
    if (shown_of_piece != bytes.size()) break;
  }
  return shown;
}

bool ConnectionGuard::BeginEnd(int fd) {
  WatchedConnection* const connection = FindWatched(fd);
  return connection != nullptr && BeginEnd(*connection);
}

bool ConnectionGuard::BeginEnd(WatchedConnection& connection) {
  MutexLock lock(connection.mu_);
  const FrameGuard& frames = *connection.frames_;
  if (!connection.end_ && frames.open_streams() > GradualEnd::kCallsAtOnce)
    connection.end_ = frames.EndGradually();
  return connection.end_.has_value();
}

bool ConnectionGuard::IsEnding(int fd) const {
  WatchedConnection* const connection = FindWatched(fd);
  return connection != nullptr && IsEnding(*connection);
}

bool ConnectionGuard::IsEnding(WatchedConnection& connection) const {
  MutexLock lock(connection.mu_);
  return connection.end_.has_value();
}

size_t ConnectionGuard::ReadEnd(int fd, std::span<const iovec> pieces) {
  WatchedConnection* const connection = FindWatched(fd);
  if (connection == nullptr || pieces.empty()) return 0;
  MutexLock lock(connection->mu_);
  if (!connection->end_) return 0;
  std::span bytes(static_cast<char*>(pieces[0].iov_base), pieces[0].iov_len);
  size_t size = 0;
  if (!tls_) {
    size = connection->end_->Write(bytes);
  } else if (!connection->end_->done()) {
    connection->has_turn_ = true;
    bytes[size++] = '\0';
  }
  if (size != 0) connection->turns_.OnCost(size, ReadTurns::kCost);
  return size;
}

size_t ConnectionGuard::ReadEnd(WatchedConnection& connection, std::span<char> bytes) {
  MutexLock lock(connection.mu_);
  return std::exchange(connection.has_turn_, false) ? connection.end_->Write(bytes) : 0;
}

void ConnectionGuard::OnSent(int fd, std::span<const iovec> pieces, size_t size) {
  WatchedConnection* const connection = FindWatched(fd);
  if (tls_ || connection == nullptr) return;
  MutexLock lock(connection->mu_);
  for (const iovec& piece : pieces) {
    const std::span bytes(static_cast<const char*>(piece.iov_base), std::min(piece.iov_len, size));
    size -= bytes.size();
    connection->frames_->ReadSent(bytes);
  }
}

void ConnectionGuard::OnSent(WatchedConnection& connection, std::span<const char> bytes) {
  MutexLock lock(connection.mu_);
  connection.frames_->ReadSent(bytes);
}

bool ConnectionGuard::ReadHello(WatchedConnection& connection, std::span<const char> bytes) {
  size_t& filled = connection.hello_filled_;
  if (filled == connection.hello_.size() || bytes.empty()) return true;
  if (filled == 0 && bytes.front() != kTlsHandshake) {
    OnOtherProtocol(connection.peer_, "it speaks no TLS, which --tls-cert asks for");
    return false;
  }
  const size_t taken = std::min(connection.hello_.size() - filled, bytes.size());
  std::memcpy(connection.hello_.data() + filled, bytes.data(), taken);
  filled += taken;
  if (filled != connection.hello_.size()) return true;
  MutexLock lock(mu_);
  by_random_.emplace(connection.Random(), &connection);
  return true;
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

void ConnectionGuard::EndTurn() {
  WatchedConnection* const connection = std::exchange(turn.connection, nullptr);
  if (connection == nullptr) return;
  MutexLock lock(connection->mu_);
  connection->turns_.OnMeasured(ThreadTime() - turn.begun);
}

size_t ConnectionGuard::OnReceived(WatchedConnection& connection, std::span<char> bytes) {
  if (turn.connection != &connection) EndTurn();
  const TimePoint now = std::chrono::steady_clock::now();
  std::shared_ptr<ClientTotals> crowded;
  {
    MutexLock lock(connection.mu_);
    if (connection.end_) return 0;
    FrameGuard& frames = *connection.frames_;
    const bool was_fine = frames.abuse() == FrameAbuse::kNone;
    const int64_t open = frames.counted_calls();
    const uint64_t cost = frames.cost();
    const FrameAbuse abuse = frames.Read(bytes, now);
    connection.turns_.OnRead(bytes.size());
    connection.turns_.OnCost(bytes.size(), frames.cost() - cost);
    if (turn.connection == nullptr && connection.turns_.is_long())
      turn = {&connection, ThreadTime()};
    connection.calls_.store(frames.calls(), std::memory_order_relaxed);
    connection.acknowledged_.store(frames.acknowledged(), std::memory_order_relaxed);
    if (abuse != FrameAbuse::kNone) {
      if (was_fine && abuse == FrameAbuse::kProtocol) {
        OnOtherProtocol(connection.peer_,
                        bytes.front() == kTlsHandshake
                            ? "it speaks TLS, for which --tls-cert is needed"
                            : "it speaks no HTTP/2; HTTP/1.1 is served on --http-address");
      } else if (was_fine) {
        OnAbuse(connection.peer_, frames.calls(), abuse, now);
      }
      return frames.harmless_bytes();
    }
    if (frames.counted_calls() > open && frames.crowded()) crowded = frames.address();
  }
  if (crowded != nullptr) MakeRoom(*crowded, now);
  return bytes.size();
}

std::shared_ptr<ClientTotals> ConnectionGuard::TotalsOf(const Peer& peer) {
  std::weak_ptr<ClientTotals>& known = addresses_[peer];
  std::shared_ptr<ClientTotals> totals = known.lock();
  if (totals == nullptr) known = totals = std::make_shared<ClientTotals>();
  if (addresses_.size() > most_addresses_) {
    std::erase_if(addresses_, [](const auto& address) { return address.second.expired(); });
    most_addresses_ = 2 * addresses_.size();
  }
  return totals;
}

// Calls function(connection, frames) for those that are open.
template <typename Function>
void ConnectionGuard::ForEachOf(const ClientTotals& address, Function function) {
  for (std::atomic<Chunk*>& place : chunks_) {
    Chunk* const chunk = place.load(std::memory_order_acquire);
    if (chunk == nullptr) continue;
    for (WatchedConnection& connection : *chunk) {
      MutexLock lock(connection.mu_);
      if (connection.frames_ && connection.frames_->address().get() == &address &&
          connection.frames_->abuse() == FrameAbuse::kNone) {
        function(connection, *connection.frames_);
      }
    }
  }
}

// Returns the connection whose calls have waited for an answer for longest, among those of the
// address that have no fewer calls than half the average: a few calls that wait for long, as health
// watches do, are no burden. Returns null if the address has no calls.
WatchedConnection* ConnectionGuard::LongestUnanswered(const ClientTotals& address) {
  int64_t calls = 0;
  int64_t connections = 0;
  ForEachOf(address, [&](WatchedConnection&, FrameGuard& frames) {
    calls += frames.counted_calls();
    connections += frames.counted_calls() != 0 ? 1 : 0;
  });
  WatchedConnection* longest = nullptr;
  TimePoint answered = TimePoint::max();
  ForEachOf(address, [&](WatchedConnection& connection, FrameGuard& frames) {
    if (frames.counted_calls() == 0 || 2 * frames.counted_calls() * connections < calls) return;
    if (frames.last_answer() >= answered) return;
    longest = &connection;
    answered = frames.last_answer();
  });
  return longest;
}

// Ends connections that only hold calls until there is room for those that are served. One client
// may have begun many calls at once, so one connection may be too few.
void ConnectionGuard::MakeRoom(const ClientTotals& address, TimePoint now) {
  MutexLock lock(mu_);
  bool has_ended = false;
  while (IsCrowded(address, totals_, limits_.all_calls)) {
    WatchedConnection* const longest = LongestUnanswered(address);
    if (longest == nullptr) break;
    MutexLock frames_lock(longest->mu_);
    if (longest->frames_->abuse() != FrameAbuse::kNone) continue;  // it has left meanwhile
    longest->frames_->End(FrameAbuse::kStreams);
    OnAbuse(longest->peer_, longest->frames_->calls(), FrameAbuse::kStreams, now);
    longest->must_end_.store(true, std::memory_order_relaxed);
    has_ended = true;
  }
  if (has_ended && on_must_end_) on_must_end_();
}

void ConnectionGuard::SetOnMustEnd(std::function<void()> on_must_end) {
  MutexLock lock(mu_);
  on_must_end_ = std::move(on_must_end);
}

std::optional<TimePoint> ConnectionGuard::IdleSince(WatchedConnection& connection) const {
  MutexLock lock(connection.mu_);
  return connection.frames_->IdleSince(std::chrono::steady_clock::now());
}

TimePoint ConnectionGuard::LastAnswer(WatchedConnection& connection) const {
  MutexLock lock(connection.mu_);
  return connection.frames_->last_answer();
}

void ConnectionGuard::OnEnded(WatchedConnection& connection, bool closed, TimePoint now) {
  MutexLock lock(connection.mu_);
  if (!connection.frames_) return;
  FrameGuard& frames = *connection.frames_;
  if (frames.abuse() == FrameAbuse::kNone) {
    if (closed && !connection.has_left_ && frames.closes_for_errors()) {
      OnAbuse(connection.peer_, frames.calls(), FrameAbuse::kErrors, now);
    } else if (frames.ReadEnd(now) != FrameAbuse::kNone) {
      penalties_.Add(connection.peer_, now);
    } else if (!frames.has_answered()) {
      penalties_.AddUnanswered(connection.peer_, now);
    }
  }
  frames.Leave();
}

void ConnectionGuard::OnUnacknowledged(const WatchedConnection& connection, TimePoint now) {
  OnAbuse(connection.peer_, connection.calls(), FrameAbuse::kUnacknowledged, now);
}

void ConnectionGuard::OnAbuse(const Peer& peer, uint64_t calls, FrameAbuse abuse, TimePoint now) {
  static logging::LineLimiter lines(1, kLogInterval);
  const uint64_t closed =
      closed_[static_cast<size_t>(abuse)].fetch_add(1, std::memory_order_relaxed) + 1;
  penalties_.Add(peer, now);
  if (lines.Pass()) {
    logging::Warning("connection closed: its client abuses HTTP/2", {{"by", ToString(abuse)},
                                                                     {"peer", peer.ToString()},
                                                                     {"calls", calls},
                                                                     {"closed_so_far", closed}});
  }
}

// A mistake, for which nobody has to wait.
void ConnectionGuard::OnOtherProtocol(const Peer& peer, std::string_view reason) {
  static logging::LineLimiter lines(1, kLogInterval);
  const uint64_t closed = closed_[static_cast<size_t>(FrameAbuse::kProtocol)].fetch_add(1) + 1;
  if (!lines.Pass()) return;
  logging::Warning("connection to --grpc-address closed: its client is of another protocol",
                   {{"reason", reason}, {"peer", peer.ToString()}, {"closed_so_far", closed}});
}

ConnectionGuard::Counts ConnectionGuard::counts() const {
  Counts counts{.open = open_.load(std::memory_order_relaxed),
                .refused = refused_.load(std::memory_order_relaxed),
                .made_room = made_room_.load(std::memory_order_relaxed),
                .incomplete_calls = incomplete_calls_.load(std::memory_order_relaxed)};
  for (size_t i = 0; i < counts.closed.size(); ++i)
    counts.closed[i] = closed_[i].load(std::memory_order_relaxed);
  return counts;
}

void ConnectionGuard::Collect(MetricWriter& writer) const {
  const Counts now = counts();
  writer.Gauge("millrace_connections", "gRPC connections that are open.", now.open);
  MetricWriter::Family closed = writer.Counters(
      "millrace_connections_closed_total",
      "gRPC connections that the server closed: refused because too many were open, to make room "
      "for others as they had begun no call, or because of what their clients sent.");
  closed.Add(now.refused, {{"reason", "refused"}});
  closed.Add(now.made_room, {{"reason", "made_room"}});
  for (size_t i = 1; i < now.closed.size(); ++i)
    closed.Add(now.closed[i], {{"reason", std::string(ToString(static_cast<FrameAbuse>(i)))}});
  writer.Counter(
      "millrace_incomplete_calls_refused_total",
      "gRPC calls that were refused because too many waited for requests that did not arrive.",
      now.incomplete_calls);
}

}  // namespace millrace::server
