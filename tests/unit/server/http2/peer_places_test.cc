#include "server/http2/peer_places.h"

#include <gtest/gtest.h>

#include <utility>

namespace millrace::server {
namespace {

TEST(PeerPlacesTest, EachPeerHasItsOwnPlaces) {
  PeerPlaces places(2);
  PeerPlaces::Place first = places.TryEnter(Peer("192.0.2.1"));
  const PeerPlaces::Place second = places.TryEnter(Peer("192.0.2.1"));
  EXPECT_TRUE(first.held());
  EXPECT_TRUE(second.held());
  EXPECT_FALSE(places.TryEnter(Peer("192.0.2.1")).held());
  EXPECT_TRUE(places.TryEnter(Peer("192.0.2.2")).held());
  // A place that was refused takes none with it.
  EXPECT_FALSE(places.TryEnter(Peer("192.0.2.1")).held());
  first = PeerPlaces::Place();
  EXPECT_TRUE(places.TryEnter(Peer("192.0.2.1")).held());
}

TEST(PeerPlacesTest, APlaceMovesWithItsOwner) {
  PeerPlaces places(1);
  PeerPlaces::Place outer;
  {
    PeerPlaces::Place inner = places.TryEnter(Peer("192.0.2.1"));
    outer = std::move(inner);
  }
  EXPECT_FALSE(places.TryEnter(Peer("192.0.2.1")).held());
}

}  // namespace
}  // namespace millrace::server
