#include "server/frontends/deepl/inline_elements.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace::server {
namespace {

TEST(InlineElementsTest, TheirNamesComeBack) {
  const std::vector<std::string> texts = {"Use the <term a=\"1\">red</term> one",
                                          "<ph/> <ph /> k7 k77",
                                          "<terms>a</terms> <a <term",
                                          "a < b",
                                          "</term",
                                          ""};
  InlineElements elements({"term", "ph"});
  std::vector<std::string> hidden = texts;
  elements.Hide(hidden);
  EXPECT_EQ(hidden[0], "Use the <k77700 a=\"1\">red</k77700> one");
  EXPECT_EQ(hidden[1], "<k77701/> <k77701 /> k7 k77");
  EXPECT_EQ(hidden[3], "a < b");
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(elements.Show(hidden[i]), texts[i]);
}

}  // namespace
}  // namespace millrace::server
