#include "models/translation/markup/source_sentences.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/translation/markup/restore.h"
#include "tests/unit/models/translation/markup/source_sentences_fixture.h"

namespace millrace::translation {
namespace {

struct Case {
  models::TextFormat format;
  const char* text;
  List read;  // the sentences as a model reads them
};

class ReadingTest : public ::testing::TestWithParam<Case> {};

TEST_P(ReadingTest, GivesTheSentences) {
  EXPECT_EQ(Texts(GetParam().text, GetParam().format), GetParam().read);
}
TEST_P(ReadingTest, LosesNothing) {
  EXPECT_EQ(Joined(GetParam().text, GetParam().format), GetParam().text);
  EXPECT_EQ(Echoed(GetParam().text, GetParam().format), GetParam().text);
}

TEST(ReadingPluralsTest, ThoseOfArticlesAreLeftOut) {
  const std::vector<SourceSentence> read =
      ReadSentences("Veja o(s) livro(s) e a(s) casa(s)", kText, "pt-BR", {});
  EXPECT_EQ(read.front().marked.text, "Veja o livro e a casa");
  EXPECT_EQ(Untouched(read.front().marked), "Veja o livro(s) e a casa(s)");
}

TEST(ReadSentencesTest, TimesWithALetterAreReadWithAColon) {
  const auto reads = [](std::string_view text, std::string_view to) {
    return ReadSentences(text, models::TextFormat::kText, "pt", {}, KnowsAll, to)
        .front()
        .marked.text;
  };
  EXPECT_EQ(reads("às 10h30 ou 8h, em 2h35min", "en"), "às 10:30 ou 8h, em 2h35min");
  EXPECT_EQ(reads("às 10h30", "fr"), "às X1");
}

TEST(ReadSentencesTest, TheSignOfANumberIsReadAsAWord) {
  const auto reads = [](std::string_view text, std::string_view to) {
    return ReadSentences(text, models::TextFormat::kText, "pt-BR", {}, KnowsAll, to)
        .front()
        .marked.text;
  };
  EXPECT_EQ(reads("o quarto nº12 ou n.º 7", "en"), "o quarto número 12 ou número 7");
  EXPECT_EQ(reads("Os jogos não foram encontrados", "en"), "Os jogos não foram achados");
  EXPECT_EQ(reads("Contas não encontradas", "en"), "Contas não foram achadas");
  EXPECT_EQ(reads("Usuário não encontrado", "en"), "Usuário não foi achado");
  EXPECT_EQ(reads("Nenhum usuário encontrado", "en"), "Nenhum usuário achado");
  EXPECT_EQ(reads("Não encontrado", "en"), "Não encontrado");
  EXPECT_EQ(reads("Página não encontrada", "en"), "Página não encontrada");
  EXPECT_EQ(reads("O gato não encontrado dorme", "en"), "O gato que não foi achado dorme");
  EXPECT_EQ(reads("Item não encontrado na loja", "en"), "Item não encontrado na loja");
  EXPECT_EQ(reads("A página não foi encontrada", "en"), "A página não foi encontrada");
  EXPECT_EQ(reads("Atualizado há 2 h, há 5 min", "en"), "Atualizado há 2 horas, há 5 minutos");
  EXPECT_EQ(reads("PROIBIDO FUMAR AQUI", "en"), "É PROIBIDO FUMAR AQUI");
  EXPECT_EQ(reads("De seg. a sex., e sáb.", "en"), "De segunda a sexta, e sáb.");
  EXPECT_EQ(reads("Seg-Sex 8h-18h", "en"), "Segunda a sexta 8:00-18:00");
  EXPECT_EQ(reads("SÁB – DOM", "en"), "SÁBADO a DOMINGO");
  EXPECT_TRUE(ReadSentences("Seg-Sex", kText, "pt", {}).front().has_words);
  EXPECT_FALSE(ReadSentences("10h30", kText, "pt", {}, KnowsAll, "en").front().has_words);
  EXPECT_EQ(reads("Vou ter a segurança", "en"), "Vou ter a segurança");
  EXPECT_EQ(reads("E aí, pessoal, tudo certo?", "en"), "Oi, pessoal, tudo certo?");
  EXPECT_EQ(reads("E aí, ele caiu.", "en"), "E aí, ele caiu.");
  EXPECT_EQ(reads("Das 7h às 22h, dura 15h.", "en"), "Das 7:00 às 22:00, dura 15h.");
  EXPECT_EQ(reads("Tente em 30 s.", "en"), "Tente em 30 segundos.");
  EXPECT_EQ(reads("Há 2 hotéis, 5 h, 30 sóis", "en"), "Há 2 hotéis, 5 h, 30 sóis");
  EXPECT_EQ(reads("Nº de série: abc", "en"), "Número de série: abc");
  EXPECT_EQ(reads("Pedido nº {id}", "en"), "Pedido número X1");
  EXPECT_EQ(reads("No séc. XX houve guerras.", "en"), "No século XX houve guerras.");
  EXPECT_EQ(reads("A profa. Ana", "en"), "A professora Ana");
  EXPECT_EQ(reads("Vc viu? Hj n vou, n vezes", "en"), "Você viu?");
  EXPECT_EQ(reads("hj n vou, n vezes, oq vcs querem", "en"),
            "hoje não vou, n vezes, o que vocês querem");
  EXPECT_EQ(reads("Na pág. 12, aprox. 20 min", "en"), "Na página 12, aproximadamente 20 min");
  EXPECT_EQ(reads("o quarto nº 12", "es"), "o quarto nº 12");
  EXPECT_EQ(reads("o 4º lugar, plano nº", "en"), "o 4º lugar, plano nº");
}

TEST(ReadSentencesTest, EachBranchOfAMessageTakesTheSentenceAroundItIn) {
  constexpr std::string_view kMessage =
      "Hi.\n{name} has {n, plural, one {# old hat} other {# hats}} here. \nBye.";
  EXPECT_EQ(Texts(kMessage, kText),
            List({"Hi.", "X1 has 1 old hat here.", "X1 has 37 hats here.", "Bye."}));
  EXPECT_EQ(Joined(kMessage, kText),
            "Hi.\n{n, plural, one {{name} has # old hat here.} other {{name} has # hats here.}} "
            "\nBye.");
  // A number that the sentence has too could not be told from it.
  EXPECT_EQ(Texts("Only {n, plural, one {# day} other {# days}} of 37", kText),
            List({"Only 1 day of 37", "Only X1 days of 37"}));
  constexpr std::string_view kMany =
      "A {n, select, a {b} c {d} e {f} g {h} i {j} k {l} other {m}} b";
  EXPECT_EQ(Joined(kMany, kText), kMany);
}

TEST(ReadSentencesTest, EnglishPhrasesAreReadInOtherWords) {
  const auto reads = [](std::string_view text) {
    return ReadSentences(text, models::TextFormat::kText, "en", {}, KnowsAll, "pt")
        .front()
        .marked.text;
  };
  EXPECT_EQ(reads("Open 9 a.m. to 5:30 p.m. on Sundays."), "Open 9:00 to 17:30 on Sundays.");
  EXPECT_EQ(reads("9 a.m. to 5 p.m."), "9:00 to 17:00.");
  EXPECT_EQ(reads("12 pm to midnight, 11:05AM"), "12:00 to midnight, 11:05");
  EXPECT_EQ(reads("At 12:30 a.m. she woke up"), "At 0:30 she woke up");
  EXPECT_EQ(reads("At 5 p.m. he was 5:15 pmx"), "At 5 p.m. he was 5:15 pmx");
  EXPECT_EQ(reads("Mon–Fri 9am–5pm"), "Monday to Friday 9:00–17:00");
  EXPECT_EQ(reads("Open Mon. through Sat., 10 AM-6 PM"),
            "Open Monday through Saturday, 10:00-18:00");
  EXPECT_EQ(reads("SAT & SUN, Fri., Sat., and Sun. only"),
            "SATURDAY & SUNDAY, Friday, Saturday, and Sunday only");
  EXPECT_EQ(reads("Tue, Thu 10am, Wed 3 May"), "Tuesday, Thursday 10am, Wednesday 3 May");
  EXPECT_EQ(reads("The Sun, a Sat Nav, mon-fri"), "The Sun, a Sat Nav, mon-fri");
  EXPECT_EQ(reads("It is 30 in. high, 6 ft. long and 5 in."),
            "It is 30 inches high, 6 feet long and 5 inches.");
  EXPECT_EQ(reads("10 x 20 x 5 in long, 3 in a row"), "10 x 20 x 5 inches long, 3 in a row");
  EXPECT_EQ(reads("Tea w/o milk, w/ sugar, w/e, a.w/ b"),
            "Tea without milk, with sugar, w/e, a.w/ b");
  EXPECT_EQ(reads("Jan.–Mar. 2024, Fri, Dec 5, 3 Sept 2027, Mar 3rd, the Mar"),
            "January–March 2024, Friday, December 5, 3 September 2027, March 3rd, the Mar");
  EXPECT_EQ(reads("Pls send ur file asap, r u in? c u"),
            "Please send your file as soon as possible, are you in?");
  EXPECT_EQ(reads("Can u see the u axis?"), "Can you see the u axis?");
  EXPECT_EQ(reads("approx. 20 min. 5 ml, max. 5 MB, $5/mo, Mt. Fuji, a max. of 3"),
            "approximately 20 min. 5 ml, maximum 5 MB, $5/month, Mount Fuji, a max. of 3");
  EXPECT_EQ(reads("The lamp went off and on."), "The lamp went out and came back.");
  EXPECT_EQ(reads("It rained off and on all day."), "It rained from time to time all day.");
  EXPECT_EQ(reads("Turn it off and on."), "Turn it off and on.");
  EXPECT_EQ(reads("It is off and on the wall"), "It is off and on the wall");
}

TEST(ReadSentencesTest, ASentenceThatIsReadOtherwiseIsCopiedAsItIsWritten) {
  for (const models::TextFormat format : {kText, models::TextFormat::kHtml}) {
    const SourceSentence sentence =
        ReadSentences("Proibido fumar &amp; beber", format, "pt", {}).front();
    EXPECT_TRUE(sentence.marked.text.starts_with("É proibido fumar"));
    EXPECT_EQ(Untouched(CopyOf(sentence)), "Proibido fumar &amp; beber");
  }
  EXPECT_EQ(Untouched(CopyOf(ReadSentences("Uma casa", kText, "pt", {}).front())), "Uma casa");
}

INSTANTIATE_TEST_SUITE_P(
    Plain, ReadingTest,
    ::testing::Values(
        Case{kText, "  One. Two!\n\nThree ", {"One.", "Two!", "Three"}},
        Case{kText, "Hi {name}, see https://a.b?c. Bye.", {"Hi X1, see X2.", "Bye."}},
        Case{kText, "A {a}{b} is {c}s.", {"A X1 is X2."}},
        Case{kText, "File not found: {a}", {"File not found:", "X1"}},
        Case{kText,
             "Port: HDMI. 404 - Page not found",
             {"Port:", "HDMI.", "404 -", "Page not found"}},
        Case{kText, "ISO-8859-1", {"X1"}},
        Case{kText, "⚙ Settings. File(s)", {"X1", "Settings.", "File"}},
        Case{kText,
             "&lt; Back\n*Required\nDon&#39;t ask",
             {"X1", "Back", "*", "Required", "Don't ask"}},
        Case{kText, "A Promise<void> of List<String>", {"A X1 of X2"}},
        Case{kText, "A\n\"One two\",\"Three\"\r\n4,\"\"", {"A", "One two", "Three", "4,\"\""}},
        Case{kText, "id;\"A big, red one\";7", {"id", "A big, red one", "7"}},
        Case{kText, "\"It is \"\"so\"\".\",1", {"It is so.", "1"}},
        Case{kText, "red,blue sky,green", {"red", "blue sky", "green"}},
        Case{kText, "red, blue,green or A,B", {"red, blue,green or A,B"}},
        Case{kText, "He said \"no\",\"yes\".", {"He said \"no\",\"yes\"."}},
        Case{kText, "pay 1,000,000 a year", {"pay 1,000,000 a year"}},
        Case{kText, "Inbox (3)", {"Inbox", "(3)"}}, Case{kText, "(none)", {"(", "none"}},
        Case{kText, "“Not here”", {"“", "Not here"}},
        Case{kText, "Open (\"{a}\") or {b}.", {"Open X1 or X2."}},
        Case{kText, "Open ({a} b) or f({c}).", {"Open (X1 b) or f(X2)."}},
        Case{kText, "title=The old house", {"X1", "The old house"}},
        Case{kText, "{\\an8}Hello world", {"Hello world"}},
        Case{kText, "Noooo, zzzz!", {"X1, X2!"}},
        Case{kText,
             "This is \\textbf{a very \\emph{old}} text by \\cite[p. 2]{key}.",
             {"This is a very old text by X1."}},
        Case{kText,
             "\\noindent See \\href{https://a.b}{the page} of \\LaTeX{}.",
             {"X1 See the page of X2."}},
        Case{kText, "The sum \\(a + b\\) is known.", {"The sum X1 is known."}},
        Case{kText, "Done.\\nSee C:\\new\\item", {"Done.", "See X1"}},
        Case{kText, "Is &lt;b&gt; old <!-- note --> text?", {"Is X1 old X2 text?"}},
        Case{kText, "Not found: UTF-8. Thanks, {a}!", {"Not found:", "X1", "Thanks", ", X1!"}},
        Case{kText, "404: Not found. Price: $5/month", {"404:", "Not found.", "Price: $5/month"}},
        Case{kText, "$5.50/month", {"$5.50/", "month"}},
        Case{kText, "Color: red. STATUS: ACTIVE", {"Color: red.", "STATUS: ACTIVE"}},
        Case{kText,
             "A [b]very [i]old[/i][/b] car [sic] of [code]a b[/code].",
             {"A very old car X1 of X2."}},
        Case{kText, "Say <<name>> or <First Name>.", {"Say X1 or X2."}},
        Case{kText, "Say ***name*** or ***NAME*** now.", {"Say X1 or X2 now."}},
        Case{kText, "The X1 is at {place}.", {"The X1 is at K1."}},
        Case{kText, "Click <0>here</0> or <1/> now.", {"Click here or X1 now."}},
        Case{kText,
             "Dear <name>, 1 < 2 & 3 > 2, if a <b and c> d.",
             {"Dear X1, 1 < 2 & 3 > 2, if a <b and c> d."}},
        Case{kText,
             "A line that was wrapped by some mail program\nhere is no sentence.\nNew.",
             {"A line that was wrapped by some mail program here is no sentence.", "New."}}));

INSTANTIATE_TEST_SUITE_P(
    PlainBoundaries, ReadingTest,
    ::testing::Values(
        Case{kText,
             "a\tb  c\u3000d\nThe house\tThe car",
             {"a", "b", "c", "d", "The house", "The car"}},
        Case{kText, "Sure?\\n\\nThis is it.\\tYes", {"Sure?", "This is it.", "Yes"}},
        Case{kText, "I announce\\Nthat it is new", {"I announce that it is new"}},
        Case{kText, "In C:\\new\\table is \\textbf{it}.", {"In X1 is it."}},
        Case{kText, "Say \\\"yes\\\" now", {"Say yes now"}},
        Case{kText, "Save &As AT&T Q&A a&b=c", {"Save As AT&T Q&A a&b=c"}},
        Case{kText, "A **big *red* dog** is", {"A big red dog is"}},
        Case{kText, "Save _As", {"Save As"}},
        Case{kText,
             "The *old house* and **it**, 5 * 3 * 2, a* b*",
             {"The old house and it, 5 * 3 * 2, a* b*"}},
        Case{kText, "_Open", {"Open"}}, Case{kText, "_Configurações…", {"Configurações"}},
        Case{kText, "_id", {"X1"}}, Case{kText, "_Open_ it", {"X1 it"}},
        Case{kText, "Read user_name or Max_Size", {"Read X1 or X2"}},
        Case{kText, "Open\u2026", {"Open"}},
        Case{kText, "Connection lost. Reconnecting\u2026", {"Connection lost.", "Reconnecting"}},
        Case{kText, "Caf&eacute; 10&nbsp;km &amp; x", {"Café 10 km X1 x"}},
        Case{kText, "ten &#x2009;1 km", {"ten 1 km"}},
        Case{kText, "Name: ______ Date:______", {"Name:", "Date:"}},
        Case{kText, "Valor======Preço------Casa", {"Valor", "Preço", "Casa"}},
        Case{kText, "Open https://a.b/c----d now", {"Open X1 now"}},
        Case{kText, "One ........ 12", {"One", "12"}},
        Case{kText, "♪ I heard the music ♪", {"I heard the music"}},
        Case{kText, "The \u200Fred\u200E one", {"The red one"}},
        Case{kText, "{% if a %}Hi!{% else %}Go.{% endif %}", {"Hi!", "Go."}},
        Case{kText, "Open {% url a %} now", {"Open X1 now"}},
        Case{kText,
             "{n, plural,\n  one {# file}\n  other {Some <b>files</b>}\n}",
             {"file", "Some files"}},
        Case{kText,
             "You have {n, plural, one {# a} other {# b}} and {m, plural, other {# c}}",
             {"You have X1 and X2"}},
        Case{kText, "Open {n, plural, one {#x} other {#y}} now", {"Open X1 now"}},
        Case{kText, "See :ref:`the guide <guide>` and ``a <b>``", {"See X1 and X2"}}));

TEST(ReadSentencesTest, MarkupAroundASentenceIsSetAside) {
  const auto is_bare = [](std::string_view text, models::TextFormat format) {
    return Read(text, format).back().is_bare;
  };
  EXPECT_TRUE(is_bare("<li><a href=1><b>Home page</b></a></li>", kHtml));
  EXPECT_TRUE(is_bare("<img src=a>The house.<sup>1</sup>", kHtml));
  EXPECT_TRUE(is_bare("***Old house***", kMarkdown));
  EXPECT_FALSE(is_bare("The <b>house</b>", kHtml));
  EXPECT_EQ(Joined("<b>One.</b> <i>Two.</i>", kHtml), "<b>One.</b> <i>Two.</i>");
}

TEST(ReadSentencesTest, ElementsThatTouchMayBePartsOfAWord) {
  EXPECT_EQ(Texts("<b>un</b><i>like</i>", kHtml), List{"unlike"});
}

TEST(ReadSentencesTest, TheKeyOfAFirstWordGoesBeforeIt) {
  EXPECT_EQ(Joined("E&xit now", kText), "&Exit now");
  EXPECT_EQ(Joined("Save &as", kText), "Save &as");
}

INSTANTIATE_TEST_SUITE_P(
    Elements, ReadingTest,
    ::testing::Values(Case{kHtml, "<a href=1>One</a><a href=2>two</a>", {"One", "two"}},
                      Case{kHtml, "<span>Red</span><span>Blue</span>", {"Red", "Blue"}},
                      Case{kHtml, "<a>Home</a>\n <a>About us</a>", {"Home", "About us"}},
                      Case{kHtml, "<a>Click here</a> <a>to open</a>", {"Click here to open"}},
                      Case{kHtml, "<b>Old</b> <i>House</i>", {"Old House"}},
                      Case{kHtml, "See <a>One</a> <a>Two</a>", {"See One Two"}},
                      Case{kHtml, "<b>Red</b> <b>Blue</b>", {"Red", "Blue"}},
                      Case{kMarkdown, "[Home](/)[About](/a)", {"Home", "About"}},
                      Case{kMarkdown, "See [one](/)[two](/a).", {"See one", "two"}}));

INSTANTIATE_TEST_SUITE_P(
    EscapedMarkdown, ReadingTest,
    ::testing::Values(
        Case{kMarkdown, "The user\\_name of \\_it", {"The X1 of it"}},
        Case{kMarkdown, "It is fine\\. Really\\!", {"It is fine.", "Really!"}},
        Case{kMarkdown, "The \\*very old\\* house, \\_x 5 \\* 3", {"The very old house, x 5 X1 3"}},
        Case{kMarkdown, "1\\. One \\[a\\] \\(b\\)", {"1. One a b"}}));

INSTANTIATE_TEST_SUITE_P(
    SignsAside, ReadingTest,
    ::testing::Values(Case{kText, "« Back", {"« ", "Back"}}, Case{kText, "← Back", {"← ", "Back"}},
                      Case{kText, "New (Ctrl+N)", {"New", "X1"}},
                      Case{kText, "Item | 000 | ready", {"Item", "000", "ready"}},
                      Case{kText, "On/Off", {"On", "Off"}},
                      Case{kText, "TCP/IP or/and", {"TCP/IP or/and"}},
                      Case{kText, "TCP/IP", {"TCP/IP"}},
                      Case{kText, "Note:this is", {"Note:", "this is"}},
                      Case{kText, "user.name", {"X1"}},
                      Case{kText, "Time:10:30, a:b, e.g.", {"Time:10:30, X1, e.g."}},
                      Case{kText, "So good😀thanks, bye 😀 now", {"So good", "thanks, bye X1 now"}},
                      Case{kText, "Use <file name> of <the and b>.", {"Use X1 of <the and b>."}}));

INSTANTIATE_TEST_SUITE_P(
    UnknownTags, ReadingTest,
    ::testing::Values(
        Case{kHtml, "Use the <term>red</term> button.", {"Use the red button."}},
        Case{kHtml, "At most <placeholder value=\"max\"/> characters", {"At most X1 characters"}},
        Case{kHtml, "Use <x id=\"3\"/> now and <x id=\"4\"></x> then", {"Use X1 now and X2 then"}},
        Case{kHtml, "<a1b><para>One</para><para>Two</para></a1b>", {"One", "Two"}},
        Case{kHtml, "One.<para>Two</para> Three", {"One.", "Two", "Three"}},
        Case{kHtml, "<ruby>red<rt>vermelho</rt></ruby> house", {"red house"}}));

INSTANTIATE_TEST_SUITE_P(
    HtmlMessages, ReadingTest,
    ::testing::Values(
        Case{kHtml,
             "{VAR, plural, =0 {no files} other {<x id='I'/> red <b>files</b>}}",
             {"no files", "X1 red files"}},
        Case{kHtml,
             "<p>{n, plural, one {# file} other {the # files}}</p><p>Two</p>",
             {"1 file", "the 37 files", "Two"}},
        Case{kHtml,
             "{g, select, male {{n, plural, one {his file} other {his files}}} other {it}}",
             {"his file", "his files", "it"}},
        Case{kHtml, "You have {n, plural, one {<b>a</b>} other {b}} here", {"You have X1 here"}},
        Case{kHtml, "{n, plural, one {a} {b} c", {"{n, plural, one X1 X2 c"}},
        Case{kHtml, "<noscript><p>One</p></noscript><template>Two</template>", {"One", "Two"}}));

INSTANTIATE_TEST_SUITE_P(
    MarkdownLinks, ReadingTest,
    ::testing::Values(
        Case{kMarkdown, "See [[The page|the *old* page]] now", {"See the old page now"}},
        Case{kMarkdown, "See [[The page]] | [[a|b|c]]", {"See X1", "[[a|b|c]]"}},
        Case{kMarkdown, "The ++new++ C++ and i++ are", {"The new C++ and i++ are"}},
        Case{kMarkdown, "The {/* no */} house. {/* A note */}", {"The house."}},
        Case{kMarkdown, "<details><summary>More</summary>The text</details>", {"More", "The text"}},
        Case{kHtml, "{\\an8}The dog.\\NIt is big", {"The dog.", "It is big"}},
        Case{kMarkdown, "So ==very== old, a == b, x==1, y==2", {"So very old, X1, X2, X3"}}));

INSTANTIATE_TEST_SUITE_P(
    ParagraphsAndNotes, ReadingTest,
    ::testing::Values(Case{kText, "<p>One</p><p>Two <b>three</b></p>", {"One", "Two three"}},
                      Case{kText, "One.<br>Two<br/>three", {"One.", "Two", "three"}},
                      Case{kText, "Use the <p> tag of <title>", {"Use the X1 tag of X2"}},
                      Case{kHtml,
                           "The house<sup>1</sup> is<sup><a href=\"#n\">[2]</a></sup>.",
                           {"The house is."}},
                      Case{kHtml, "The 2<sup>nd</sup> house", {"The 2nd house"}},
                      Case{kHtml,
                           "The house<a href=\"#n1\">1</a> is red.<a href=\"#n2\">[2]</a> Go.",
                           {"The house is red.", "Go."}},
                      Case{kHtml, "See (<a href=\"#\">1</a>) and <a>2</a>", {"See (1) and 2"}},
                      Case{kMarkdown, "The house<sup>1</sup> is.", {"The house is."}}));

INSTANTIATE_TEST_SUITE_P(
    MarkdownBlocks, ReadingTest,
    ::testing::Values(
        Case{kMarkdown, "> [!NOTE]\n> Read it.", {"Read it."}},
        Case{kMarkdown, ":::note Important\n\nRead.\n\n:::", {"Important", "Read."}},
        Case{kMarkdown, "Term\n:   Its meaning", {"Term", "Its meaning"}},
        Case{kMarkdown, "!!! note \"Old\"\n    Read.\n\n!!!Wow", {"\"", "Old", "Read.", "!!!Wow"}},
        Case{kMarkdown, "---\ntitle: a\n---\n\nText", {"Text"}},
        Case{kMarkdown, "+++\ntitle = \"a\"\n+++\nText", {"Text"}},
        Case{kMarkdown, "One\n\n---\n\nTwo", {"One", "Two"}},
        Case{kMarkdown, "Term<br/>break here", {"Term", "break here"}},
        Case{kMarkdown, "So $a + b$ costs $5 or $6.", {"So X1 costs $5 or $6."}},
        Case{kMarkdown, "$$\nx y\n$$\n\n$$a b$$\n\nText", {"Text"}},
        Case{kMarkdown, "2*3*4 is *it*", {"X1 is it"}},
        Case{kMarkdown, "- one\n\n      code here\n\n- two", {"one", "two"}},
        Case{kMarkdown, "- one\n\n  more", {"one", "more"}},
        Case{kMarkdown, ":::tip The house\nRead.\n:::", {"The house", "Read."}},
        Case{kMarkdown,
             "See [the page], [The Page][], [it][the page], [no].\n\n[The page]: a.b \"t\"",
             {"See X1, X2, it, [no]."}}));

INSTANTIATE_TEST_SUITE_P(
    Html, ReadingTest,
    ::testing::Values(
        Case{kHtml,
             "<p>One <b>two</b>. Three.</p>\n<ul><li>four<li>five</ul>",
             {"One two.", "Three.", "four", "five"}},
        Case{kHtml, "one &amp; b &lt;c &gt;&nbsp;&unknown; d", {"one & b <c > X1 d"}},
        Case{kHtml,
             "Ten&nbsp;km &nbsp; on, or&#160;so &laquo;&nbsp;so&nbsp;&raquo;",
             {"Ten km on, or so «\u00a0so\u00a0»"}},
        Case{kHtml, "<p>&nbsp;&#xA0;</p>&nbsp;One&nbsp;", {"One"}},
        Case{kHtml,
             "Press &lt;now&gt; or &lt;a b=\"c\"&gt;, if a &lt; b",
             {"Press X1 or X2, if a < b"}},
        Case{kHtml,
             "Caf&eacute; &copy; Caf&#233; &notknown; 'x' &quot;x&quot;",
             {"Café © Café X1 'x' \"x\""}},
        Case{kHtml, "1 < 2 & 3 > 2 \u00a0 x", {"1 < 2 & 3 > 2 x"}},
        Case{kHtml, "Go <a href=\"x y", {"Go"}},
        Case{kHtml, "Go <a href='x>here</a> now", {"Go here now"}},
        Case{kHtml, "One <b two", {"One two"}},
        Case{kHtml, "One </b <i>two</i> <img src=x alt = \"y z\" ", {"One two"}},
        Case{kHtml,
             "See <a href=\"x?a=1&b='>'\" title='a > b'>this\n  page</a>.",
             {"See this page."}},
        Case{kHtml,
             "<script>if (a < b) x = \"</p>\";</script><p>One</p><style>p > a {}</style>",
             {"One"}},
        Case{kHtml,
             "Run <code>rm -rf &lt;x&gt;</code> or <span translate=\"no\">Foo <b>Bar</b></span>.",
             {"Run X1 or X2."}},
        Case{kHtml, "<div class=\"a notranslate\"><div>One</div> two</div>Three", {"Three"}},
        Case{kHtml, "<b>One. Two.</b> <i>Three</i>", {"One.", "Two.", "Three"}},
        Case{kHtml, "<a href=x><h3>One</h3><p>Two</p></a>", {"One", "Two"}},
        Case{kHtml,
             "<b><i>crossed</b> pairs</i> and </u>lost <s>ones",
             {"crossed pairs and lost ones"}},
        Case{kHtml,
             "One<!-- a <b> comment --> two <br> three<hr/>four",
             {"One two", "three", "four"}},
        Case{kHtml,
             "<!DOCTYPE html><html lang=en><head><title>T</title><meta x></head><body>B</body>",
             {"T", "B"}},
        Case{kHtml,
             "<table><tr><td>One</td><td><img src=a.png> two</td></tr></table>",
             {"One", "two"}},
        Case{kHtml, "<pre>  code\n</pre><p>Text {x}</p><textarea> a </textarea>", {"Text X1"}},
        Case{kHtml, "<b> <i></i></b> <p> </p> word", {"word"}}));

INSTANTIATE_TEST_SUITE_P(
    Markdown, ReadingTest,
    ::testing::Values(
        Case{kMarkdown,
             "A note[^1] and more[^long-name].\n\n[^1]: The note *here*.\n[^2]:More\n",
             {"A note and more.", "The note here.", "More"}},
        Case{kMarkdown, "[^a b] [^] [^1", {"[^] [^1"}},
        Case{kMarkdown,
             "Ten&nbsp;km &copy; R&D &lt;now&gt; &none; a &amp b",
             {"Ten km © R&D X1 X2 a X3 b"}},
        Case{kMarkdown, "[a [b](c) d](e) [f [g](h) [i](j(k)l)", {"a b d [f g i"}},
        Case{kMarkdown,
             "# A *title*\n\nSome **bold** text, `code` and [a link](http://x.y \"t\").\n",
             {"A title", "Some bold text, X1 and a link."}},
        Case{kMarkdown,
             "- one\n- [ ] two\n  1. three\n\n> quoted\n> words\n",
             {"one", "two", "three", "quoted", "words"}},
        Case{kMarkdown,
             "Words that go\non here.  \nHard break\\\nthere.",
             {"Words that go on here.", "Hard break", "there."}},
        Case{kMarkdown,
             "```cpp\nint a; // No.\n```\nAfter.\n\n    indented\n\nEnd.",
             {"After.", "End."}},
        Case{kMarkdown,
             "| Name | Price |\n|---|:-:|\n| A pear | `x|y` |\n\nEnd.",
             {"Name", "Price", "A pear", "`x", "y`", "End."}},
        Case{kMarkdown,
             "![image](a.png) see [this][ref] and <https://a.b>.\n\n[ref]: http://x \"T\"\n",
             {"see this and X1."}},
        Case{kMarkdown,
             "5 * 3 = 15, snake_case_name, \\*no\\*, ~~old~~ *open",
             {"5 * 3 = 15, X1, no, old open"}},
        Case{kMarkdown,
             "Title\n=====\n\n***\n\nA <b>tag</b>, a [bracket] and (round).",
             {"Title", "A tag, a [bracket] and (round)."}}));

}  // namespace
}  // namespace millrace::translation
