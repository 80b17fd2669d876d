#include "server/sockets/peer.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "mps_runtime/base/file.h"
#include "tests/fakes/peer_at.h"

namespace millrace {
namespace {

using testing::PeerAt;

TEST(PeerTest, IsAnAddressWithoutItsPort) {
  EXPECT_EQ(PeerAt("192.0.2.1", 1), PeerAt("192.0.2.1", 2));
  EXPECT_NE(PeerAt("192.0.2.1"), PeerAt("192.0.2.2"));
  EXPECT_EQ(PeerAt("192.0.2.1").ToString(), "192.0.2.1");
}

TEST(PeerTest, IsANetworkOfIpv6) {
  EXPECT_EQ(PeerAt("2001:db8::1"), PeerAt("2001:db8::ffff:1"));
  EXPECT_NE(PeerAt("2001:db8::1"), PeerAt("2001:db8:0:1::1"));
  EXPECT_EQ(PeerAt("2001:db8::1").ToString(), "2001:db8::/64");
}

TEST(PeerTest, Ipv4IsTheSameOverASocketOfIpv6) {
  EXPECT_EQ(PeerAt("::ffff:192.0.2.1"), PeerAt("192.0.2.1"));
  EXPECT_NE(PeerAt("::ffff:192.0.2.1"), PeerAt("::ffff:192.0.2.2"));
}

TEST(PeerTest, NobodyIsNoAddress) {
  EXPECT_NE(Peer(), PeerAt("::1"));
  EXPECT_NE(Peer(), PeerAt("0.0.0.0"));
  EXPECT_NE(Peer(), Peer::OfUser(0));
  EXPECT_EQ(Peer::OfSocket(-1), Peer());
  EXPECT_EQ(Peer().ToString(), "unknown");
  EXPECT_EQ(PeerAt("::1").ToString(), "::/64");
}

TEST(PeerTest, IsAUserOnASocketInTheFileSystem) {
  EXPECT_NE(Peer::OfUser(0), Peer::OfUser(1));
  EXPECT_EQ(Peer::OfUser(1000).ToString(), "unix:uid=1000");
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  EXPECT_EQ(Peer::OfSocket(ends[0]), Peer::OfUser(geteuid()));
  for (const int end : ends) close(end);
}

#ifdef __linux__
// It is the user of the process that connected, not of the one that accepts.
TEST(PeerTest, TwoUsersOfOneSocketAreTwoPeers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  constexpr uid_t kOther = 65533;
  const FileDescriptor server(socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(sa_family_t);  // the system chooses a name, which is no file
  ASSERT_EQ(bind(server.get(), generic, size), 0);
  ASSERT_EQ(listen(server.get(), 2), 0);
  size = sizeof(address);
  ASSERT_EQ(getsockname(server.get(), generic, &size), 0);
  const FileDescriptor first(socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(connect(first.get(), generic, size), 0);
  const FileDescriptor second(socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(seteuid(kOther), 0);
  const int connected = connect(second.get(), generic, size);
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_EQ(connected, 0);
  EXPECT_EQ(Peer::OfSocket(FileDescriptor(accept(server.get(), nullptr, nullptr)).get()),
            Peer::OfUser(0));
  EXPECT_EQ(Peer::OfSocket(FileDescriptor(accept(server.get(), nullptr, nullptr)).get()),
            Peer::OfUser(kOther));
}
#endif

}  // namespace
}  // namespace millrace
