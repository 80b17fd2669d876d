#include "server/control/systemd.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace millrace::server {
namespace {

namespace fs = std::filesystem;

// systemd's side: a datagram socket whose name is in NOTIFY_SOCKET.
class SystemdTest : public ::testing::Test {
 protected:
  SystemdTest() {
    std::string pattern = (fs::temp_directory_path() / "millrace-notify-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~SystemdTest() override {
    if (fd_ >= 0) close(fd_);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    fs::remove_all(folder_);
  }

  void Listen(const std::string& name) {
    fd_ = socket(AF_UNIX, SOCK_DGRAM, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    ASSERT_LT(name.size(), sizeof(address.sun_path));
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    ASSERT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
              0)
        << std::strerror(errno);
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }
  // Returns the message that has arrived; "" for none.
  std::string Received() {
    char bytes[100];
    const ssize_t size = recv(fd_, bytes, sizeof(bytes), MSG_DONTWAIT);
    return size <= 0 ? "" : std::string(bytes, static_cast<size_t>(size));
  }

  std::string folder_;
  int fd_ = -1;
};

TEST_F(SystemdTest, TellsTheStateInOneDatagram) {
  Listen(folder_ + "/notify");
  NotifySystemd("READY=1");
  EXPECT_EQ(Received(), "READY=1");
  NotifySystemd("STOPPING=1");
  EXPECT_EQ(Received(), "STOPPING=1");
  EXPECT_EQ(Received(), "");
}

TEST_F(SystemdTest, PingsOnlyWhereThatIsWaitedFor) {
  Listen(folder_ + "/notify");
  PingSystemd();
  EXPECT_EQ(Received(), "");
  setenv("WATCHDOG_USEC", "30000000", 1);
  PingSystemd();
  EXPECT_EQ(Received(), "WATCHDOG=1");
}

#ifdef __linux__
TEST_F(SystemdTest, KnowsTheAbstractNameSpace) {
  Listen("@millrace-notify-" + std::to_string(getpid()));
  NotifySystemd("READY=1");
  EXPECT_EQ(Received(), "READY=1");
}
#endif

TEST_F(SystemdTest, WithoutSystemdDoesNothing) {
  Listen(folder_ + "/notify");
  unsetenv("NOTIFY_SOCKET");
  NotifySystemd("READY=1");
  EXPECT_EQ(Received(), "");
}

TEST_F(SystemdTest, IgnoresWhatIsNoAddress) {
  for (const std::string& name :
       {std::string(), std::string("relative"), folder_ + "/nobody", "/" + std::string(500, 'x')}) {
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    NotifySystemd("READY=1");
  }
}

}  // namespace
}  // namespace millrace::server
