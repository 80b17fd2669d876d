#pragma once

#include <sys/uio.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/http2/frame_guard.h"
#include "server/http2/peer.h"
#include "server/http2/peer_penalties.h"

namespace millrace::server {

// 32 bytes that a TLS client makes up for each connection; they tell which one a session belongs
// to.
using TlsRandom = std::array<uint8_t, 32>;

// A connection whose bytes are looked at as gRPC reads them.
class WatchedConnection {
 public:
  // Calls that its client has begun. Any thread.
  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }

 private:
  friend class ConnectionGuard;
  // A TLS record's and a handshake message's header, the version, then the random.
  static constexpr size_t kHelloBytes = 11 + std::tuple_size_v<TlsRandom>;

  TlsRandom Random() const;  // once all of the hello is there

  std::atomic<uint64_t> calls_{0};
  // Those below belong to the thread that reads the connection, of which gRPC has one at a time.
  Peer peer_;
  FrameGuard frames_{FrameLimits()};
  bool watched_ = false;
  std::array<uint8_t, kHelloBytes> hello_ = {};
  size_t hello_filled_ = 0;
};

// Sees every byte that gRPC reads from its clients before gRPC does (read_hooks.cc), and has gRPC
// see a broken connection instead where a client abuses HTTP/2. One for the process, since hooks
// know but descriptors and sessions. Thread-safe.
class ConnectionGuard {
 public:
  struct Counts {
    int64_t open = 0;
    uint64_t refused = 0;
    uint64_t made_room = 0;
    uint64_t headers = 0;  // closed by what their clients did
    uint64_t resets = 0;
    uint64_t control_frames = 0;
    uint64_t incomplete_calls = 0;  // refused
  };

  static ConnectionGuard& Process();
  ConnectionGuard(const ConnectionGuard&) = delete;
  ConnectionGuard& operator=(const ConnectionGuard&) = delete;

  // Before the first connection. tls: what the sockets carry is encrypted.
  void Configure(const FrameLimits& limits, bool tls);

  // Looks at what gRPC receives by this descriptor from now on; before gRPC has it. Nobody needs to
  // say when the connection has ended: of others that get its number, none is read by hooked
  // functions. Null where reads are not hooked; lives for ever, as another connection some day.
  const WatchedConnection* Watch(int fd, const Peer& peer) MILLRACE_EXCLUDES(mu_);

  // Called with what was read from a socket: `size` bytes in these pieces. Any descriptor. Returns
  // false if gRPC must not see them.
  bool OnReceived(int fd, std::span<const iovec> pieces, size_t size) MILLRACE_EXCLUDES(mu_);
  // The connection of a TLS session, null when none began with that.
  WatchedConnection* FindTls(const TlsRandom& random) MILLRACE_EXCLUDES(mu_);
  // Called with decrypted bytes of a connection. Returns false if gRPC must not see them.
  bool OnReceived(WatchedConnection& connection, std::span<const char> bytes);

  // How long a new connection of the peer has to wait.
  Duration Delay(const Peer& peer, TimePoint now) const { return penalties_.Delay(peer, now); }
  // What the listener does, for the counts.
  void SetOpen(size_t connections) { open_.store(static_cast<int64_t>(connections)); }
  void CountRefused() { refused_.fetch_add(1, std::memory_order_relaxed); }
  // A call was refused since its request did not arrive.
  void CountIncompleteCall() { incomplete_calls_.fetch_add(1, std::memory_order_relaxed); }
  void CountMadeRoom() { made_room_.fetch_add(1, std::memory_order_relaxed); }
  Counts counts() const;

  // Whether gRPC's reads do come here.
  bool hooked() const { return hooked_.load(std::memory_order_relaxed); }
  void SetHooked() { hooked_.store(true, std::memory_order_relaxed); }

 private:
  // Connections by descriptor, in chunks that stay for ever: hooks look them up without a lock.
  static constexpr size_t kChunk = 256;
  static constexpr size_t kChunks = 4096;
  using Chunk = std::array<WatchedConnection, kChunk>;

  ConnectionGuard() = default;
  WatchedConnection* Find(int fd) const;
  void ReadHello(WatchedConnection& connection, std::span<const char> bytes) MILLRACE_EXCLUDES(mu_);
  void Forget(WatchedConnection& connection) MILLRACE_REQUIRES(mu_);
  void OnAbuse(const WatchedConnection& connection, FrameAbuse abuse, TimePoint now);

  FrameLimits limits_;
  bool tls_ = false;
  std::atomic<bool> hooked_{false};
  PeerPenalties penalties_;
  std::atomic<int64_t> open_{0};
  std::atomic<uint64_t> refused_{0};
  std::atomic<uint64_t> made_room_{0};
  std::atomic<uint64_t> incomplete_calls_{0};
  std::array<std::atomic<uint64_t>, 4> closed_ = {};  // by FrameAbuse
  std::array<std::atomic<Chunk*>, kChunks> chunks_ = {};

  Mutex mu_;
  std::map<TlsRandom, WatchedConnection*> by_random_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
