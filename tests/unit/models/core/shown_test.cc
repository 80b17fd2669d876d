#include "models/core/shown.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "models/core/strings.h"

namespace millrace {
namespace {

TEST(ShownTest, WhatIsLongIsCutBetweenCharacters) {
  const std::string most(64, 'a');
  const std::string_view odd = std::string_view(most).substr(1);
  EXPECT_EQ(Shown("joe"), "'joe'");
  EXPECT_EQ(Shown(most), StrCat("'", most, "'"));
  EXPECT_EQ(Shown(StrCat(most, "b")), StrCat("'", most, "...'"));
  EXPECT_EQ(Shown(StrCat(odd, "\xC3\xA9", "b")), StrCat("'", odd, "...'"));
}

}  // namespace
}  // namespace millrace
