#include "models/text/sentence_splitter.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "fakes/linear_time.h"

namespace millrace::models {
namespace {

std::vector<std::string> Texts(std::string_view text) {
  std::vector<std::string> texts;
  for (const Sentence& sentence : SplitSentences(text)) texts.emplace_back(sentence.text);
  return texts;
}

std::string Joined(std::string_view text) {
  std::string joined;
  for (const Sentence& sentence : SplitSentences(text)) {
    joined += sentence.text;
    joined += sentence.space;
  }
  return joined;
}

using List = std::vector<std::string>;

// Each must stay one sentence.
class OneSentenceTest : public testing::TestWithParam<const char*> {};

TEST_P(OneSentenceTest, IsNotSplit) { EXPECT_EQ(Texts(GetParam()), List{GetParam()}); }

INSTANTIATE_TEST_SUITE_P(
    Splitter, OneSentenceTest,
    testing::Values(
        "See you Thurs. @ 2.", "It hit 12 mi. NW of town.", "The bill, S. 1241, passed.",
        "The train leaves from Plat. 9.", "Sinner (1) def. Fritz (12).", "See Cal. Penal Code 187.",
        "Ask Accts. Payable about it.", "Hello.", "no stop at all", "It costs 3.14 dollars.",
        "Version 2.0.1 is out.", "See www.example.com for more.",
        "Dr. Smith and Mrs. Jones arrived.", "J. R. R. Tolkien wrote it.", "The U.S. Senate voted.",
        "At 10 a.m. Monday it rained.", "See p. 42 and fig. 3 of vol. 2.", "Room No. 5 is free.",
        "In the 1st c. AD.", "See Fig. A and Bldg. C there.", "He lives on Ave. A near here.",
        "1 lb. = 16 oz.", "Al, a.k.a. \"Cap\".", "Cpl. Jones came.", "It is approx. $5.",
        "Meet at N. 5th Ave.", "See Pt. Reyes.", "In Art. I, section 8.",
        "So 1. Nf3 d5 2. g3 wins.", "Smith, J. (2019) wrote it.", "A sonata in C, K. 545.",
        "Sgt. T. J. O'Neill came.", "Pvt. Ryan came.", "The (Cat. 5) storm hit.", "A Natl. Park.",
        "See Tbl. 2 there.", "It fell to 29.92 in. Hg today.", "He lives at 12 E. 5th Ave.",
        "See vols. I–III.", "See apt. #4 there.", "It is 20 deg. C now.", "Spurs won (agg. 4-3).",
        "Haydn's Hob. I:104 is old.", "The Act, Pub. L. 88-352.", "Miami, Fla. Police came.",
        "Wait... what is it?", "Wait… what is it?", "\"Why?\" he asked.", "\"Fire!\" – he shouted.",
        "Apples, pears, etc. are fruit.", "Acme Ltd. Manchester sells it.",
        "O Sr. Silva e a Dra. Costa chegaram.", "Veja a pág. 42 do cap. 3.",
        "A Av. Paulista fica em São Paulo.", "1. Open the box.", "Yahoo! is a company.",
        "What?! said nobody.", "(See the note.) and so on.",
        "El Sr. Pérez y la Dra. Gómez llegaron.", "Vive en EE. UU. desde 1999.", "¡Hola! ¿qué tal?",
        "¿Y la pág. 42 del núm. 3?", "Le Dr. Roux et Mme. Durand.", "MM. Durand et Petit sont là.",
        "By Ursula K. Le Guin.", "« Où ? » demanda-t-il.", "Quoi ?! dit-elle.",
        "Il dott. Rossi e la sig.ra Verdi.", "Pane, latte, ecc. in cucina.",
        "डॉ. शर्मा और प्रो. वर्मा आए।"));

// Two sentences, divided by the bar.
class TwoSentencesTest : public testing::TestWithParam<const char*> {};

TEST_P(TwoSentencesTest, AreSplitAtTheBar) {
  const std::string marked = GetParam();
  const size_t bar = marked.find('|');
  const std::string first = marked.substr(0, bar);
  const std::string second = marked.substr(bar + 1);
  EXPECT_EQ(Texts(first + " " + second), (List{first, second}));
}

INSTANTIATE_TEST_SUITE_P(
    Splitter, TwoSentencesTest,
    testing::Values("One.|Two.", "Really?|Yes!", "No way!!!|Yes.", "He left…|Nobody saw it.",
                    "\"I see.\"|She nodded.", "(He left.)|Then it rained.", "“Olá!”|Ele sorriu.",
                    "« Bonjour ! »|Il sourit.", "It was 1999.|Then came 2000.",
                    "He is ten.|She is six.", "It opens at 9 a.m.|The shop is big.",
                    "It starts at 9 a.m.|Be there.", "He left at 6 p.m.|Everyone cheered.",
                    "I fed the cat.|5 dogs came.", "We like apples, etc.|They like pears.",
                    "He lives on 5th Ave.|A friend drove.", "She works for Acme Inc.|He does not.",
                    "Eu sei.|Você não.", "Sim.|Não.", "I have 5.|6 are missing.",
                    "Done.|- Next item.", "É ele.|É ela.", "Stop.|¿Qué?",
                    "Great work.|@jane did it.", "Ele disse: \"Vá!\"|Ela foi.", "Это он.|Это она.",
                    "¿Qué?|¡Nada!", "Dijo: «Ven.»|Luego se fue.", "Vive en EE. UU.|Ella no.",
                    "Comment ça va ?|Bien !", "Il dit : « Viens. »|Elle vint.", "Va bene.|È tardi.",
                    "It is 5 mm.|The rest is more.", "It is plan B.|3 people came.",
                    "Take vitamin K.|5 days later I was well.", "Er sieht mich.|Peter lacht.",
                    "Ela dormiu no colo.|Maria saiu.", "Pane, latte, ecc.|Il resto no.",
                    "मैं जा रहा हूँ।|आप कैसे हैं?", "“आओ।”|वह चला गया॥"));

TEST(SplitterTest, KeepsEveryByte) {
  const std::string text = "  \n One.  Two!\t\n\n Three\r\n四。五！ \xF0\x9F\x98\x80 six. \xFF\xC3";
  EXPECT_EQ(Joined(text), text);
}

TEST(SplitterTest, NothingGivesNothing) { EXPECT_TRUE(SplitSentences("").empty()); }

TEST(SplitterTest, OnlySpaceIsAnEmptySentence) {
  const auto sentences = SplitSentences(" \n ");
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_EQ(sentences[0].text, "");
  EXPECT_EQ(sentences[0].space, " \n ");
}

TEST(SplitterTest, ALineBreakEndsASentence) {
  EXPECT_EQ(Texts("A title\nand a line\r\n\r\nand Dr.\nWho"),
            (List{"A title", "and a line", "and Dr.", "Who"}));
}

TEST(SplitterTest, SpaceGoesToTheSentenceBeforeIt) {
  const auto sentences = SplitSentences("One. \n\n Two.  ");
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[0].space, " \n\n ");
  EXPECT_EQ(sentences[1].space, "  ");
}

TEST(SplitterTest, WideStopsNeedNoSpace) {
  EXPECT_EQ(Texts("你好。再见！「什么？」他说"), (List{"你好。", "再见！", "「什么？」", "他说"}));
}

TEST(SplitterTest, TheDandaNeedsNoSpace) {
  EXPECT_EQ(Texts("वह आया।मैं गया॥बस"), (List{"वह आया।", "मैं गया॥", "बस"}));
}

TEST(SplitterTest, SpanishMarksBeginASentenceWithoutASpace) {
  EXPECT_EQ(Texts("¡Hola!¿Qué tal?¡Bien!"), (List{"¡Hola!", "¿Qué tal?", "¡Bien!"}));
}

TEST(SplitterTest, TheSpaceBeforeAFrenchMarkMayBeAnyOne) {
  EXPECT_EQ(Texts("Ça va\u00a0? Oui\u202f! «\u00a0Bon.\u00a0» Elle rit."),
            (List{"Ça va\u00a0?", "Oui\u202f!", "«\u00a0Bon.\u00a0»", "Elle rit."}));
}

TEST(SplitterTest, KeepsEveryByteOfRandomText) {
  const std::vector<std::string> parts = {".", "!",  "?", "…",  " ",    "\n",  "\"",
                                          ")", "(",  "–", "Dr", "a",    "Ab",  "1",
                                          "é", "。", "»", "-",  "\xFF", "U.S."};
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 30; ++i) text += parts[random() % parts.size()];
    ASSERT_EQ(Joined(text), text);
    const auto sentences = SplitSentences(text);
    for (size_t i = 1; i < sentences.size(); ++i) ASSERT_FALSE(sentences[i].text.empty()) << text;
  }
}

// In a language: one sentence, or several divided by bars.
struct InLanguage {
  const char* language;
  const char* marked;
};
class SplitterLanguageTest : public testing::TestWithParam<InLanguage> {};

TEST_P(SplitterLanguageTest, SplitsAtTheBars) {
  List expected = {""};
  std::string text;
  for (const char* c = GetParam().marked; *c != 0; ++c) {
    if (*c == '|') {
      expected.emplace_back();
      text += ' ';
    } else {
      expected.back() += *c;
      text += *c;
    }
  }
  List texts;
  for (const Sentence& sentence : SplitSentences(text, {.language = GetParam().language}))
    texts.emplace_back(sentence.text);
  EXPECT_EQ(texts, expected);
}

INSTANTIATE_TEST_SUITE_P(
    Splitter, SplitterLanguageTest,
    testing::Values(
        InLanguage{"de", "Am 3. Oktober kommt Dr. Braun.|Er bleibt bis zum 5. November."},
        InLanguage{"de-AT", "Das gilt z. B. Montags bzw. Dienstags, vgl. Abb. 3.|Es ist so."},
        InLanguage{"de", "Siehe Kapitel 3.|Die Antwort steht dort."},
        InLanguage{"de", "Es waren 1999.|Danach nie mehr."},
        InLanguage{"nl", "Dhr. Jansen koopt o.a. Brood, melk enz.|De winkel sluit."},
        InLanguage{"pl", "Ul. Długa 5, tj. Stare Miasto.|To jest ul. Krótka."},
        InLanguage{"ru", "Он живёт на ул. Ленина, д. 5.|Это в центре и т.д.|Он рад."},
        InLanguage{"ru", "Родился в 1990 г. Москва, т.е. Россия."},
        InLanguage{"ru", "Л. Н. Толстой жил здесь.|Потом он уехал."},
        InLanguage{"uk", "Він живе на вул. Шевченка.|Це в центрі."},
        InLanguage{"cs", "Dne 3. Ledna přišel Dr. Novák.|Bylo ticho."},
        InLanguage{"sv", "Han köpte bl.a. Volvo, Saab osv.|De var dyra."},
        InLanguage{"fi", "Se on ts. Helsinki.|Hän asuu siellä."},
        InLanguage{"tr", "Dr. Yılmaz geldi.|Bu iyi."},
        InLanguage{"el", "Πού είναι ο κ. Παππάς;|Είναι εδώ."}, InLanguage{"en", "Yes; No."},
        InLanguage{"ar", "هل أنت هنا؟|نعم، أنا هنا."}, InLanguage{"ur", "میں آیا۔|وہ گیا۔"},
        InLanguage{"hy", "Բարեւ։|Ինչպես եք։"}, InLanguage{"km", "ខ្ញុំមក។|គាត់ទៅ។"},
        InLanguage{"am", "ሰላም።|እንዴት ነህ፧"}, InLanguage{"th", "ฉันไปตลาด แล้วกลับบ้าน"}));

List Joining(std::string_view text) {
  List texts;
  for (const Sentence& sentence : SplitSentences(text, {.joins_lines = true}))
    texts.emplace_back(sentence.text);
  return texts;
}

TEST(SplitterTest, AWrappedLineGoesOnWhereThatIsAskedFor) {
  const std::string wrapped =
      "This mail was wrapped by a program that thinks\nof narrow screens and of nobody else, as "
      "was\r\nusual.";
  EXPECT_EQ(Joining(wrapped), List{wrapped});
  EXPECT_EQ(Texts(wrapped).size(), 3u);
}

TEST(SplitterTest, ListsAndParagraphsAreNoWrappedLines) {
  const std::string line = "This line is long enough to have been wrapped by one";
  for (const std::string next : {"\n\nand", "\n- and", "\n And", "\n1. and", "\nAnd"}) {
    EXPECT_EQ(Joining(line + next).size(), 2u) << next;
  }
  EXPECT_EQ(Joining(line + ":\nand").size(), 2u);
  EXPECT_EQ(Joining("apples\npears").size(), 2u);
}

List JoiningShort(std::string_view text) {
  List texts;
  for (const Sentence& sentence : SplitSentences(text, {.joins_short_lines = true}))
    texts.emplace_back(sentence.text);
  return texts;
}

TEST(SplitterTest, ShortLinesGoOnWhereTheTextWasWrapped) {
  for (const std::string wrapped :
       {"This sentence was wrapped by an\nemail program at seventy\ncolumns.",
        "This sentence was wrapped by an\r\nemail program at seventy\r\ncolumns.",
        "It stands in the\nmiddle of the room", "We went home because\nit rained"}) {
    EXPECT_EQ(JoiningShort(wrapped), List{wrapped});
    EXPECT_GE(Joining(wrapped).size(), 2u) << wrapped;
  }
  EXPECT_EQ(JoiningShort("One ends here.\nTwo was wrapped by a very\nsmall window.").size(), 2u);
}

TEST(SplitterTest, ListsHeadingsAndVerseStayApart) {
  for (const std::string apart :
       {"milk\neggs", "Shopping list\nmilk", "Roses are red,\nviolets are blue.",
        "Roses are red,\nViolets are blue.", "My dear friend,\nhow are you?",
        "Things to buy:\nmilk.", "# The heading\nand a text.", "Things that we need\n- milk.",
        "Chapter One\nit was a dark and stormy night.", "This was wrapped by an\n\nauthor."})
    EXPECT_EQ(JoiningShort(apart).size(), 2u) << apart;
}

// Inputs that a careless splitter scans again and again.
class MegabyteTest : public testing::TestWithParam<const char*> {};

TEST_P(MegabyteTest, TakesLinearTime) {
  ExpectLinearTime(GetParam(), 1'000'000,
                   [](const std::string& text) { EXPECT_EQ(Joined(text), text); });
}

INSTANTIATE_TEST_SUITE_P(Splitter, MegabyteTest,
                         testing::Values("a", ".", " ", ". ", "a. b ", "(((", ". (", ".\"", "Dr. ",
                                         "\xE2\x80", "\xF0\x9F\x98\x80", "U.S. ", "\n", ". a- "));

}  // namespace
}  // namespace millrace::models
