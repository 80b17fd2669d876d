#include "models/text/english/text_normalizer.h"

#include <gtest/gtest.h>

#include <random>

#include "fakes/linear_time.h"

namespace millrace::models {
namespace {

std::string Spoken(std::string_view text, EnglishDialect dialect = EnglishDialect::kUs) {
  std::string spoken;
  for (const SpokenWord& word : TextNormalizer(dialect).Normalize(text)) {
    spoken += word.text;
    spoken += word.after;
  }
  return spoken;
}

struct Case {
  const char* text;
  const char* spoken;
};

void PrintTo(const Case& value, std::ostream* out) { *out << '"' << value.text << '"'; }

class AmericanTest : public testing::TestWithParam<Case> {};
TEST_P(AmericanTest, IsSpokenAs) { EXPECT_EQ(Spoken(GetParam().text), GetParam().spoken); }

INSTANTIATE_TEST_SUITE_P(
    Numbers, AmericanTest,
    testing::Values(
        Case{"I have 2 cats and 101 dogs.", "I have two cats and one hundred one dogs."},
        Case{"The 1st, 22nd, 33rd and 44th.",
             "The first, twenty second, thirty third and forty fourth."},
        Case{"Pi is 3.14159.", "Pi is three point one four one five nine."},
        Case{"It fell by .5 points.", "It fell by point five points."},
        Case{"It was -5 outside.", "It was minus five outside."},
        Case{"In 1999 and 2005.", "In nineteen ninety nine and two thousand five."},
        Case{"the 1800s and the 1990s", "the eighteen hundreds and the nineteen nineties"},
        Case{"music of the 80s", "music of the eighties"},
        Case{"1,234,567 people",
             "one million two hundred thirty four thousand five hundred sixty seven people"},
        Case{"1, 2, 3", "one, two, three"}, Case{"agent 007", "agent zero zero seven"},
        Case{"version 2.0.1", "version two point zero point one"},
        Case{"ping 192.168.0.1",
             "ping one hundred ninety two dot one hundred sixty eight dot zero dot one"},
        Case{"pages 10-20", "pages ten to twenty"},
        Case{"1914–1918", "nineteen fourteen to nineteen eighteen"},
        Case{"1/2 cup", "one half cup"}, Case{"3/4 and 2/3", "three quarters and two thirds"},
        Case{"2 1/2 cups", "two and a half cups"}, Case{"5½ hours", "five and a half hours"},
        Case{"open 24/7", "open twenty four seven"},
        Case{"COVID-19 and MP3", "COVID nineteen and MP three"},
        Case{"a 20-year-old", "a twenty year-old"}, Case{"#1 hit", "number one hit"},
        Case{"1066 and BA2490", "ten sixty six and BA two four nine zero"},
        Case{"978-3-16-148410-0",
             "nine seven eight three one six one four eight four one zero zero"}));

INSTANTIATE_TEST_SUITE_P(
    Dates, AmericanTest,
    testing::Values(Case{"on 2026-11-21.", "on november twenty first twenty twenty six."},
                    Case{"on 21 Nov 2026", "on the twenty first of november twenty twenty six"},
                    Case{"the 21st November", "the twenty first of november"},
                    Case{"11/21/2026", "november twenty first twenty twenty six"},
                    Case{"Nov. 21, 2026, at noon",
                         "november twenty first twenty twenty six, at noon"},
                    Case{"On May 5 it rained.", "On may fifth it rained."},
                    Case{"January 2020", "january twenty twenty"},
                    Case{"You may 5 times.", "You may five times."},
                    Case{"at 23:55.", "at twenty three fifty five."},
                    Case{"at 5pm.", "at five P.M.."},
                    Case{"at 5:05 p.m. today", "at five oh five P.M. today"},
                    Case{"at 5:00", "at five o'clock"}, Case{"at 14:00", "at fourteen hundred"},
                    Case{"10 a.m.", "ten A.M.."}, Case{"9 a.m. EST.", "nine A.M. EST."},
                    Case{"Sat. 5 Dec. or so", "saturday the fifth of december or so"},
                    Case{"It was 5 Dec.", "It was the fifth of december."}));

INSTANTIATE_TEST_SUITE_P(
    Money, AmericanTest,
    testing::Values(Case{"$3.50", "three dollars and fifty cents"}, Case{"$1", "one dollar"},
                    Case{"$0.99", "ninety nine cents"}, Case{"£2m", "two million pounds"},
                    Case{"€1,000", "one thousand euros"},
                    Case{"$2.5 billion", "two point five billion dollars"},
                    Case{"US$5-10 each", "five to ten dollars each"},
                    Case{"-$5", "minus five dollars"}, Case{"5€", "five euros"},
                    Case{"$1999", "one thousand nine hundred ninety nine dollars"},
                    Case{"It cost $5.", "It cost five dollars."},
                    Case{"$0.05/page", "five cents per page"}));

INSTANTIATE_TEST_SUITE_P(
    Units, AmericanTest,
    testing::Values(Case{"5 km", "five kilometers"}, Case{"20°C", "twenty degrees celsius"},
                    Case{"60 mph", "sixty miles per hour"}, Case{"3kg", "three kilograms"},
                    Case{"10 MB", "ten megabytes"}, Case{"1 km", "one kilometer"},
                    Case{"50%", "fifty percent"}, Case{"5 in total", "five in total"},
                    Case{"10-20 km", "ten to twenty kilometers"},
                    Case{"1500 km", "one thousand five hundred kilometers"},
                    Case{"3x faster", "three times faster"}, Case{"90° turn", "ninety degree turn"},
                    Case{"100 m²", "one hundred square meters"},
                    Case{"He is 5'10\" tall", "He is five foot ten tall"}));

INSTANTIATE_TEST_SUITE_P(
    Phones, AmericanTest,
    testing::Values(Case{"555-1234", "five five five one two three four"},
                    Case{"(212) 555-0123", "two one two five five five zero one two three"},
                    Case{"+44 20 7946 0958",
                         "plus four four two zero seven nine four six zero nine five eight"},
                    Case{"(see 12)", "(see twelve)"},
                    Case{"1 + 1 = 2", "one plus one equals two"}));

INSTANTIATE_TEST_SUITE_P(
    Words, AmericanTest,
    testing::Values(
        Case{"Dr. Smith lives on Main St. in St. Louis.",
             "doctor Smith lives on Main street in saint Louis."},
        Case{"Mr. and Mrs. Jones, etc.", "mister and Mrs Jones, etc.."},
        Case{"Use it, e.g., i.e. vs. that.", "Use it, for example, that is versus that."},
        Case{"No. 5 is here. No.", "number five is here. No."},
        Case{"The U.S.A. won.", "The U.S.A. won."},
        Case{"I live in the U.S.", "I live in the U.S.."}, Case{"J. R. Smith", "J. R. Smith"},
        Case{"Chapter IV of Henry VIII", "Chapter four of Henry the eighth"},
        Case{"World War II and Rocky III", "World War two and Rocky three"},
        Case{"I think I am", "I think I am"},
        Case{"vol. II of Louis XIV's", "volume two of Louis the fourteenth's"},
        Case{"the U.K.'s", "the U.K.'s"}, Case{"Elizabeth I think", "Elizabeth I think"},
        Case{"R&D @ home #tag", "R and D at home hashtag tag"},
        Case{"visit https://www.example.com/a.", "visit W.W.W. dot example dot com slash a.."},
        Case{"See example.com/a-b?x=1!",
             "See example dot com slash a. dash b. question mark x. equals one!"},
        Case{"mail joe.bloggs@example.org", "mail joe dot bloggs at example dot org"},
        Case{"open file.txt", "open file dot txt"}, Case{"a well-known fact", "a well-known fact"},
        Case{"don’t and ‘quoted’ ’em", "don't and quoted 'em"},
        Case{"He said \"yes\" – or no -- maybe…", "He said “yes” — or no — maybe…"},
        Case{"\"Hi\" (there)", "“Hi” (there)"}, Case{"word—word", "word—word"},
        Case{"and/or", "and or"},
        Case{"\"No,\" she said, \"(\"never\").\"", "“No,” she said, “(“never”).”"},
        Case{"rock 'n' roll", "rock 'n' roll"}, Case{"====", ""}, Case{"What?!", "What?!"},
        Case{"w/o sugar", "without sugar"}, Case{"café naïve", "café naïve"}));

TEST(TextNormalizerTest, BritishDatesAndUnits) {
  EXPECT_EQ(Spoken("21/11/2026", EnglishDialect::kGb),
            "the twenty first of november twenty twenty six");
  EXPECT_EQ(Spoken("03/04/2020", EnglishDialect::kGb), "the third of april twenty twenty");
  EXPECT_EQ(Spoken("03/04/2020", EnglishDialect::kUs), "march fourth twenty twenty");
  EXPECT_EQ(Spoken("105 km", EnglishDialect::kGb), "one hundred and five kilometres");
  EXPECT_EQ(Spoken("May 5", EnglishDialect::kGb), "may the fifth");
}

TEST(TextNormalizerTest, WordsKeepTheirSourceSpans) {
  const std::string text = "“Pay $3.50 to Dr. Who’s cat.”";
  const auto words = TextNormalizer(EnglishDialect::kUs).Normalize(text, 100);
  ASSERT_EQ(words.size(), 11U);
  EXPECT_EQ(words[0].text, "");
  EXPECT_EQ(words[0].after, "“");
  const auto source = [&](const SpokenWord& w) {
    return text.substr(w.begin - 100, w.end - w.begin);
  };
  EXPECT_EQ(source(words[1]), "Pay");
  for (size_t i = 2; i < 7; ++i) EXPECT_EQ(source(words[i]), "$3.50") << i;
  EXPECT_EQ(source(words[7]), "to");
  EXPECT_EQ(source(words[8]), "Dr.");
  EXPECT_EQ(source(words[9]), "Who’s");
  EXPECT_EQ(words[9].text, "Who's");
  EXPECT_EQ(source(words[10]), "cat");
  EXPECT_EQ(words[10].after, ".”");
}

// Spans are in order, inside the text, and output is bounded.
void ExpectSane(std::string_view text) {
  const auto words = TextNormalizer(EnglishDialect::kUs).Normalize(text);
  EXPECT_LE(words.size(), text.size() * 8 + 1);
  size_t last = 0;
  for (const SpokenWord& word : words) {
    ASSERT_GE(word.begin, last);
    ASSERT_LE(word.begin, word.end);
    ASSERT_LE(word.end, text.size());
    ASSERT_LE(word.text.size(), kMaxSpokenWordBytes);
    ASSERT_LE(word.after.size(), 16U);
    last = word.begin;
  }
}

TEST(TextNormalizerTest, LongHostileTextsTakeLinearTime) {
  for (const std::string piece :
       {"1",    "a",     "1,111",  "1.",     "1-",       "1/",  "1:",     "(",    "(1",
        "+1",   "$",     "$1",     "-",      "--1",      "a-",  "a.",     "A.B.", "http://",
        "www.", "a@",    "@a",     "a.com/", "'",        "''a", "é",      "½",    "°",
        "1°",   "€",     "[",      "\"",     "&",        "&+",  "May 5 ", "I ",   "Henry VIII ",
        "St. ", "00:00", "1 1/2 ", "\xff",   "\xe2\x80", "\n",  " "}) {
    SCOPED_TRACE(piece);
    ExpectLinearTime(piece, 100'000, ExpectSane);
  }
}

TEST(TextNormalizerTest, RandomBytesAreSafe) {
  std::mt19937 random(7);
  const std::string alphabet = "0123456789.,-/:$%aAbXIV st'()@#&+ \xe2\x82\xac\x80\x93\xff\"";
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const size_t size = random() % 40;
    for (size_t i = 0; i < size; ++i) {
      text += round % 2 == 0 ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
    }
    SCOPED_TRACE(testing::PrintToString(text));
    ExpectSane(text);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace millrace::models
