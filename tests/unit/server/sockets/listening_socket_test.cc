#include "server/sockets/listening_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "models/core/strings.h"
#include "server/sockets/socket_address.h"
#include "tests/fakes/temporary_folder.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using Sockets = std::vector<ListeningSocket>;

Sockets Listening(const ListenAddress& address) {
  absl::StatusOr<Sockets> sockets = ListeningSocket::BindAll(address);
  EXPECT_TRUE(sockets.ok()) << sockets.status();
  if (!sockets.ok()) return {};
  for (const ListeningSocket& socket : *sockets) EXPECT_TRUE(socket.Listen().ok());
  return *std::move(sockets);
}

std::string Error(const ListenAddress& address) {
  const absl::StatusOr<Sockets> sockets = ListeningSocket::BindAll(address);
  EXPECT_EQ(sockets.status().code(), absl::StatusCode::kUnavailable);
  return std::string(Message(sockets.status()));
}

bool HasIpv6() { return ListeningSocket::BindAll({{"::1", 0}, ""}).ok(); }

TEST(ListeningSocketTest, LocalhostIsBothOfItsAddresses) {
  const Sockets sockets = Listening({{"LocalHost", 0}, ""});
  std::vector<std::string> hosts;
  for (const ListeningSocket& socket : sockets) {
    hosts.push_back(LocalAddress(socket.descriptor())->host);
    EXPECT_EQ(socket.port(), sockets.front().port());
    EXPECT_GT(socket.port(), 0);
  }
  std::vector<std::string> expected = {"127.0.0.1"};
  if (HasIpv6()) expected.push_back("::1");
  EXPECT_EQ(hosts, expected);
}

TEST(ListeningSocketTest, APortThatIsTakenAtOneAddressOfAHostIsNotShared) {
  if (!HasIpv6()) GTEST_SKIP() << "the machine has no IPv6";
  // Connections that have ended may still hold a port at the one address that is free at the other.
  Sockets other = Listening({{"localhost", 0}, ""});
  ASSERT_EQ(other.size(), size_t{2});
  other.erase(other.begin());
  const int port = other.front().port();
  EXPECT_EQ(Error({{"localhost", port}, ""}),
            StrCat("cannot listen on [::1]:", port, ": Address already in use"));
  // Nothing is left behind at the other address.
  EXPECT_EQ(Listening({{"127.0.0.1", port}, ""}).size(), size_t{1});
}

TEST(ListeningSocketTest, ConnectionsToAPortAreRefusedUntilItListens) {
  absl::StatusOr<Sockets> bound = ListeningSocket::BindAll({{"127.0.0.1", 0}, ""});
  ASSERT_TRUE(bound.ok()) << bound.status();
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(bound->front().port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto connects = [&] {
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    const int result = connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    close(client);
    return result == 0;
  };
  EXPECT_FALSE(connects());
  ASSERT_TRUE(bound->front().Listen().ok());
  EXPECT_TRUE(connects());
}

class SocketFileTest : public ::testing::Test {
 protected:
  static int Connect(const std::string& path) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    const int client = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return client;
    close(client);
    return -1;
  }

  const testing::TemporaryFolder folder_;
  const std::string path_ = (folder_.path() / "socket").string();
  const ListenAddress address_{{}, path_};
};

TEST_F(SocketFileTest, IsThereAsLongAsTheSocketIs) {
  {
    const Sockets sockets = Listening(address_);
    ASSERT_EQ(sockets.size(), size_t{1});
    EXPECT_EQ(sockets.front().port(), 0);
    EXPECT_EQ(LocalAddress(sockets.front().descriptor())->host, "unix:" + path_);
    const int client = Connect(path_);
    EXPECT_GE(client, 0);
    const int accepted = sockets.front().Accept();
    EXPECT_GE(accepted, 0);
    EXPECT_EQ(ToString(*PeerAddress(accepted)), "unix:");
    close(accepted);
    close(client);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SocketFileTest, OneThatAProcessLeftBehindIsReplaced) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, path_.size());
  const int gone = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(gone, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  close(gone);
  ASSERT_TRUE(std::filesystem::exists(path_));
  const Sockets sockets = Listening(address_);
  const int client = Connect(path_);
  EXPECT_GE(client, 0);
  close(client);
}

TEST_F(SocketFileTest, OneOfAProcessThatListensIsLeftAlone) {
  const Sockets first = Listening(address_);
  EXPECT_EQ(Error(address_), "cannot listen: another process listens there");
  const int client = Connect(path_);
  EXPECT_GE(client, 0);
  close(client);
}

TEST_F(SocketFileTest, OneThatOnlyWaitsToListenIsNotTakenForStale) {
  absl::StatusOr<Sockets> first = ListeningSocket::BindAll(address_);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(Error(address_), "cannot listen: another process listens there");
}

TEST_F(SocketFileTest, OtherFilesAreLeftAlone) {
  std::ofstream(path_) << "precious";
  EXPECT_EQ(Error(address_), "cannot listen: there is a file that is no socket");
  EXPECT_EQ(std::filesystem::file_size(path_), size_t{8});
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("nothing", path_);
  EXPECT_EQ(Error(address_), "cannot listen: there is a file that is no socket");
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
}

TEST_F(SocketFileTest, OneThatTookItsPlaceIsNotRemoved) {
  Sockets first = Listening(address_);
  std::filesystem::remove(path_);
  const Sockets second = Listening(address_);
  first.clear();
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(SocketFileTest, AFolderThatIsMissingIsNamedAsSuch) {
  EXPECT_THAT(Error({{}, path_ + "/socket"}), HasSubstr("No such file or directory"));
}

TEST_F(SocketFileTest, TheUmaskDecidesWhoMayConnect) {
  const mode_t before = umask(0007);
  const Sockets sockets = Listening(address_);
  umask(before);
  struct stat file = {};
  ASSERT_EQ(stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, mode_t{0770});
}

}  // namespace
}  // namespace millrace
