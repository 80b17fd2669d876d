// Built twice: with gRPC's buffers, and with those of the tests without gRPC.

#include "server/rpc/byte_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/fakes/byte_text.h"

namespace millrace::server {
namespace {

using testing::ByteText;

bool HasMessage(const ByteBuffer& buffer) {
  return buffer.Read([](google::protobuf::io::ZeroCopyInputStream&) { return true; });
}

TEST(ByteBufferTest, HoldsNoMessageAtFirst) {
  const ByteBuffer buffer;
  EXPECT_EQ(buffer.size(), 0U);
  EXPECT_FALSE(HasMessage(buffer));
}

TEST(ByteBufferTest, AnEmptyMessageIsAMessage) {
  const ByteBuffer buffer("");
  EXPECT_EQ(buffer.size(), 0U);
  EXPECT_TRUE(HasMessage(buffer));
  EXPECT_EQ(ByteText(buffer), "");
}

TEST(ByteBufferTest, IsReadAsOftenAsOneLikes) {
  const ByteBuffer buffer("twenty bytes of text");
  EXPECT_EQ(buffer.size(), 20U);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ByteText(buffer), "twenty bytes of text");
}

TEST(ByteBufferTest, ReadReturnsWhatItsFunctionReturns) {
  EXPECT_FALSE(
      ByteBuffer("x").Read([](google::protobuf::io::ZeroCopyInputStream&) { return false; }));
}

TEST(ByteBufferTest, IsWrittenInPlace) {
  for (const size_t size : {0UL, 1UL, 100UL, 3UL << 20}) {
    const ByteBuffer buffer(size, [size](uint8_t* bytes) { std::fill_n(bytes, size, 'm'); });
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(ByteText(buffer), std::string(size, 'm'));
  }
}

TEST(ByteBufferTest, AWriterThatThrowsLeavesNothingBehind) {
  EXPECT_THROW(ByteBuffer(100, [](uint8_t*) { throw std::length_error("too long"); }),
               std::length_error);
}

TEST(ByteBufferTest, CopiesKeepTheMessageWhenTheFirstIsGone) {
  ByteBuffer copy;
  {
    const ByteBuffer first("kept");
    copy = first;
    const ByteBuffer second(first);
    EXPECT_EQ(ByteText(second), "kept");
  }
  EXPECT_EQ(ByteText(copy), "kept");
  copy = std::as_const(copy);
  EXPECT_EQ(ByteText(copy), "kept");
}

TEST(ByteBufferTest, MovesTakeTheMessage) {
  ByteBuffer first("moved");
  ByteBuffer second(std::move(first));
  EXPECT_EQ(ByteText(second), "moved");
  ByteBuffer third;
  third = std::move(second);
  EXPECT_EQ(ByteText(third), "moved");
}

TEST(ByteBufferTest, ClearLetsGoOfTheMessage) {
  ByteBuffer buffer("x");
  buffer.Clear();
  EXPECT_FALSE(HasMessage(buffer));
  buffer.Clear();
  EXPECT_EQ(buffer.size(), 0U);
}

}  // namespace
}  // namespace millrace::server
