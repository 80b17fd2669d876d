#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "models/core/strings.h"
#include "server/documents/xml_part.h"
#include "tests/unit/server/documents/translated.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Xliff12(const std::string& body, const std::string& file = "") {
  return StrCat("<?xml version=\"1.0\"?>\n<xliff version=\"1.2\" ",
                "xmlns=\"urn:oasis:names:tc:xliff:document:1.2\">", "<file source-language=\"en\"",
                file, "><body>", body, "</body></file></xliff>\n");
}
std::string Xliff2(const std::string& body, const std::string& root = "") {
  return StrCat("<xliff xmlns=\"urn:oasis:names:tc:xliff:document:2.0\" version=\"2.0\" ",
                "srcLang=\"en\"", root, "><file id=\"f\">", body, "</file></xliff>");
}
std::string InPortuguese(const std::string& bytes, const Translator& translate) {
  auto document = OpenDocument("a.xliff", bytes, {}, "pt");
  if (!document.ok()) return std::string(document.status().message());
  std::vector<std::string> translations;
  for (const std::string& text : (*document)->texts()) translations.push_back(translate(text));
  return *(*document)->Render(std::move(translations));
}

TEST(Xliff, ATargetFollowsItsSource) {
  EXPECT_EQ(InPortuguese(Xliff12("\n  <trans-unit id=\"1\">\n    <source>House</source>\n    "
                                 "<note>n</note>\n  </trans-unit>\n"),
                         Saying("House", "Casa")),
            Xliff12("\n  <trans-unit id=\"1\">\n    <source>House</source>\n    "
                    "<target state=\"needs-review-translation\" state-qualifier=\"mt-suggestion\">"
                    "Casa</target>\n    <note>n</note>\n  </trans-unit>\n",
                    " target-language=\"pt\""));
}

TEST(Xliff, AVariableIsAWordOfItsSentence) {
  const std::string body =
      "<trans-unit id=\"1\"><source>Hi <x id=\"a\" equiv-text=\"{{name}}\"/>, <ph id=\"b\">%s</ph> "
      "or <x id=\"c\" equiv-text=\"&lt;br/&gt;\"/> it</source></trans-unit>";
  EXPECT_THAT(TextsOf("a.xliff", Xliff12(body)),
              ElementsAre("Hi <var id=0>x</var>, <var id=1>x</var> or <x2/> it"));
}

TEST(Xliff, ACodeThatNothingDescribesIsAWordOfItsSentence) {
  const std::string body =
      "<trans-unit id=\"1\"><source>Hi <x id=\"1\"/>, <x id=\"2\" ctype=\"image\"/> it "
      "<ph id=\"3\">&lt;b/&gt;</ph> is</source></trans-unit>";
  EXPECT_THAT(TextsOf("a.xliff", Xliff12(body)),
              ElementsAre("Hi <var id=0>x</var>, <x1/> it <x2/> is"));
}

TEST(Xliff, OtherEncodingsBecomeUtf8AndSaySo) {
  const auto declaring = [](const std::string& encoding, const std::string& word) {
    return StrCat("<?xml version=\"1.0\" encoding=\"", encoding, "\"?>\n",
                  Xliff12("<trans-unit id=\"1\"><source>" + word + "</source></trans-unit>")
                      .substr(sizeof("<?xml version=\"1.0\"?>")));
  };
  const Translator translate = Saying("Caf\u00E9", "Ch\u00E1");
  const std::string expected = InPortuguese(declaring("UTF-8", "Caf\u00E9"), translate);
  EXPECT_THAT(expected, HasSubstr("Ch\u00E1</target>"));
  EXPECT_EQ(InPortuguese(declaring("ISO-8859-1", "Caf\xE9"), translate), expected);
  EXPECT_EQ(InPortuguese(declaring("Windows-1252", "Caf\xE9"), translate), expected);
  EXPECT_THAT(InPortuguese(declaring("us-ascii", "Tea"), Saying("Tea", "Ch\u00E1")),
              HasSubstr("encoding=\"UTF-8\"?>"));
  std::string wide = "\xFF\xFE";
  for (const char c : declaring("UTF-16", "Tea")) wide.append({c, '\0'});
  EXPECT_THAT(InPortuguese(wide, Saying("Tea", "Ch\u00E1")),
              testing::AllOf(HasSubstr("encoding=\"UTF-8\"?>"), HasSubstr("Ch\u00E1</target>")));
  EXPECT_THAT(InPortuguese(declaring("Shift_JIS", "Tea"), translate),
              testing::AllOf(HasSubstr("'Shift_JIS'"), HasSubstr("allowed are UTF-8")));
}

TEST(Xliff, InlineElementsFollowTheirWords) {
  const std::string unit =
      "<trans-unit id=\"1\"><source>Hi <g id=\"1\">red</g> <x id=\"2\"/> and <bpt id=\"3\">&lt;b"
      "&gt;</bpt>blue<ept id=\"3\">&lt;/b&gt;</ept>.</source></trans-unit>";
  EXPECT_THAT(TextsOf("a.xlf", Xliff12(unit)),
              ElementsAre("Hi <g0>red</g0> <var id=1>x</var> and <g2>blue</g2>."));
  EXPECT_THAT(InPortuguese(Xliff12(unit),
                           [](const std::string&) { return "<g2>Azul</g2> e <g0>v</g0> <x1/>."; }),
              HasSubstr("<bpt id=\"3\">&lt;b&gt;</bpt>Azul<ept id=\"3\">&lt;/b&gt;</ept> e "
                        "<g id=\"1\">v</g> <x id=\"2\"/>.</target>"));
}

TEST(Xliff, WhatIsTranslatedOrProtectedStays) {
  const std::string kept = Xliff12(
      "<trans-unit id=\"1\"><source>One</source><target>Um</target></trans-unit>"
      "<trans-unit id=\"2\" translate=\"no\"><source>Two</source></trans-unit>"
      "<group translate=\"no\"><trans-unit id=\"3\"><source>Three</source></trans-unit></group>"
      "<trans-unit id=\"4\"><source> </source></trans-unit>",
      " target-language=\"pt-BR\"");
  EXPECT_THAT(TextsOf("a.xliff", kept), IsEmpty());
  EXPECT_EQ(InPortuguese(kept, Same), kept);
  EXPECT_THAT(
      TextsOf("a.xliff",
              Xliff12("<trans-unit id=\"1\"><source>One</source><target state=\"new\">One</target>"
                      "<alt-trans><source>No</source><target>x</target></alt-trans></trans-unit>"
                      "<trans-unit id=\"2\"><source>Two <mrk mtype=\"protected\">X</mrk></source>"
                      "<target/></trans-unit>")),
      ElementsAre("One", "Two <var id=0>x</var>"));
}

TEST(Xliff, AUnitOfCodesAloneGetsThemAsItsTarget) {
  const std::string unit = "<trans-unit id=\"1\"><source><x id=\"1\"/> </source></trans-unit>";
  EXPECT_THAT(TextsOf("a.xliff", Xliff12(unit)), IsEmpty());
  EXPECT_THAT(InPortuguese(Xliff12(unit), Same),
              HasSubstr("state-qualifier=\"mt-suggestion\"><x id=\"1\"/> </target>"));
}

TEST(Xliff, SegmentsOfASourceAreTranslatedOneByOne) {
  const std::string cut =
      "<trans-unit id=\"1\"><source>A. B.</source><seg-source><mrk mtype=\"seg\" mid=\"0\">A.</mrk>"
      " <mrk mtype=\"seg\" mid=\"1\">B.</mrk></seg-source></trans-unit>";
  EXPECT_THAT(TextsOf("a.xliff", Xliff12(cut)), ElementsAre("A.", "B."));
  EXPECT_THAT(InPortuguese(Xliff12(cut), [](const std::string& text) { return "P" + text; }),
              HasSubstr("</seg-source><target state=\"needs-review-translation\" "
                        "state-qualifier=\"mt-suggestion\"><mrk mtype=\"seg\" mid=\"0\">PA.</mrk> "
                        "<mrk mtype=\"seg\" mid=\"1\">PB.</mrk></target>"));
}

TEST(Xliff, OfVersion2HasItsStateOnTheSegment) {
  const std::string unit =
      "<unit id=\"1\"><segment><source>A <pc id=\"1\">red</pc> <sc id=\"2\"/>car<ec "
      "startRef=\"2\"/>"
      "</source></segment><segment state=\"final\"><source>B</source><target>P</target></segment>"
      "<ignorable><source> </source></ignorable></unit>"
      "<unit id=\"2\" translate=\"no\"><segment><source>C</source></segment></unit>";
  EXPECT_THAT(TextsOf("a.xlf", Xliff2(unit)), ElementsAre("A <g0>red</g0> <g1>car</g1>"));
  const std::string after =
      InPortuguese(Xliff2(unit), [](const std::string&) { return "Um <g1>carro</g1> <g0>v</g0>"; });
  EXPECT_THAT(after, HasSubstr("trgLang=\"pt\""));
  EXPECT_THAT(after, HasSubstr("<segment state=\"translated\"><source>A"));
  EXPECT_THAT(after, HasSubstr("<target>Um <sc id=\"2\"/>carro<ec startRef=\"2\"/> "
                               "<pc id=\"1\">v</pc></target>"));
  EXPECT_THAT(after, HasSubstr("<segment state=\"final\"><source>B"));
  EXPECT_THAT(InPortuguese(Xliff2(unit, " trgLang=\"pt-BR\""), Same),
              HasSubstr("trgLang=\"pt-BR\""));
}

TEST(Xliff, LineBreaksThatCountDivideTheText) {
  const std::string unit = "<trans-unit id=\"1\"><source>One\n  Two</source></trans-unit>";
  EXPECT_THAT(TextsOf("a.xliff", Xliff12(unit)), ElementsAre("One\n  Two"));
  EXPECT_THAT(TextsOf("a.xliff", Xliff12(unit, " xml:space=\"preserve\"")),
              ElementsAre("One<br id=0/>Two"));
  EXPECT_THAT(InPortuguese(Xliff12(unit, " xml:space=\"preserve\""), Same),
              HasSubstr("mt-suggestion\">One\n  Two</target>"));
  const std::string source = "<source xml:space=\"preserve\"> One</source>";
  EXPECT_THAT(InPortuguese(Xliff12("<trans-unit id=\"1\">" + source + "</trans-unit>"), Same),
              HasSubstr("<target xml:space=\"preserve\" state"));
}

TEST(Xliff, CodesThatNestDeeplyStay) {
  std::string inner = "x";
  for (int depth = 0; depth < 200; ++depth) {
    std::string before;
    std::string behind;
    for (int pair = 0; pair < 100; ++pair) {
      before += StrCat("<bpt id=\"", pair, "\"/>");
      behind = StrCat("<ept id=\"", pair, "\"/>", behind);
    }
    inner = StrCat(before, "<g>", inner, "</g>", behind);
  }
  const std::string file =
      Xliff12("<trans-unit id=\"1\"><source>A " + inner + "</source></trans-unit>");
  EXPECT_TRUE(HasValidNames(InPortuguese(file, Same)));
}

TEST(Xliff, WhatIsAroundTheDocumentStays) {
  const std::string file =
      "\xEF\xBB\xBF<?xml version='1.0' encoding=\"UTF-8\"?>\r\n<!-- a -->\r\n<xliff "
      "version=\"1.2\">"
      "\r\n</xliff>\r\n";
  EXPECT_EQ(InPortuguese(file, Same), file);
}

TEST(Xliff, AllButTargetsAndStatesStaysByteForByte) {
  const std::string before =
      "<xliff version='1.2' >\r\n<file source-language = 'en'\r\n target-language='pt' ><body>"
      "<!-- a --><group id='g' ><trans-unit id=\"1\" a='&lt;b&gt;' >\r\n\t<source>Red &#xE9; "
      "<x id='1' /></source>";
  const std::string behind =
      "<note>&quot;a&quot;</note><x />\r\n</trans-unit></group></body></file></xliff>\r\n";
  const std::string target =
      "<target state=\"needs-review-translation\" state-qualifier=\"mt-suggestion\">Red \u00E9 "
      "<x id=\"1\"/></target>";
  EXPECT_EQ(InPortuguese(before + behind, Same), before + "\r\n\t" + target + behind);
  EXPECT_EQ(InPortuguese(before + "<target ></target >" + behind, Same), before + target + behind);
  EXPECT_EQ(InPortuguese(Xliff2("<unit><segment id='s' subState = \"x:a\" state='initial' >"
                                "<source>Red</source></segment></unit>",
                                " trgLang='pt'"),
                         Same),
            Xliff2("<unit><segment id='s' state=\"translated\" ><source>Red</source><target>Red"
                   "</target></segment></unit>",
                   " trgLang='pt'"));
}

TEST(Xliff, AUnitMayBeTranslatedInAGroupThatIsNot) {
  EXPECT_THAT(TextsOf("a.xliff", Xliff12("<group translate=\"no\"><trans-unit id=\"1\"><source>One"
                                         "</source></trans-unit><trans-unit id=\"2\" translate="
                                         "\"yes\"><source>Two</source></trans-unit></group>")),
              ElementsAre("Two"));
}

TEST(Xliff, ErrorsSayWhatIsWrong) {
  EXPECT_THAT(Translated("a.xliff", "<a/>", Same), HasSubstr("file: has no element xliff"));
  EXPECT_THAT(Translated("a.xlf", "<xliff version=\"3.0\"/>", Same), HasSubstr("version '3.0'"));
  EXPECT_THAT(Translated("a.xlf", "<xliff", Same), HasSubstr("not well-formed XML"));
  EXPECT_THAT(Translated("a.xlf", "<!DOCTYPE x [<!ENTITY a \"b\">]><xliff/>", Same),
              HasSubstr("DOCTYPE"));
  EXPECT_THAT(Translated("a.xlf", Xliff12(""), Same, {.xml_bytes = 9}), HasSubstr("at most 9"));
}

// Returns random contents of a source.
std::string RandomSource(std::mt19937& random, int depth) {
  std::string all;
  for (size_t i = random() % 4; i > 0; --i) {
    const auto id = std::to_string(random() % 5);
    const std::string inner = depth > 0 ? RandomSource(random, depth - 1) + "x" : "x";
    switch (random() % 8) {
      case 0:
        absl::StrAppend(&all, "<g id=\"", id, "\">", inner, "</g>");
        break;
      case 1:
        absl::StrAppend(&all, "<bpt id=\"", id, "\"/>", inner, "<ept id=\"", id, "\"/>");
        break;
      case 2:
        absl::StrAppend(&all, "<ept id=\"", id, "\">a</ept>", inner, "<bx id=\"", id, "\"/>");
        break;
      case 3:
        absl::StrAppend(&all, "<n:x xmlns:n=\"urn:n\" n:a=\"1\">", inner, "</n:x>");
        break;
      case 4:
        absl::StrAppend(&all, "<mrk mtype=\"protected\">", inner, "</mrk><ph id=\"", id, "\"/>");
        break;
      default:
        all += "The house  is &amp; red. ";
    }
  }
  return all;
}

TEST(Xliff, OfAnyShapeIsValidAfterAnyTranslationAndKeepsItsCodes) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    const std::string source = StrCat("<source>x ", RandomSource(random, 3), "</source>");
    const std::string file = Xliff12("<trans-unit id=\"1\">" + source + "</trans-unit>");
    ASSERT_TRUE(HasValidNames(file)) << file;
    // A model may drop or move marks.
    const bool moves = random() % 2 == 0;
    const std::string after = InPortuguese(file, [&](const std::string& text) {
      const size_t cut = moves ? random() % (text.size() + 1) : 0;
      return text.substr(cut) + text.substr(0, cut);
    });
    ASSERT_TRUE(HasValidNames(after)) << file << "\n" << after;
    ASSERT_NE(after.find(source), after.npos) << after;
    if (moves) continue;
    const auto count = [](const std::string& text, const std::string& part) {
      size_t found = 0;
      for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
      return found;
    };
    const size_t times = after.find("<target") == after.npos ? 1 : 2;
    for (const char* part : {"<bpt", "<ept", "<bx", "<ph", "<n:x", "<mrk"})
      ASSERT_EQ(count(after, part), times * count(file, part)) << part << "\n" << after;
  }
}

}  // namespace
}  // namespace millrace::server
