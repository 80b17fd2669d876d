// Sentences of markup as a whole: entities, terms, random markup, and the time that many marks
// take.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "models/translation/markup/restore.h"
#include "models/translation/markup/source_sentences.h"
#include "tests/fakes/linear_time.h"
#include "tests/unit/models/translation/markup/source_sentences_fixture.h"

namespace millrace::translation {
namespace {

TEST(SourceSentencesTest, OfHtmlHaveNoEntities) {
  const auto sentences =
      Read("<p>Caf&eacute;&nbsp;&amp; &lt;b&gt; &quot;x&quot; &notknown; &#241;</p>", kHtml);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[1].marked.text, "Café & X1 \"x\" X2 ñ");
  EXPECT_EQ(Untouched(sentences[1].marked),
            "Caf&eacute;&nbsp;&amp; &lt;b&gt; &quot;x&quot; &notknown; &#241;");
}

TEST(SourceSentencesTest, ATagMayGoOnBehindTheBranchOfAMessage) {
  for (const char* text :
       {"{n, plural, one {<b } other {c}} <i>x</i>", "{n, select, a {<!-- } b {c}}"})
    EXPECT_EQ(Joined(text, kHtml), text);
}

TEST(SourceSentencesTest, EscapedTagsAroundWordsAreMarkup) {
  const auto sentences =
      Read("The &lt;b&gt;red&lt;/b&gt; house &lt;i&gt; of List&lt;Item&gt;.", kHtml);
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_EQ(sentences[0].marked.text, "The red house X1 of X2.");
  EXPECT_EQ(sentences[0].marked.events.size(), 2u);
}

TEST(SourceSentencesTest, OldEntitiesNeedNoSemicolon) {
  const auto sentences = Read("R&ampD caf&eacute &copy&amp;", kHtml);
  EXPECT_EQ(sentences[0].marked.text, "R&D café ©&");
  EXPECT_EQ(Untouched(sentences[0].marked), "R&ampD caf&eacute &copy&amp;");
}

TEST(SourceSentencesTest, WordsWithoutEndStayAsTheyAre) {
  std::string endless(600, 'a');
  endless += "&lt;";
  endless.append(300, 'b');
  const auto sentences = Read("One " + endless + " two <b>" + endless + "</b> now.", kHtml);
  EXPECT_EQ(sentences[0].marked.text, "One X1 two X2 now.");
  EXPECT_EQ(sentences[0].marked.kept[1].becomes, endless);
}

TEST(SourceSentencesTest, AreNotDividedWithinATerm) {
  models::TermIndex terms;
  terms.Add("Yahoo! Mail", "");
  terms.Build();
  const auto sentences = Read("I use Yahoo! Mail. You too.", kText, terms);
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[0].marked.text, "I use X1.");
  EXPECT_EQ(Untouched(sentences[0].marked), "I use Yahoo! Mail.");
}

TEST(SourceSentencesTest, KnowWhetherThereIsAnythingToTranslate) {
  EXPECT_FALSE(Read("{name}: {value} (12)!", kText)[0].has_words);
  EXPECT_TRUE(Read("{name} é {value}", kText)[0].has_words);
  EXPECT_FALSE(Read("[[[ ... ([{ — → ©", kText)[0].has_words);
  EXPECT_FALSE(Read("&amp&amp;&lt;&", kHtml)[0].has_words);
  EXPECT_FALSE(Read("1,250", kText)[0].has_words);
  EXPECT_TRUE(Read("日本", kText)[0].has_words);
  EXPECT_TRUE(Read("กขค", kText)[0].has_words);
  EXPECT_TRUE(Read("Plain words.", kText)[0].is_plain);
  EXPECT_FALSE(Read("Plain {words}.", kText)[0].is_plain);
}

// Signs come back as entities where they were none.
std::string WithoutEntities(std::string html) {
  for (const auto& [entity, sign] : {std::pair("&amp;", "&"), {"&lt;", "<"}, {"&gt;", ">"}}) {
    for (size_t at; (at = html.find(entity)) != std::string::npos;)
      html.replace(at, std::string(entity).size(), sign);
  }
  return html;
}

std::string Sorted(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  std::ranges::sort(text);
  return text;
}

TEST(SourceSentencesTest, OfRandomMarkupLoseNothing) {
  const List parts = {"<b>",
                      "</b>",
                      "<i>",
                      "</i>",
                      "<p>",
                      "</p>",
                      "<br/>",
                      "<code>",
                      "</code>",
                      "<a href=\"x\">",
                      "</a>",
                      "<!--",
                      "-->",
                      "&amp;",
                      " ",
                      "word",
                      "Dr. ",
                      "Two. ",
                      "\n",
                      "{x}",
                      "`",
                      "*",
                      "**",
                      "_",
                      "[",
                      "](u)",
                      "|",
                      "#",
                      "- ",
                      "> ",
                      "\\",
                      "```",
                      "<",
                      ">",
                      "\"",
                      "é",
                      "日本。",
                      "http://a.b/c",
                      "<b translate=no>",
                      "~~"};
  models::TermIndex terms;
  terms.Add("word two", "x");
  terms.Build();
  std::mt19937 random(11);
  for (int round = 0; round < 6000; ++round) {
    std::string text;
    for (int i = 0; i < 25; ++i) text += parts[random() % parts.size()];
    for (const models::TextFormat format : {kText, kHtml, kMarkdown}) {
      std::string joined = Joined(text, format);
      std::string echoed = Echoed(text, format);
      ASSERT_EQ(joined, text);
      if (format == kHtml) echoed = WithoutEntities(echoed);
      const std::string expected = format == kHtml ? WithoutEntities(text) : text;
      // Marks may move a little to where words begin, and spaces with them.
      ASSERT_EQ(Sorted(echoed), Sorted(expected)) << expected << "\n" << echoed;
    }
  }
}

// Whatever place a model's limit gives, the white space at the seam stays as it is written.
TEST(TakeFrontTest, LosesNothingAndAddsNothingAtAnySeam) {
  const std::string text =
      "One two\n\n<b>three</b>&nbsp;four \n{five} six<br>\tseven\n<i>eight</i>";
  for (const models::TextFormat format : {kText, kHtml, kMarkdown}) {
    for (const SourceSentence& sentence : Read(text, format)) {
      const std::string whole = Untouched(sentence.marked);
      for (size_t bytes = 1; bytes < sentence.marked.text.size(); ++bytes) {
        SourceSentence rest = sentence;
        const SourceSentence front = TakeFront(rest, bytes);
        EXPECT_EQ(Untouched(front.marked) + front.behind + Untouched(rest.marked), whole) << bytes;
        EXPECT_FALSE(front.marked.text.ends_with(' ')) << bytes;
      }
    }
  }
}

class ManyMarksTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ManyMarksTest, TakeLinearTime) {
  for (const models::TextFormat format : {kText, kHtml, kMarkdown}) {
    ExpectLinearTime(GetParam(), 100'000, [&](const std::string& text) { Read(text, format); });
    ExpectLinearTime(GetParam(), 100'000,
                     [&](const std::string& text) { Read("a" + text, format); });
  }
}

INSTANTIATE_TEST_SUITE_P(Sentences, ManyMarksTest,
                         ::testing::Values("<b>", "</b>", "<b></i>", "<a \"", "<a b='", "<", "<!--",
                                           "<code>", "<p>", "<b>a. B</b> ", "&", "&amp;", "[",
                                           "[](", "*", "* ", "**a", "_a_ ", "`", "a\n", "|",
                                           "|a|\n", "> ", "- ", "```\n", "<x translate=no>", "{a} ",
                                           "\\", "![", "<b>\n", "a <b>b</b> "));

TEST(SourceSentencesTest, TheItemsOfAListInOneLineAreSentences) {
  constexpr auto kText = models::TextFormat::kText;
  EXPECT_EQ(Texts("Home | About us | Contact", kText), (List{"Home", "About us", "Contact"}));
  EXPECT_EQ(Texts("red / green / blue", kText), (List{"red", "green", "blue"}));
  EXPECT_EQ(Texts("Save|Open|Close", kText), (List{"Save", "Open", "Close"}));
  EXPECT_EQ(Texts("File > Save as > Copy", kText), (List{"File", "Save as", "Copy"}));
  EXPECT_EQ(Texts("one - two - three", kText), (List{"one", "two", "three"}));
  EXPECT_EQ(Texts("Home | | About", kText), (List{"Home", "About"}));
  EXPECT_EQ(Texts("Home→About", kText), (List{"Home", "About"}));
  EXPECT_EQ(Texts("Save+Open+Close", kText), (List{"Save", "Open", "Close"}));
  EXPECT_EQ(Texts("Home -> About <> Us", kText), (List{"Home", "About", "Us"}));
  EXPECT_EQ(Texts("red = green = blue", kText), (List{"red", "green", "blue"}));
  EXPECT_EQ(Texts("small、two、red", kText), (List{"small", "two", "red"}));
  EXPECT_EQ(Texts("Home ● About ● Us", kText), (List{"Home", "About", "Us"}));
  EXPECT_EQ(Texts("Go to File > Save > Copy.", kText), (List{"Go to File", "Save", "Copy"}));
  EXPECT_EQ(Joined("Go to File > Save > Copy.", kText), "Go to File > Save > Copy.");
  for (const char* text : {"He came - finally - home", "Tea and/or milk", "if a > b and b > c",
                           "2 + 2 + 2", "The house - old, big - is red", "It is 5 km/h",
                           "see [[a page|words|more]]", "東京・大阪・京都に行った。"})
    EXPECT_EQ(Texts(text, kText).size(), 1) << text;
  for (const char* text : {"Home | About us • Contact", "A → B", "- Yes", "• One / two / three"})
    EXPECT_EQ(Joined(text, kText), text);
  EXPECT_EQ(Texts("<p><a href='x'>Home</a> | <a href='y'>About</a></p>", models::TextFormat::kHtml),
            (List{"Home", "About"}));
}

TEST(SourceSentencesTest, ABulletBeforeWordsIsSetAside) {
  constexpr auto kText = models::TextFormat::kText;
  EXPECT_EQ(Texts("- Yes", kText), (List{"- ", "Yes"}));
  EXPECT_EQ(Texts("- I am fine, thank you.", kText), (List{"- ", "I am fine, thank you."}));
  EXPECT_EQ(Texts("One.\n## Two", kText), (List{"One.", "## ", "Two"}));
  EXPECT_EQ(Texts("- I see - said he.", kText), (List{"- I see - said he."}));
  EXPECT_EQ(Texts(">> - Yes", kText), (List{">> - ", "Yes"}));
  EXPECT_EQ(Texts("#topic is here", kText), (List{"X1 is here"}));
}

}  // namespace
}  // namespace millrace::translation
