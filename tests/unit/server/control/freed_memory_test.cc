#include "server/control/freed_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FreedMemoryTest : public ::testing::Test {
 protected:
  const TimePoint start_ = TimePoint() + seconds(1000);
  std::vector<milliseconds> kept_;
  FreedMemory memory_{[this](milliseconds time) { kept_.push_back(time); }};
};

TEST_F(FreedMemoryTest, IsKeptWhileNobodyIsRefused) {
  for (int second = 0; second < 60; ++second) memory_.Update(0, start_ + seconds(second));
  EXPECT_THAT(kept_, IsEmpty());
}

TEST_F(FreedMemoryTest, GoesBackAtOnceFromARefusalUntilAllHasBeenQuiet) {
  memory_.Update(1, start_);
  EXPECT_THAT(kept_, ElementsAre(milliseconds(0)));
  memory_.Update(5, start_ + seconds(8));
  memory_.Update(5, start_ + seconds(8) + FreedMemory::kQuiet - milliseconds(1));
  EXPECT_THAT(kept_, ElementsAre(milliseconds(0)));
  memory_.Update(5, start_ + seconds(8) + FreedMemory::kQuiet);
  memory_.Update(5, start_ + seconds(60));
  EXPECT_THAT(kept_, ElementsAre(milliseconds(0), FreedMemory::kUsually));
  memory_.Update(6, start_ + seconds(61));
  EXPECT_THAT(kept_, ElementsAre(milliseconds(0), FreedMemory::kUsually, milliseconds(0)));
}

}  // namespace
}  // namespace millrace::server
