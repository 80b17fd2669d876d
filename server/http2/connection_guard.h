#pragma once

#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/http2/frame_guard.h"
#include "server/http2/frame_totals.h"
#include "server/http2/gradual_end.h"
#include "server/http2/peer_penalties.h"
#include "server/http2/read_turns.h"
#include "server/sockets/peer.h"

namespace millrace::server {

class MetricWriter;

// The 32 random bytes of a TLS client hello, which tell the connection that a session belongs to.
using TlsRandom = std::array<uint8_t, 32>;

// How gRPC waits for a connection: the arguments of epoll_ctl.
struct PollEntry {
  int epoll = -1;
  uint32_t events = 0;
  uint64_t data = 0;
};

// A connection whose bytes the guard checks as gRPC reads them.
class WatchedConnection {
 public:
  // Returns the number of calls that the client has begun. Any thread.
  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  // Returns true if the client has acknowledged the server's SETTINGS. Any thread.
  bool acknowledged() const { return acknowledged_.load(std::memory_order_relaxed); }
  // Returns true if the connection has to end, to make room for the calls of others. Any thread.
  bool must_end() const { return must_end_.load(std::memory_order_relaxed); }
  // Returns the descriptor that gRPC reads. Only for the thread that does.
  int descriptor() const { return descriptor_; }

 private:
  friend class ConnectionGuard;
  // The headers of a TLS record and of a handshake message, the version, then the random bytes.
  static constexpr size_t kHelloBytes = 11 + std::tuple_size_v<TlsRandom>;

  TlsRandom Random() const;  // valid once the whole hello is there

  std::atomic<uint64_t> calls_{0};
  std::atomic<bool> acknowledged_{false};
  std::atomic<bool> must_end_{false};
  std::atomic<bool> watched_{false};
  // One thread reads a connection and perhaps another one writes it.
  Mutex mu_;
  std::optional<FrameGuard> frames_ MILLRACE_GUARDED_BY(mu_);  // set once it is watched
  std::optional<GradualEnd> end_ MILLRACE_GUARDED_BY(mu_);     // set once it ends
  bool has_turn_ MILLRACE_GUARDED_BY(mu_) = false;  // over TLS: it may read a part of end_
  ReadTurns turns_ MILLRACE_GUARDED_BY(mu_);
  std::optional<PollEntry> polled_ MILLRACE_GUARDED_BY(mu_);
  bool has_left_ MILLRACE_GUARDED_BY(mu_) = false;      // its client
  bool is_decrypted_ MILLRACE_GUARDED_BY(mu_) = false;  // its TLS handshake is over
  size_t encrypted_ MILLRACE_GUARDED_BY(mu_) = 0;       // bytes that gRPC has and TLS does not
  bool is_withheld_ MILLRACE_GUARDED_BY(mu_) = false;   // TLS has bytes for the next turn
  bool is_marked_ MILLRACE_GUARDED_BY(mu_) = false;     // gRPC has a byte that means nothing
  // The members below belong to the thread that reads the connection; gRPC has one at a time.
  int descriptor_ = -1;
  Peer peer_;
  std::array<uint8_t, kHelloBytes> hello_ = {};
  size_t hello_filled_ = 0;
};

// Sees every byte that gRPC reads from its clients before gRPC does (socket_hooks.cc), and makes
// gRPC see a broken connection where a client abuses HTTP/2. There is one in a process, since the
// hooks know only descriptors and sessions. Thread-safe.
class ConnectionGuard {
 public:
  struct Counts {
    int64_t open = 0;
    uint64_t refused = 0;
    uint64_t made_room = 0;
    std::array<uint64_t, kFrameAbuses> closed = {};  // by FrameAbuse
    uint64_t incomplete_calls = 0;                   // refused

    // Returns how many connections and calls were ended or refused.
    uint64_t Refusals() const {
      return std::accumulate(closed.begin(), closed.end(), refused + incomplete_calls);
    }
  };

  static ConnectionGuard& Process();
  ConnectionGuard(const ConnectionGuard&) = delete;
  ConnectionGuard& operator=(const ConnectionGuard&) = delete;

  // Must be called before the first connection. tls: the sockets carry encrypted bytes.
  void Configure(const FrameLimits& limits, bool tls);

  // Checks what gRPC receives on this descriptor from now on. Must be called before gRPC has it.
  // Where its number goes to another socket, that one is not read by hooked functions, and what it
  // sends changes nothing. Returns null where reads are not hooked. The result lives for ever and
  // is reused.
  WatchedConnection* Watch(int fd, const Peer& peer) MILLRACE_EXCLUDES(mu_);

  // Returns true for the descriptor of a connection. Any descriptor.
  bool IsWatched(int fd) const { return FindWatched(fd) != nullptr; }
  // Called when gRPC gets to know that the client of a connection has left, with the number of its
  // bytes that nobody will read. Its peer is delayed if they are many. Any descriptor.
  void OnHungUp(int fd, size_t unread);
  // Called when gRPC begins to wait for a descriptor. Any descriptor.
  void OnPolled(int fd, const PollEntry& entry);
  // Called when gRPC has looked which connections can be read.
  void OnRound() { rounds_.fetch_add(1, std::memory_order_relaxed); }
  // Called when this thread goes on from the connection that it has read last, and has done what
  // that had asked for.
  static void EndTurn();
  // Returns how many bytes gRPC may read from a descriptor now. Any descriptor. If it is 0, the
  // connection has had its turn, and `entry` must be polled anew so that it has its next one.
  size_t Allowed(int fd, PollEntry& entry);
  // Returns how many decrypted bytes of a connection gRPC may read now; 0: none before its next
  // turn.
  size_t AllowedDecrypted(WatchedConnection& connection);
  // Called when the TLS of a connection waits for bytes: it has all that gRPC has read.
  void OnDecrypted(WatchedConnection& connection);
  // Keeps the decrypted bytes that TLS has for the connection's next turn, of which gRPC learns by
  // a byte that it must not give to TLS. Returns what must be polled anew so that it has one.
  std::optional<PollEntry> Withhold(WatchedConnection& connection);
  // Returns true if the last read of the connection found that its bytes are withheld.
  bool IsWithheld(WatchedConnection& connection) const;
  // Writes that byte if the connection's bytes were withheld. Returns the number of bytes. Any
  // descriptor.
  size_t ReadMark(int fd, std::span<const iovec> pieces);
  // Return true if gRPC has that byte, and that it has thrown it away.
  bool IsMarked(WatchedConnection& connection) const;
  void Unmark(WatchedConnection& connection);
  // Returns true if the sockets carry encrypted bytes.
  bool tls() const { return tls_; }
  // Called with what was read from a socket: `size` bytes in these pieces. Any descriptor. Returns
  // how many of them gRPC may see; if that is less, the connection has to end. Overwrites messages
  // that gRPC must not keep.
  size_t OnReceived(int fd, std::span<const iovec> pieces, size_t size) MILLRACE_EXCLUDES(mu_);
  // Begins to end the calls of a connection of which nothing more can or must be read. Returns
  // false if they are so few that gRPC may end them at once. Any descriptor.
  bool BeginEnd(int fd);
  bool BeginEnd(WatchedConnection& connection);
  // Returns true if the end of the connection has begun. Any descriptor.
  bool IsEnding(int fd) const;
  bool IsEnding(WatchedConnection& connection) const;
  // Writes what gRPC reads next of a connection that ends. Returns the number of bytes, which is 0
  // if gRPC may see the end. Over TLS it is one that means nothing: it has gRPC ask for decrypted
  // bytes, once for each turn.
  size_t ReadEnd(int fd, std::span<const iovec> pieces);
  // Writes the decrypted bytes of a connection that ends. Returns their number; 0 before its turn.
  size_t ReadEnd(WatchedConnection& connection, std::span<char> bytes);
  // Called with what was written to a socket. Any descriptor.
  void OnSent(int fd, std::span<const iovec> pieces, size_t size);
  // Returns the connection of a TLS session; null if none began with that hello.
  WatchedConnection* FindTls(const TlsRandom& random) MILLRACE_EXCLUDES(mu_);
  // Called with decrypted bytes of a connection. Returns how many of them gRPC may see, as above.
  size_t OnReceived(WatchedConnection& connection, std::span<char> bytes) MILLRACE_EXCLUDES(mu_);
  // Called with the bytes that gRPC has encrypted for the client of a connection.
  void OnSent(WatchedConnection& connection, std::span<const char> bytes);

  // Returns since when a connection that has begun a call serves nobody; see FrameGuard.
  std::optional<TimePoint> IdleSince(WatchedConnection& connection) const;
  // Returns when a call of the connection was last answered, or when the oldest one began.
  TimePoint LastAnswer(WatchedConnection& connection) const;

  // Reports that a connection has ended. Its peer is delayed if it had more calls open than it may
  // cancel at once, as ending a connection cancels them all, or too many end unanswered. closed:
  // gRPC has closed it; if its client had not left, that is for errors, which are abuse: a new one
  // costs far more than they do.
  void OnEnded(WatchedConnection& connection, bool closed, TimePoint now);
  // Sets what is called when a connection has to end; null: nothing. It must be quick.
  void SetOnMustEnd(std::function<void()> on_must_end) MILLRACE_EXCLUDES(mu_);
  // Reports that the listener closes a connection whose client has not acknowledged SETTINGS.
  void OnUnacknowledged(const WatchedConnection& connection, TimePoint now);

  // Returns the time that a new connection of the peer has to wait.
  Duration Delay(const Peer& peer, TimePoint now) const { return penalties_.Delay(peer, now); }
  // Report the listener's actions for the counts.
  void SetOpen(size_t connections) { open_.store(static_cast<int64_t>(connections)); }
  void CountRefused() { refused_.fetch_add(1, std::memory_order_relaxed); }
  // Counts a call that was refused because its request did not arrive.
  void CountIncompleteCall() { incomplete_calls_.fetch_add(1, std::memory_order_relaxed); }
  void CountMadeRoom() { made_room_.fetch_add(1, std::memory_order_relaxed); }
  Counts counts() const;
  void Collect(MetricWriter& writer) const;

  // Returns true if gRPC's reads pass through the hooks.
  bool hooked() const { return hooked_.load(std::memory_order_relaxed); }
  void SetHooked() { hooked_.store(true, std::memory_order_relaxed); }

 private:
  // As many encrypted bytes are read before they are decrypted, since gRPC gives TLS no more at
  // once.
  static constexpr size_t kMostEncrypted = 16 << 10;
  // Connections by descriptor, in chunks that are never freed, because hooks look them up without a
  // lock.
  static constexpr size_t kChunk = 256;
  static constexpr size_t kChunks = 4096;
  using Chunk = std::array<WatchedConnection, kChunk>;

  ConnectionGuard() = default;
  WatchedConnection* Find(int fd) const;
  WatchedConnection* FindWatched(int fd) const;
  // Returns false if these are no bytes of TLS.
  bool ReadHello(WatchedConnection& connection, std::span<const char> bytes) MILLRACE_EXCLUDES(mu_);
  void Forget(WatchedConnection& connection) MILLRACE_REQUIRES(mu_);
  std::shared_ptr<ClientTotals> TotalsOf(const Peer& peer) MILLRACE_REQUIRES(mu_);
  template <typename Function>
  void ForEachOf(const ClientTotals& address, Function function) MILLRACE_REQUIRES(mu_);
  WatchedConnection* LongestUnanswered(const ClientTotals& address) MILLRACE_REQUIRES(mu_);
  void MakeRoom(const ClientTotals& address, TimePoint now) MILLRACE_EXCLUDES(mu_);
  void OnAbuse(const Peer& peer, uint64_t calls, FrameAbuse abuse, TimePoint now);
  void OnOtherProtocol(const Peer& peer, std::string_view reason);

  FrameLimits limits_;
  FrameTotals totals_;
  bool tls_ = false;
  std::atomic<bool> hooked_{false};
  std::atomic<uint64_t> rounds_{0};
  PeerPenalties penalties_;
  std::atomic<int64_t> open_{0};
  std::atomic<uint64_t> refused_{0};
  std::atomic<uint64_t> made_room_{0};
  std::atomic<uint64_t> incomplete_calls_{0};
  std::array<std::atomic<uint64_t>, kFrameAbuses> closed_ = {};  // by FrameAbuse
  std::array<std::atomic<Chunk*>, kChunks> chunks_ = {};

  Mutex mu_;
  std::map<TlsRandom, WatchedConnection*> by_random_ MILLRACE_GUARDED_BY(mu_);
  std::map<Peer, std::weak_ptr<ClientTotals>> addresses_ MILLRACE_GUARDED_BY(mu_);
  size_t most_addresses_ MILLRACE_GUARDED_BY(mu_) = 64;  // until those that left are forgotten
  std::function<void()> on_must_end_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
