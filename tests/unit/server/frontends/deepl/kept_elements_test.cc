#include "server/frontends/deepl/kept_elements.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::server {
namespace {

TEST(KeptElementsTest, ElementsComeBackByteForByte) {
  for (const char* text :
       {"Delete <x id=\"16\"></x> files", "<x/>", "a <X id='>'>b <x>c</x> d</X> e <b>f</b>",
        "<x>one</x><x>two</x>", "no element", "<x>never closed", "a < b <x", "",
        "<span translate=\"no\" data-kept=\"\">0</span>"}) {
    KeptElements kept({"x"});
    EXPECT_EQ(kept.Show(kept.Hide(text)), text) << text;
  }
}

TEST(KeptElementsTest, OnlyTheNamedElementsAreHidden) {
  KeptElements kept({"x", "Code"});
  const std::string hidden = kept.Hide("Run <code>ls -l</code> on <b>it</b> <xy>now</xy><x/>");
  EXPECT_EQ(hidden.find("ls -l"), hidden.npos);
  EXPECT_NE(hidden.find("<b>it</b> <xy>now</xy>"), hidden.npos);
  EXPECT_EQ(hidden.find("<x/>"), hidden.npos);
}

TEST(KeptElementsTest, WhatATranslationMoves) {
  KeptElements kept({"x"});
  const std::string first = kept.Hide("<x>1</x>");
  const std::string second = kept.Hide("<x>2</x>");
  EXPECT_EQ(kept.Show(second + " e " + first), "<x>2</x> e <x>1</x>");
}

}  // namespace
}  // namespace millrace::server
