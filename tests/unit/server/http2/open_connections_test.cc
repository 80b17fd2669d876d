#include "server/http2/open_connections.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <chrono>

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Answer = Place::Answer;

constexpr ConnectionLimits kConnectionLimits = {.connections = 4, .connections_per_peer = 3};
constexpr TimePoint kNow{std::chrono::hours(1)};

Peer MakePeer(uint32_t number) {
  sockaddr_storage storage = {};
  storage.ss_family = AF_INET;
  reinterpret_cast<sockaddr_in&>(storage).sin_addr.s_addr = htonl(number);
  return Peer(storage);
}

OpenConnection Open(uint32_t peer, Duration age, bool began) {
  return {.fd = 0, .peer = MakePeer(peer), .accepted = kNow - age, .due = kNow, .began = began};
}

Place Find(const std::vector<OpenConnection>& open, uint32_t newcomer) {
  return FindPlace(open, MakePeer(newcomer), kConnectionLimits, kNow);
}

TEST(FindPlaceTest, IsFreeBelowTheLimits) {
  EXPECT_EQ(Find({}, 1).answer, Answer::kFree);
  EXPECT_EQ(Find({Open(1, seconds(9), false), Open(1, seconds(9), false)}, 1).answer,
            Answer::kFree);
  EXPECT_EQ(
      Find({Open(1, seconds(9), false), Open(1, seconds(9), false), Open(1, seconds(9), false)}, 2)
          .answer,
      Answer::kFree);
}

TEST(FindPlaceTest, IsRefusedWhereAllAreUsed) {
  EXPECT_EQ(Find({Open(1, seconds(9), true), Open(2, seconds(9), true), Open(3, seconds(9), true),
                  Open(4, seconds(9), true)},
                 5)
                .answer,
            Answer::kTooMany);
  EXPECT_EQ(
      Find({Open(1, seconds(9), true), Open(1, seconds(9), true), Open(1, seconds(9), true)}, 1)
          .answer,
      Answer::kTooManyOfPeer);
}

TEST(FindPlaceTest, TheOldestThatNeverBeganACallMakesRoom) {
  const Place place = Find({Open(1, seconds(9), true), Open(2, seconds(5), false),
                            Open(3, seconds(6), false), Open(4, seconds(9), true)},
                           5);
  EXPECT_EQ(place.answer, Answer::kMakeRoom);
  EXPECT_EQ(place.closed, 2U);
}

TEST(FindPlaceTest, ANewOneHasAWhileToBegin) {
  EXPECT_EQ(Find({Open(1, milliseconds(999), false), Open(2, seconds(0), false),
                  Open(3, milliseconds(10), false), Open(4, seconds(9), true)},
                 5)
                .answer,
            Answer::kTooMany);
}

TEST(FindPlaceTest, APeerThatIsFullMakesRoomItself) {
  const Place place = Find({Open(2, seconds(9), false), Open(1, seconds(3), false),
                            Open(1, seconds(4), true), Open(1, seconds(5), true)},
                           1);
  EXPECT_EQ(place.answer, Answer::kMakeRoom);
  EXPECT_EQ(place.closed, 1U);
  EXPECT_EQ(Find({Open(2, seconds(9), false), Open(1, seconds(3), true), Open(1, seconds(4), true),
                  Open(1, seconds(5), true)},
                 1)
                .answer,
            Answer::kTooManyOfPeer);
}

}  // namespace
}  // namespace millrace::server
