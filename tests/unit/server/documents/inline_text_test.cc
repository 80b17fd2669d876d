#include "server/documents/inline_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millrace::server {
namespace {

// "[1" and "]1" for a span, "(2)" for what stands alone, "|3|" for what divides.
std::string Read(const InlineWriter& writer, std::string_view html) {
  std::string read;
  for (const InlineToken& token : ReadInline(html, writer.marks())) {
    const std::string mark = std::to_string(token.mark);
    switch (token.kind) {
      case InlineToken::Kind::kText:
        read += Unescaped(token.text);
        break;
      case InlineToken::Kind::kOpen:
        read += "[" + mark;
        break;
      case InlineToken::Kind::kClose:
        read += "]" + mark;
        break;
      case InlineToken::Kind::kAlone:
        read += "(" + mark + ")";
        break;
      case InlineToken::Kind::kDivider:
        read += "|" + mark + "|";
        break;
    }
  }
  return read;
}

class InlineTextTest : public ::testing::Test {
 protected:
  InlineTextTest() {
    writer_.Text("a < b & ");
    const size_t outer = writer_.Open();
    writer_.Text("c ");
    const size_t inner = writer_.Open();
    writer_.Text("d");
    writer_.Close(inner);
    writer_.Close(outer);
    writer_.Alone();
    writer_.Divider();
    writer_.Text("e");
  }

  InlineWriter writer_;
};

TEST_F(InlineTextTest, ReadsWhatItWrote) {
  EXPECT_EQ(writer_.html(), "a &lt; b &amp; <g0>c <g1>d</g1></g0><x2/><br id=3/>e");
  EXPECT_EQ(Read(writer_, writer_.html()), "a < b & [0c [1d]1]0(2)|3|e");
}

TEST_F(InlineTextTest, FollowsTheOrderOfTheTranslation) {
  EXPECT_EQ(Read(writer_, "<x2/><g0><g1>D</g1> C</g0> A<br id=3/>E"), "(2)[0[1D]1 C]0 A|3|E");
}

TEST_F(InlineTextTest, LosesSpansRatherThanWords) {
  for (const std::string_view html :
       {"A<g0><g1>B</g0></g1><x2/><br id=3/>", "A<g0>B</g0><x2/><br id=3/>",
        "A<g0>B<g0></g0></g0><g1></g1><x2/><br id=3/>", "A<g0><g1></g1>B<x2/><br id=3/>",
        "AB</g1><g0></g0><g1></g1><x2/><br id=3/>"})
    EXPECT_EQ(Read(writer_, html), "AB(2)|3|") << html;
}

TEST_F(InlineTextTest, HasEachMarkOnce) {
  EXPECT_EQ(Read(writer_, "A<x2/><x2/>B"), "A(2)B|3|");
  EXPECT_EQ(Read(writer_, "A"), "A(2)|3|");
  EXPECT_EQ(Read(writer_, "A<x7/><g9></g9><x3/><x0/>"), "A(2)|3|");
  EXPECT_EQ(Read(writer_, "<x99999999999999999999999/><b>A"),
            "<x99999999999999999999999/><b>A(2)|3|");
}

TEST(Unescaped, ReadsEachEntityOnce) {
  EXPECT_EQ(Unescaped("a &amp;lt; &lt;&gt; &quot; &nbsp;& &x;"), "a &lt; <> \" \u00A0& &x;");
}

}  // namespace
}  // namespace millrace::server
