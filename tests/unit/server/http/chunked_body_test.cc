#include "server/http/chunked_body.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace millrace {
namespace {

// Gives a body its bytes in pieces of that size. Returns how many it took.
size_t DecodeInPieces(ChunkedBody& chunks, std::string_view bytes, size_t piece,
                      std::string& body) {
  size_t taken = 0;
  while (taken < bytes.size()) {
    const std::string_view next = bytes.substr(taken, piece);
    const size_t count = chunks.Decode(next, body);
    taken += count;
    if (count < next.size()) break;
  }
  return taken;
}

TEST(ChunkedBodyTest, IsTheSameHoweverItArrives) {
  const std::string_view bytes =
      "3;name=\"a;b\"\r\nabc\r\nA ;x\r\n0123456789\r\n000\r\nSum: 1\r\nB:\r\n\r\nGET /";
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    ChunkedBody chunks(13);
    std::string body;
    EXPECT_EQ(DecodeInPieces(chunks, bytes, piece, body), bytes.size() - 5) << piece;
    EXPECT_TRUE(chunks.done()) << piece;
    EXPECT_EQ(chunks.refusal(), 0) << piece;
    EXPECT_EQ(body, "abc0123456789") << piece;
  }
}

TEST(ChunkedBodyTest, IsRefusedAtTheFirstByteThatIsWrong) {
  const std::string long_extension = "1;" + std::string(2000, 'x');
  std::string trailers = "0\r\n";
  for (int i = 0; i < 20; ++i) trailers += "A: " + std::string(500, 'x') + "\r\n";
  const std::pair<std::string, int> bodies[] = {
      {"\r\n", 400},
      {";x\r\n", 400},
      {"g\r\n", 400},
      {"+3\r\n", 400},
      {"-3\r\n", 400},
      {" 3\r\n", 400},
      {"3 \r\n", 400},
      {"0x3\r\n", 400},
      {"3\n", 400},
      {"3\rx", 400},
      {"3;a\x01\r\n", 400},
      {"3\r\nabcd", 0},  // the end of the line may still come
      {"3\r\nabcd\r\n", 400},
      {"3\r\nabc\n", 400},
      {"0\r\nno colon\r\n", 400},
      {"0\r\n: x\r\n", 400},
      {"0\r\n A: x\r\n", 400},
      {"0\r\n\n", 400},
      {long_extension, 400},
      {trailers, 400},
      {"b\r\n", 413},
      {"5\r\n01234\r\n6\r\n", 413},
      {"ffffffffffffffff\r\n", 413},
      {"10000000000000000\r\n", 413},
      {"10000000000000003\r\n", 413},
  };
  for (const auto& [bytes, refusal] : bodies) {
    for (const size_t piece : {size_t{1}, bytes.size()}) {
      ChunkedBody chunks(10);
      std::string body;
      DecodeInPieces(chunks, bytes, piece, body);
      EXPECT_EQ(chunks.refusal(), refusal) << bytes.substr(0, 40);
      EXPECT_FALSE(chunks.done()) << bytes.substr(0, 40);
      EXPECT_LE(body.size(), 10U);
    }
  }
}

}  // namespace
}  // namespace millrace
