#include "server/http2/header_meter.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace millrace::server {
namespace {

using std::string_literals::operator""s;

constexpr uint64_t kOverhead = HeaderMeter::kFieldOverhead;

class HeaderMeterTest : public ::testing::Test {
 protected:
  // Returns the size of a whole block.
  uint64_t SizeOf(std::string_view block) {
    EXPECT_TRUE(meter_.BeginBlock());
    EXPECT_TRUE(meter_.Read(block));
    return meter_.size();
  }
  bool Reads(std::string_view block) { return meter_.BeginBlock() && meter_.Read(block); }

  HeaderMeter meter_;
};

TEST_F(HeaderMeterTest, FieldsOfTheStaticTableHaveItsSizes) {
  EXPECT_EQ(SizeOf("\x82"), 10 + kOverhead);       // :method: GET
  EXPECT_EQ(SizeOf("\x90"), 15 + 13 + kOverhead);  // accept-encoding: gzip, deflate
  EXPECT_EQ(SizeOf("\xbd"), 16 + kOverhead);       // www-authenticate
  EXPECT_EQ(SizeOf("\x82\x82\xbd"), 36 + 3 * kOverhead);
  EXPECT_EQ(meter_.fields(), 3U);
}

TEST_F(HeaderMeterTest, LiteralsHaveTheSizesOfTheirStrings) {
  for (const char first : {'\x00', '\x10', '\x40'}) {  // not indexed, never indexed, added
    EXPECT_EQ(SizeOf(first + "\x03key\x05value"s), 8 + kOverhead);
    EXPECT_EQ(SizeOf(std::string(1, static_cast<char>(first | 1)) + "\x05value"), 15 + kOverhead);
    EXPECT_EQ(SizeOf(first + "\x00\x00"s), kOverhead);
  }
  EXPECT_EQ(SizeOf("\x0f\x2e\x02zz"), 16 + 2 + kOverhead);  // www-authenticate by a longer index
}

TEST_F(HeaderMeterTest, AReferenceHasTheSizeOfTheFieldThatWasAdded) {
  EXPECT_EQ(SizeOf("\x40\x03key\x64"s + std::string(100, 'v') + "\xbe\xbe"), 3 * (103 + kOverhead));
  EXPECT_EQ(SizeOf("\xbe"), 103 + kOverhead);
  // Its name alone, with another value.
  EXPECT_EQ(SizeOf("\x7e\x01v"), 4 + kOverhead);
  // The newest has the lowest index.
  EXPECT_EQ(SizeOf("\xbe"), 4 + kOverhead);
  EXPECT_EQ(SizeOf("\xbf"), 103 + kOverhead);
}

TEST_F(HeaderMeterTest, OnlyFieldsThatAreAddedCanBeReferredTo) {
  EXPECT_EQ(SizeOf("\x00\x01k\x01v"s + "\x10\x01k\x01v"s), 2 * (2 + kOverhead));
  EXPECT_FALSE(Reads("\xbe"));
}

TEST_F(HeaderMeterTest, AsManyEntriesAsATableCanHoldAreKnown) {
  for (int i = 0; i < 1000; ++i) {
    const std::string value(static_cast<size_t>(i % 100), 'v');
    ASSERT_TRUE(Reads("\x40\x01k"s + static_cast<char>(value.size()) + value));
  }
  EXPECT_EQ(SizeOf("\xbe"), 1 + 99 + kOverhead);
  EXPECT_EQ(SizeOf("\xff\x3e"), 1 + 72 + kOverhead);  // index 189, the 128th
  EXPECT_FALSE(Reads("\xff\x3f"));
}

// A decoder that has evicted them refuses the block, so they may stay here.
TEST_F(HeaderMeterTest, ATableSizeIsNoFieldAndMovesNoEntry) {
  EXPECT_EQ(SizeOf("\x40\x01k\x03vvv"), 4 + kOverhead);
  EXPECT_EQ(SizeOf("\x20\x3f\xe1\x1f\xbe"), 4 + kOverhead);  // 0, then 4,096
  EXPECT_EQ(meter_.fields(), 1U);
}

TEST_F(HeaderMeterTest, HuffmanCodesAreCountedAsTheMostTheyCanStandFor) {
  EXPECT_EQ(SizeOf("\x00\x85"s + "nnnnn" + "\x8a" + "vvvvvvvvvv"), 8 + 16 + kOverhead);
  EXPECT_EQ(SizeOf("\x40\x81"s + "n" + "\x81" + "v" + "\xbe"), 2 * (2 + kOverhead));
}

TEST_F(HeaderMeterTest, AStringCountsAsSoonAsItsLengthIsKnown) {
  EXPECT_EQ(SizeOf("\x00\x01k\x7f\xff\xff\xff\xff\x07"s), uint64_t{0x80000000} + 0x7f + kOverhead);
  EXPECT_TRUE(meter_.Read("vvv"));
  EXPECT_EQ(meter_.fields(), 1U);
}

TEST_F(HeaderMeterTest, PiecesOfAnySizeAreTheSame) {
  const std::string block = "\x3f\xe1\x1f\x82\x40\x03key\x7f\x03"s + std::string(130, 'v') +
                            "\xbe\x10\x82zz\x83yyy\x0f\x2e\x00\xff\x00"s;
  // The index 127 names no field, so the block fails at its last byte.
  for (size_t piece = 1; piece <= block.size(); ++piece) {
    HeaderMeter meter;
    EXPECT_TRUE(meter.BeginBlock());
    size_t at = 0;
    while (at < block.size() && meter.Read(std::string_view(block).substr(at, piece))) at += piece;
    EXPECT_EQ(at, (block.size() - 1) / piece * piece) << piece;
    EXPECT_EQ(meter.size(), 10 + 2 * 133 + 3 + 4 + 16 + 5 * kOverhead) << piece;
  }
}

TEST_F(HeaderMeterTest, AnIndexWithoutAFieldIsMalformed) {
  for (const std::string& block :
       {"\x80"s, "\xbe"s, "\xff\x00"s, "\xff\xff\xff\xff\xff\x0f"s, "\x7f\x00"s, "\x0f\x2f"s})
    EXPECT_FALSE(HeaderMeter().Read(block));
}

TEST_F(HeaderMeterTest, IntegersThatOverflowAreMalformed) {
  for (const char first : {'\xff', '\x7f', '\x3f', '\x0f'}) {
    EXPECT_FALSE(HeaderMeter().Read(first + "\xff\xff\xff\xff\x7f"s)) << first;
    EXPECT_FALSE(HeaderMeter().Read(first + "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"s));
  }
  EXPECT_FALSE(HeaderMeter().Read("\x00\x7f\xff\xff\xff\xff\xff\x01"s));
}

TEST_F(HeaderMeterTest, ABlockMustNotEndWithinAField) {
  const std::string block = "\x3f\x82\x01\x40\x03key\x7f\x01"s + std::string(128, 'v') + "\x82";
  for (size_t end = 0; end <= block.size(); ++end) {
    HeaderMeter meter;
    ASSERT_TRUE(meter.Read(std::string_view(block).substr(0, end)));
    const bool is_whole = end == 0 || end == 3 || end + 1 >= block.size();
    EXPECT_EQ(meter.BeginBlock(), is_whole) << end;
  }
}

TEST_F(HeaderMeterTest, EachBlockIsMeasuredAlone) {
  EXPECT_EQ(SizeOf("\x82\x83"), 10 + 11 + 2 * kOverhead);
  EXPECT_EQ(SizeOf(""), 0U);
  EXPECT_EQ(meter_.fields(), 0U);
}

}  // namespace
}  // namespace millrace::server
