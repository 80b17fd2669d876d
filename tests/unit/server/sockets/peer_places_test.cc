#include "server/sockets/peer_places.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/peer_at.h"

namespace millrace {
namespace {

TEST(PeerPlacesTest, EachPeerHasItsOwnPlaces) {
  PeerPlaces places(2);
  PeerPlaces::Place first = places.TryEnter(testing::PeerAt("192.0.2.1"));
  const PeerPlaces::Place second = places.TryEnter(testing::PeerAt("192.0.2.1"));
  EXPECT_TRUE(first.held());
  EXPECT_TRUE(second.held());
  EXPECT_FALSE(places.TryEnter(testing::PeerAt("192.0.2.1")).held());
  EXPECT_TRUE(places.TryEnter(testing::PeerAt("192.0.2.2")).held());
  // A place that was refused takes none with it.
  EXPECT_FALSE(places.TryEnter(testing::PeerAt("192.0.2.1")).held());
  first = PeerPlaces::Place();
  EXPECT_TRUE(places.TryEnter(testing::PeerAt("192.0.2.1")).held());
}

TEST(PeerPlacesTest, AllTogetherAreBounded) {
  PeerPlaces places(2, 3);
  std::vector<PeerPlaces::Place> held;
  for (const char* address : {"192.0.2.1", "192.0.2.1", "192.0.2.2"})
    held.push_back(places.TryEnter(testing::PeerAt(address)));
  EXPECT_EQ(places.held(), 3U);
  // The peer's own bound is named where both are reached.
  EXPECT_EQ(places.TryEnter(testing::PeerAt("192.0.2.1")).full(), PeerPlaces::Full::kOfPeer);
  EXPECT_EQ(places.TryEnter(testing::PeerAt("192.0.2.2")).full(), PeerPlaces::Full::kAll);
  held.pop_back();
  EXPECT_EQ(places.held(), 2U);
  EXPECT_EQ(places.TryEnter(testing::PeerAt("192.0.2.2")).full(), PeerPlaces::Full::kNo);
}

TEST(PeerPlacesTest, APeerCrowdsThoseThatHaveTwoPlacesFewer) {
  PeerPlaces places(9);
  std::vector<PeerPlaces::Place> held;
  EXPECT_FALSE(places.Crowding(testing::PeerAt("192.0.2.3")));
  for (const char* address : {"192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.2"})
    held.push_back(places.TryEnter(testing::PeerAt(address)));
  EXPECT_EQ(places.Crowding(testing::PeerAt("192.0.2.3")), testing::PeerAt("192.0.2.2"));
  EXPECT_EQ(places.Crowding(testing::PeerAt("192.0.2.1")), testing::PeerAt("192.0.2.2"));
  EXPECT_FALSE(places.Crowding(testing::PeerAt("192.0.2.2")));
  held.pop_back();
  EXPECT_FALSE(places.Crowding(testing::PeerAt("192.0.2.1")));
  EXPECT_TRUE(places.Crowding(testing::PeerAt("192.0.2.3")));
}

TEST(PeerPlacesTest, PeersWithoutAPlaceAreForgotten) {
  PeerPlaces places(2);
  const PeerPlaces::Place stays = places.TryEnter(testing::PeerAt("192.0.2.1"));
  for (int i = 0; i < 100; ++i) places.TryEnter(testing::PeerAt("198.51.100." + std::to_string(i)));
  EXPECT_EQ(places.peers(), 1U);
}

TEST(PeerPlacesTest, APlaceMovesWithItsOwner) {
  PeerPlaces places(1);
  PeerPlaces::Place outer;
  {
    PeerPlaces::Place inner = places.TryEnter(testing::PeerAt("192.0.2.1"));
    outer = std::move(inner);
  }
  EXPECT_FALSE(places.TryEnter(testing::PeerAt("192.0.2.1")).held());
}

}  // namespace
}  // namespace millrace
