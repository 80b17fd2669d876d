#include "tests/load/loadgen/http_response.h"

#include <gtest/gtest.h>

#include <string_view>

namespace millrace::loadgen {
namespace {

// Reads an answer in pieces of that size.
bool Read(HttpResponse& response, std::string_view answer, size_t piece) {
  response.Reset();
  for (size_t at = 0; at < answer.size(); at += piece) {
    EXPECT_FALSE(response.done());
    if (!response.Feed(answer.substr(at, piece))) return false;
  }
  return response.done();
}

constexpr std::string_view kWithLength =
    "HTTP/1.1 200 OK\r\ncontent-length: 12\r\nInference-Header-Content-Length: 2\r\n"
    "Keep-Alive: timeout=75\r\n\r\n{}\r\n\r\nbinary";
constexpr std::string_view kInChunks =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1A\r\n"
    "abcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n";

TEST(HttpResponseTest, ReadsABodyOfALengthInAnyPieces) {
  HttpResponse response;
  for (size_t piece = 1; piece <= kWithLength.size(); ++piece) {
    ASSERT_TRUE(Read(response, kWithLength, piece)) << piece;
    EXPECT_EQ(response.status(), 200);
    EXPECT_EQ(response.body(), "{}\r\n\r\nbinary");
    EXPECT_EQ(response.json_bytes(), 2U);
  }
}

TEST(HttpResponseTest, ReadsChunksInAnyPieces) {
  HttpResponse response;
  for (size_t piece = 1; piece <= kInChunks.size(); ++piece) {
    ASSERT_TRUE(Read(response, kInChunks, piece)) << piece;
    EXPECT_EQ(response.body(), "helloabcdefghijklmnopqrstuvwxyz");
    EXPECT_EQ(response.json_bytes(), response.body().size());
  }
}

TEST(HttpResponseTest, ReadsErrorsAndEmptyBodies) {
  HttpResponse response;
  EXPECT_TRUE(Read(response, "HTTP/1.1 429 Too Many\r\nContent-Length: 2\r\n\r\nno", 7));
  EXPECT_EQ(response.status(), 429);
  EXPECT_TRUE(Read(response, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 7));
  EXPECT_EQ(response.body(), "");
}

TEST(HttpResponseTest, RefusesOtherForms) {
  HttpResponse response;
  for (const char* answer :
       {"SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab"}) {
    EXPECT_FALSE(Read(response, answer, 1000)) << answer;
  }
}

}  // namespace
}  // namespace millrace::loadgen
