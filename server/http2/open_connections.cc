#include "server/http2/open_connections.h"

#include <chrono>
#include <optional>

namespace millrace::server {
namespace {

// Honest clients take less time from their connection to their first call.
constexpr Duration kTimeToBegin = std::chrono::seconds(1);

}  // namespace

Place FindPlace(const std::vector<OpenConnection>& open, const Peer& newcomer,
                const ConnectionLimits& limits, TimePoint now) {
  const auto idle = [&](const OpenConnection& one) {
    return !one.began && now - one.accepted >= kTimeToBegin;
  };
  const bool all_taken = static_cast<int>(open.size()) >= limits.connections;
  int of_peer = 0;
  std::optional<size_t> oldest;
  std::optional<size_t> oldest_of_peer;
  for (size_t i = 0; i < open.size(); ++i) {
    const bool same_peer = open[i].peer == newcomer;
    of_peer += same_peer;
    if (!idle(open[i])) continue;
    if (!oldest || open[i].accepted < open[*oldest].accepted) oldest = i;
    if (same_peer && (!oldest_of_peer || open[i].accepted < open[*oldest_of_peer].accepted))
      oldest_of_peer = i;
  }
  const bool peer_is_full = of_peer >= limits.connections_per_peer;
  if (!all_taken && !peer_is_full) return {};
  const std::optional<size_t> closed = peer_is_full ? oldest_of_peer : oldest;
  if (closed) return {.answer = Place::Answer::kMakeRoom, .closed = *closed};
  return {.answer = peer_is_full ? Place::Answer::kTooManyOfPeer : Place::Answer::kTooMany};
}

}  // namespace millrace::server
