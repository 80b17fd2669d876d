#include "server/http/request_head.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace millrace
