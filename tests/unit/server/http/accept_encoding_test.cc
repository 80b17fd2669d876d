#include "server/http/accept_encoding.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace {
namespace {

bool Accepts(const std::string& value) {
  return AcceptsEncoding("GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding:" + value + "\r\n\r\n",
                         "gzip");
}

TEST(AcceptsEncodingTest, TheCodingIsNamed) {
  EXPECT_TRUE(Accepts(" gzip"));
  EXPECT_TRUE(Accepts("br, GZIP ;q=0.5"));
  EXPECT_TRUE(Accepts("deflate,gzip;Q=1.0, *;q=0"));
  EXPECT_FALSE(Accepts(" gzip;q=0"));
  EXPECT_FALSE(Accepts(" gzip;q=0.000, *"));
  EXPECT_FALSE(Accepts(" br, deflate"));
  EXPECT_FALSE(Accepts(" x-gzip"));
  EXPECT_FALSE(Accepts(" gzip;level=1"));
  EXPECT_FALSE(Accepts(""));
}

TEST(AcceptsEncodingTest, AStarStandsForWhatIsNotNamed) {
  EXPECT_TRUE(Accepts(" br, *"));
  EXPECT_FALSE(Accepts(" br, *;q=0"));
}

TEST(AcceptsEncodingTest, WithoutTheHeaderNothingIsAccepted) {
  EXPECT_FALSE(AcceptsEncoding("GET /gzip HTTP/1.1\r\nTE: gzip\r\n\r\n", "gzip"));
  EXPECT_FALSE(AcceptsEncoding("", "gzip"));
}

TEST(AcceptsEncodingTest, NamesOfHeadersHaveNoCase) {
  EXPECT_TRUE(AcceptsEncoding("GET / HTTP/1.1\naccept-encoding: gzip\n\n", "gzip"));
}

}  // namespace
}  // namespace millrace
