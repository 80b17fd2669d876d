#include "server/config/values.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

using std::chrono::milliseconds;

TEST(DurationTest, ReadsEachUnit) {
  EXPECT_EQ(ParseDuration("250ms"), milliseconds(250));
  EXPECT_EQ(ParseDuration("5s"), milliseconds(5000));
  EXPECT_EQ(ParseDuration("2m"), milliseconds(120'000));
  EXPECT_EQ(ParseDuration("1h"), milliseconds(3'600'000));
  EXPECT_EQ(ParseDuration("0"), milliseconds(0));
}

TEST(DurationTest, RefusesWhatIsAmbiguousOrTooLarge) {
  for (const char* text : {"", "5", "s", "-1s", "1.5s", "5 s", "5S", "5sec", "9223372036854775807h",
                           "99999999999999999999s"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(DurationTest, FormatIsReadBack) {
  for (const int64_t count : {0, 1, 999, 1000, 1500, 60'000, 90'000, 3'600'000, 86'400'000}) {
    EXPECT_EQ(ParseDuration(FormatDuration(milliseconds(count))), milliseconds(count)) << count;
  }
  EXPECT_EQ(FormatDuration(milliseconds(120'000)), "2m");
  EXPECT_EQ(FormatDuration(milliseconds(1500)), "1500ms");
}

TEST(BytesTest, ReadsUnitsAndPlainNumbers) {
  EXPECT_EQ(ParseBytes("16MiB"), uint64_t{16} << 20);
  EXPECT_EQ(ParseBytes("64KiB"), uint64_t{65536});
  EXPECT_EQ(ParseBytes("1GiB"), uint64_t{1} << 30);
  EXPECT_EQ(ParseBytes("12B"), uint64_t{12});
  EXPECT_EQ(ParseBytes("1000"), uint64_t{1000});
  for (const char* text : {"", "-1", "MiB", "16MB", "16mib", "1.5GiB", "9999999999GiB"}) {
    EXPECT_EQ(ParseBytes(text), std::nullopt) << text;
  }
}

TEST(BytesTest, FormatIsReadBack) {
  for (const uint64_t value :
       {uint64_t{0}, uint64_t{1}, uint64_t{1000}, uint64_t{1024}, uint64_t{3} << 20}) {
    EXPECT_EQ(ParseBytes(FormatBytes(value)), value);
  }
}

TEST(IntegerTest, IsTheWholeText) {
  EXPECT_EQ(ParseInteger("-7"), -7);
  for (const char* text : {"", "7x", " 7", "7.0", "99999999999999999999"}) {
    EXPECT_EQ(ParseInteger(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace millrace
