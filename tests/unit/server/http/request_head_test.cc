#include "server/http/request_head.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "models/core/strings.h"

namespace millrace {
namespace {

TEST(RequestHeadTest, EndsWithAnEmptyLine) {
  const std::string head = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(HeadSize(head, 0), head.size());
  EXPECT_EQ(HeadSize(head + "body\r\n\r\n", 0), head.size());
  EXPECT_EQ(HeadSize("", 0), 0U);
  // A head that comes a byte at a time is searched where it grew.
  for (size_t size = 1; size < head.size(); ++size)
    EXPECT_EQ(HeadSize(head.substr(0, size), size - 1), 0U) << size;
  for (size_t searched = 0; searched < head.size(); ++searched)
    EXPECT_EQ(HeadSize(head, searched), head.size()) << searched;
}

TEST(RequestHeadTest, TellsMethodAndPath) {
  const std::string head = "GET /a/b?c=d HTTP/1.1\r\nHost: x y\r\n\r\n";
  EXPECT_EQ(MethodOf(head), "GET");
  EXPECT_EQ(PathOf(head), "/a/b");
  for (const char* odd : {"", "\r\n\r\n", "GET", "GET\r\n /x\r\n\r\n"})
    EXPECT_EQ(PathOf(odd), "") << odd;
}

TEST(RequestHeadTest, MayComeBehindEmptyLines) {
  const auto dropped = [](std::string received) {
    DropEmptyLines(received);
    return received;
  };
  EXPECT_EQ(dropped("\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n"), "GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(dropped("\r\n\r"), "\r");
  EXPECT_EQ(dropped("\nGET"), "\nGET");
}

TEST(RequestHeadTest, BeginsWithAMethod) {
  for (const char* received : {"", "\r", "G", "get"}) EXPECT_TRUE(MayBeginRequest(received));
  for (const char* received : {"\x16\x03\x01", " GET", "\n", "\rG", "{", "\xff"})
    EXPECT_FALSE(MayBeginRequest(received)) << received;
  EXPECT_FALSE(MayBeginRequest(std::string_view("\0", 1)));
}

TEST(RequestHeadTest, NamesAHostWithOrWithoutAPort) {
  const auto parses = [](std::string_view host) {
    return ParseRequestHead(StrCat("GET / HTTP/1.1\r\nHost: ", host, "\r\n\r\n")).ok();
  };
  for (const char* host : {"", "localhost", "localhost:", "a_b.example:8000", "127.0.0.1:65535",
                           "[::1]", "[::1]:80", "[fe80::1%25eth0]:80"})
    EXPECT_TRUE(parses(host)) << host;
  for (const char* host : {"127.0.0.1:65536", "localhost:abc", "localhost:-1", "a:80:80", "::1",
                           "[::1", "[::1]80", "[::1]:x", "a]", "a[b]", "[", "a@b"})
    EXPECT_FALSE(parses(host)) << host;
}

TEST(RequestHeadTest, IsOfAnyVersionThatBeginsWith1) {
  const auto parsed = [](const std::string& version) {
    return ParseRequestHead(StrCat("GET / ", version, "\r\nHost: x\r\n\r\n"));
  };
  EXPECT_TRUE(parsed("HTTP/1.0")->is_http_1_0);
  for (const char* version : {"HTTP/1.1", "HTTP/1.2", "HTTP/1.9"}) {
    ASSERT_TRUE(parsed(version).ok()) << version;
    EXPECT_FALSE(parsed(version)->is_http_1_0) << version;
  }
  for (const char* version : {"HTTP/2.0", "HTTP/3.0", "HTTP/0.9"})
    EXPECT_TRUE(absl::IsUnimplemented(parsed(version).status())) << version;
  for (const char* version : {"HTTP/1", "HTTP/1.10", "http/1.1", "HTTP/1.x", "HTTP/11"})
    EXPECT_TRUE(absl::IsInvalidArgument(parsed(version).status())) << version;
}

}  // namespace
}  // namespace millrace
