#include "server/net/address_policy.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace {
namespace {

TEST(HostPortTest, Splits) {
  EXPECT_EQ(ParseHostPort("127.0.0.1:8001")->host, "127.0.0.1");
  EXPECT_EQ(ParseHostPort("127.0.0.1:8001")->port, 8001);
  EXPECT_EQ(ParseHostPort("[::1]:0")->host, "::1");
  EXPECT_EQ(ParseHostPort("my-host.example:65535")->port, 65535);
  EXPECT_EQ(ParseHostPort(":80")->host, "0.0.0.0");
  EXPECT_EQ(ParseHostPort("*:80")->host, "0.0.0.0");
}

TEST(HostPortTest, RefusesWhatIsAmbiguous) {
  for (const char* text :
       {"", "host", "host:", "host:x", "host:-1", "host:65536", "host:80 ", "::1:80", "[::1]",
        "[::1:80", "[host]:80", "http://host:80", "a/b:80", "a b:80"}) {
    EXPECT_EQ(ParseHostPort(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(ListenAddressTest, IsAPortOrAFile) {
  EXPECT_EQ(ParseListenAddress("[::1]:80")->tcp.host, "::1");
  EXPECT_EQ(ParseListenAddress("[::1]:80")->tcp.port, 80);
  EXPECT_EQ(ParseListenAddress("[::1]:80")->socket_file, "");
  EXPECT_EQ(ParseListenAddress("unix:/run/a b:1")->socket_file, "/run/a b:1");
  EXPECT_EQ(ParseListenAddress("unix:///run/a")->socket_file, "/run/a");
  EXPECT_EQ(ParseListenAddress("unix:relative")->socket_file, "relative");
  const std::string longest(MaxSocketPath(), 'a');
  EXPECT_EQ(ParseListenAddress("unix:" + longest)->socket_file, longest);
  for (const std::string& text :
       {std::string("unix:"), std::string("unix://host/run/a"), "unix:" + longest + "a",
        std::string("unix:/a\0b", 9), std::string("unix:@a"), std::string("unix-abstract:a"),
        std::string("host")}) {
    EXPECT_EQ(ParseListenAddress(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(HostPortTest, ToStringIsReadBack) {
  EXPECT_EQ(ToString({"::1", 80}), "[::1]:80");
  EXPECT_EQ(ToString({"localhost", 0}), "localhost:0");
}

TEST(LoopbackTest, OnlyWhatThisMachineAloneCanReach) {
  for (const char* text :
       {"127.0.0.1:1", "127.255.0.9:1", "[::1]:1", "[0:0:0:0:0:0:0:1]:1", "[::ffff:127.0.0.1]:1",
        "localhost:1", "LocalHost:1", "unix:/run/millrace.sock", "unix:relative"}) {
    EXPECT_TRUE(IsLoopbackAddress(text)) << text;
  }
  for (const char* text : {"0.0.0.0:1", "[::]:1", ":1", "*:1", "10.0.0.1:1", "128.0.0.1:1",
                           "[::ffff:10.0.0.1]:1", "host:1", "localhost.example:1",
                           "127.0.0.1.example:1", "127.1:1", "nonsense", "dns:///localhost:1"}) {
    EXPECT_FALSE(IsLoopbackAddress(text)) << text;
  }
}

}  // namespace
}  // namespace millrace
