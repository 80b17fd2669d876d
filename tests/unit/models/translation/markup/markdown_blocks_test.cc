// Blocks of Markdown that stay as they are, and what begins in one line and ends in another.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/translation/markup/restore.h"
#include "models/translation/markup/source_sentences.h"

namespace millrace::translation {
namespace {

struct BlocksCase {
  const char* text;
  std::vector<std::string> read;  // the sentences as a model reads them
};

class MarkdownBlocksTest : public ::testing::TestWithParam<BlocksCase> {};

TEST_P(MarkdownBlocksTest, GivesTheSentencesAndLosesNothing) {
  std::vector<std::string> read;
  std::string joined;
  for (const SourceSentence& sentence :
       ReadSentences(GetParam().text, models::TextFormat::kMarkdown, "en", {})) {
    if (!sentence.marked.text.empty()) read.push_back(sentence.marked.text);
    joined += Restore(sentence.marked, sentence.marked.text, {}) + sentence.behind;
  }
  EXPECT_EQ(read, GetParam().read);
  EXPECT_EQ(joined, GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Fences, MarkdownBlocksTest,
    ::testing::Values(BlocksCase{"1. ```sh\n   a house\n   ```\n2. Two", {"Two"}},
                      BlocksCase{"> ```sh\n> a house\n> ```\n> Two", {"Two"}},
                      BlocksCase{"> ```sh\n> a house\nTwo", {"Two"}},
                      BlocksCase{"- One\n\n  > ```\n  > a house\n  > ```\n\n  Two", {"One", "Two"}},
                      BlocksCase{"````md\n```\na house\n```\n````\nTwo", {"Two"}},
                      BlocksCase{"~~~\r\na ```\r\n~~~\r\nTwo", {"Two"}},
                      BlocksCase{"```in a line``` is code.\n\nTwo", {"X1 is code.", "Two"}},
                      BlocksCase{"```\na house", {}}));

INSTANTIATE_TEST_SUITE_P(
    Formulas, MarkdownBlocksTest,
    ::testing::Values(BlocksCase{"$$ (1)\nOne\n\nTwo", {"X1 (1) One", "Two"}},
                      BlocksCase{"$$\nOne\n\nTwo $$x$$", {"X1 One", "Two X1"}},
                      BlocksCase{"$$\na b\n\nc d\n$$\nTwo", {"Two"}},
                      BlocksCase{"$$a b\nc d$$\nTwo", {"Two"}},
                      BlocksCase{"$$a b\nc d$$ {#eq}\n\nTwo", {"X1", "Two"}},
                      BlocksCase{"\\[\na b\n\\]\nTwo", {"Two"}},
                      BlocksCase{"\\begin{align*}\na b\n\\end{align*}\nTwo", {"Two"}},
                      BlocksCase{"From $5 to 10$ or $2n + 1$.", {"From $5 to 10$ or X1."}}));

INSTANTIATE_TEST_SUITE_P(
    Elements, MarkdownBlocksTest,
    ::testing::Values(
        BlocksCase{"<pre>\na house\n\nb\n</pre>\n\nTwo", {"Two"}},
        BlocksCase{"<script>\nlet a = 'house';\n</script>\nTwo", {"Two"}},
        BlocksCase{"<svg><text>One</text></svg>\n\nTwo", {"Two"}},
        BlocksCase{"<p translate=\"no\">One</p>\n\nTwo", {"Two"}},
        BlocksCase{"Press <kbd>Enter</kbd> now.", {"Press X1 now."}},
        BlocksCase{"Use the <script> tag.\n\nTwo <pre> too.", {"Use the X1 tag.", "Two X1 too."}},
        BlocksCase{"<!-- One\n\ntwo -->\n\nThree", {"Three"}},
        BlocksCase{"One <!-- two\nthree --> four", {"One four"}},
        BlocksCase{"<!-- open\n\nTwo", {"Two"}},
        BlocksCase{"<img\n  src=\"a.png\"\n  alt=\"One\">\n\nTwo", {"Two"}},
        BlocksCase{"<a href=\"b\"\n   title=\"One\">Two</a> three", {"Two three"}},
        BlocksCase{"<Tabs\n  values={[{a: 'One', b: () => 2}]}>\nTwo\n</Tabs>", {"Two"}},
        BlocksCase{"{/* One\ntwo */}\n\nThree", {"Three"}},
        BlocksCase{"%%One two%%\n\nThree", {"Three"}},
        BlocksCase{"%%\nOne\n\ntwo\n%%\n\nThree", {"Three"}},
        BlocksCase{"One %%two three%% four", {"One four"}},
        BlocksCase{"It is 100%% of it, 50%% of all.", {"It is X1 of it, X2 of all."}},
        BlocksCase{"One[^two three].\n\n[^two three]: Four", {"One.", "Four"}},
        BlocksCase{"a < b\n\nc > d", {"a < b", "c > d"}}));

INSTANTIATE_TEST_SUITE_P(
    SpansOverLines, MarkdownBlocksTest,
    ::testing::Values(BlocksCase{"One `two\nthree` four", {"One X1 four"}},
                      BlocksCase{"One `two\n\nthree` four", {"One `two", "three` four"}},
                      BlocksCase{"One `two\n- three` four", {"One `two", "three` four"}},
                      BlocksCase{"> One `two\n> three` four", {"One X1 four"}},
                      BlocksCase{"See [one\ntwo](a.md \"three\") four", {"See one two four"}},
                      BlocksCase{"See [one][a\nname] two", {"See one two"}},
                      BlocksCase{"Break\\\nhere", {"Break", "here"}}));

INSTANTIATE_TEST_SUITE_P(
    Directives, MarkdownBlocksTest,
    ::testing::Values(BlocksCase{"!!! note\n\n    One\n\n        code\n\n    Two", {"One", "Two"}},
                      BlocksCase{"=== \"One\"\n\n    Two\n\n    - three\n\n        - four",
                                 {"\"", "One", "Two", "three", "four"}},
                      BlocksCase{"??? note\n\n    === \"One\"\n\n        Two\n\nThree",
                                 {"\"", "One", "Two", "Three"}},
                      BlocksCase{"- One\n\n  - two\n\n  Three\n\n      code",
                                 {"One", "two", "Three"}},
                      BlocksCase{"- One\n\n# Two\n    code\n\n    code\n\n> Three\n\n    code",
                                 {"One", "Two", "Three"}},
                      BlocksCase{":::{tip}\n:class: big\nOne\n:::", {"One"}},
                      BlocksCase{":::{admonition} One\n:class: big\nTwo\n:::", {"One", "Two"}},
                      BlocksCase{"::::{dropdown} One\nTwo\n::::", {"One", "Two"}},
                      BlocksCase{":::{figure} a house.png\nOne\n:::", {"One"}},
                      BlocksCase{"/// note | One\nTwo\n///", {"One", "Two"}}));

INSTANTIATE_TEST_SUITE_P(
    Programs, MarkdownBlocksTest,
    ::testing::Values(BlocksCase{"{% highlight sh %}\na house\n{% endhighlight %}\nTwo", {"Two"}},
                      BlocksCase{"{{< highlight sh >}}\na house\n{{< /highlight >}}\nTwo", {"Two"}},
                      BlocksCase{"{% raw %}\nOne\n{% endraw %}", {"One"}},
                      BlocksCase{"{% code %}\n\nTwo", {"Two"}},
                      BlocksCase{"export const A = () => {\n  a;\n\n  b;\n};\n\nTwo", {"Two"}},
                      BlocksCase{"import A from './a';\nimport B from \"b\";\n\nTwo", {"Two"}},
                      BlocksCase{"import taxes rise\n\nTwo", {"import taxes rise", "Two"}}));

}  // namespace
}  // namespace millrace::translation
