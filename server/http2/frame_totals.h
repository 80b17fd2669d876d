#pragma once

#include <atomic>
#include <cstdint>

namespace millrace::server {

// Counts what the clients of one address have, or those of all addresses. Any thread.
struct ClientTotals {
  std::atomic<int64_t> calls{0};           // open calls
  std::atomic<uint64_t> message_bytes{0};  // see MessageBytes
};

// Counts of all connections of a process together. Any thread.
struct FrameTotals : ClientTotals {
  std::atomic<uint64_t> shared_message_bytes{0};  // beyond each connection's own
};

// Decides whether an address may have so much of what all addresses share: no more than it leaves
// to the others. One address alone gets half, two get a third each, and whoever comes last finds
// room. all: what all addresses have, this one included.
template <typename Number>
constexpr bool IsFairShare(Number of_address, Number all, Number limit) {
  return of_address + all <= limit;
}

// Decides whether an address has more calls open than it may have. It may have such a small part of
// the limit whatever others have: they could keep it out otherwise, if they are many.
constexpr int64_t kAlwaysOpenPart = 2048;
inline bool IsCrowded(const ClientTotals& address, const ClientTotals& all, int64_t limit) {
  const int64_t of_address = address.calls.load(std::memory_order_relaxed);
  return of_address > limit / kAlwaysOpenPart &&
         !IsFairShare(of_address, all.calls.load(std::memory_order_relaxed), limit);
}

}  // namespace millrace::server
