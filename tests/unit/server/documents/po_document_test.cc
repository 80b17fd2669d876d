#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/server/documents/translated.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Marked(const std::string& text) { return "<" + text + ">"; }

TEST(PoDocument, EmptyTranslationsAreFilled) {
  EXPECT_EQ(Translated("pt.PO",
                       "# A comment: msgid \"x\"\nmsgid \"\"\nmsgstr \"\"\n"
                       "\"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
                       "#: a.c:1\n#, c-format\nmsgctxt \"menu\"\nmsgid \"Open %s\"\nmsgstr \"\"\n\n"
                       "#, fuzzy\n#| msgid \"Shut\"\nmsgid \"Close\"\nmsgstr \"Fechar\"\n\n"
                       "#~ msgid \"Old\"\n#~ msgstr \"\"\n",
                       Marked),
            "# A comment: msgid \"x\"\nmsgid \"\"\nmsgstr \"\"\n"
            "\"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
            "#: a.c:1\n#, c-format\nmsgctxt \"menu\"\nmsgid \"Open %s\"\nmsgstr \"<Open %s>\"\n\n"
            "#, fuzzy\n#| msgid \"Shut\"\nmsgid \"Close\"\nmsgstr \"Fechar\"\n\n"
            "#~ msgid \"Old\"\n#~ msgstr \"\"\n");
}

TEST(PoDocument, LinesThatNameADomainStay) {
  const std::string file = "domain \"a\"\nmsgid \"Open\"\nmsgstr \"\"\n\ndomain \"b\"\n";
  EXPECT_EQ(Translated("a.po", file, Marked),
            "domain \"a\"\nmsgid \"Open\"\nmsgstr \"<Open>\"\n\ndomain \"b\"\n");
}

TEST(PoDocument, PluralForms) {
  const std::string ids = "msgid \"A file\"\nmsgid_plural \"%d files\"\n";
  EXPECT_EQ(Translated("a.po", ids + "msgstr[0] \"\"\nmsgstr[1] \"\"\nmsgstr[2] \"\"\n", Marked),
            ids + "msgstr[0] \"<A file>\"\nmsgstr[1] \"<%d files>\"\nmsgstr[2] \"<%d files>\"\n");
  EXPECT_EQ(Translated("a.po", ids + "msgstr[0] \"\"\n", Marked),
            ids + "msgstr[0] \"<%d files>\"\n");
  EXPECT_EQ(Translated("a.po", ids + "msgstr[0] \"x\"\nmsgstr[1] \"\"", Marked),
            ids + "msgstr[0] \"x\"\nmsgstr[1] \"<%d files>\"");
}

TEST(PoDocument, StringsOverSeveralLinesAndEscapes) {
  const std::string file =
      "msgid \"\"\r\n\"Are you \\\"sure\\\"?\\n\"\r\n\"C:\\\\alpha\\tno\"\r\nmsgstr "
      "\"\"\r\n\"\"\r\n";
  EXPECT_THAT(TextsOf("a.po", file), ElementsAre("Are you \"sure\"?\nC:\\alpha\tno"));
  EXPECT_EQ(Translated("a.po", file, Marked),
            "msgid \"\"\r\n\"Are you \\\"sure\\\"?\\n\"\r\n\"C:\\\\alpha\\tno\"\r\n"
            "msgstr \"\"\r\n\"<Are you \\\"sure\\\"?\\n\"\r\n\"C:\\\\alpha\\tno>\"\r\n");
  // A text that stays the same in the other language is filled in too.
  EXPECT_EQ(Translated("a.po", "msgid \"OK\\n\"\nmsgstr \"\"\n", Same),
            "msgid \"OK\\n\"\nmsgstr \"OK\\n\"\n");
}

TEST(PoDocument, ControlCharactersStayOut) {
  const std::string file = "msgid \"Bell \\a\"\nmsgstr \"\"\n";
  EXPECT_THAT(TextsOf("a.po", file), IsEmpty());
  EXPECT_EQ(Translated("a.po", file, Marked), file);
}

TEST(PoDocument, EntriesWithoutABlankLineBetween) {
  EXPECT_THAT(TextsOf("a.po",
                      "msgid \"A\"\nmsgstr \"\"\nmsgid \"B\"\nmsgstr \"\"\nmsgctxt \"c\"\n"
                      "msgid \"C\"\nmsgstr \"\""),
              ElementsAre("A", "B", "C"));
}

TEST(PoDocument, ErrorsNameTheLine) {
  EXPECT_THAT(Translated("a.po", "msgid \"A\"\nhello\n", Same), HasSubstr("file: line 2 has none"));
  for (const char* file : {"msgid \"A", "msgid A", "msgstr \"\"", "\"A\"", "msgid \"A\\\"",
                           "msgid \"A\"B\"", "msgid_plural \"A\"", "msgid \"A\"\n\n\"B\"",
                           "msgid \"A\"\nmsgstr \"\"\nmsgid_plural \"B\""}) {
    EXPECT_THAT(Translated("a.po", file, Same), HasSubstr("has none of what a PO file may have"))
        << file;
  }
  EXPECT_EQ(Translated("a.po", "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=latin1\\n\"",
                       Same),
            "file: the header names the charset 'latin1'; only UTF-8 is supported");
  EXPECT_EQ(Translated("a.po", "", Same), "");
  for (const std::string charset : {"CHARSET", "us-ascii", "utf-8"}) {
    const std::string file =
        "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=" + charset + "\\n\"\n";
    EXPECT_EQ(Translated("a.po", file, Same), file);
  }
}

TEST(PoDocument, AFewBytesStandForNoMoreThanTheLimits) {
  std::string forms;
  for (int i = 0; i < 100'000; ++i) forms += "msgstr \"\"\n";
  const std::string id = "msgid \"" + std::string(1'000'000, 'x') + "\"\n";
  EXPECT_THAT(Translated("a.po", id + forms, Same), HasSubstr("characters of text and markup"));
  EXPECT_THAT(Translated("a.po", "msgid \"x\"\n" + forms, Same),
              HasSubstr("at most 10000 are allowed"));
  std::string header = "msgid \"\"\nmsgstr \"\"\n";
  for (int i = 0; i < 500'000; ++i) header += "\"ccc\"\n";
  EXPECT_EQ(Translated("a.po", header, Same), header);
}

// The file in another language, each text translated by `translate`.
std::string InLanguage(const std::string& language, const std::string& bytes,
                       const Translator& translate) {
  auto document = OpenDocument("a.po", bytes, {}, language);
  if (!document.ok()) return std::string(document.status().message());
  std::vector<std::string> translations;
  for (const std::string& text : (*document)->texts()) translations.push_back(translate(text));
  return *(*document)->Render(std::move(translations));
}

std::string Header(const std::string& language, const std::string& forms) {
  return "msgid \"\"\nmsgstr \"\"\n\"Language: " + language + "\\n\"\n\"Plural-Forms: " + forms +
         "\\n\"\n\n";
}

TEST(PoDocument, ThereAreAsManyPluralFormsAsTheLanguageHas) {
  const std::string ids = "msgid \"a\"\nmsgid_plural \"b\"\n";
  const std::string two = ids + "msgstr[0] \"\"\nmsgstr[1] \"\"\n";
  const std::string none = Header("", "nplurals=INTEGER; plural=EXPRESSION;");
  EXPECT_EQ(InLanguage("ja", none + two, Marked),
            Header("ja", "nplurals=1; plural=0;") + ids + "msgstr[0] \"<b>\"\n");
  const std::string russian = InLanguage("ru", none + two, Marked);
  EXPECT_THAT(russian, HasSubstr("Language: ru\\n\"\n\"Plural-Forms: nplurals=3; plural=(n%10==1"));
  EXPECT_THAT(russian, HasSubstr("msgstr[0] \"<a>\"\nmsgstr[1] \"<b>\"\nmsgstr[2] \"<b>\"\n"));
  // A header for the language is left as it is.
  const std::string own = Header("pt", "nplurals=3; plural=n;");
  EXPECT_EQ(InLanguage("pt-BR", own + two, Marked),
            own + ids + "msgstr[0] \"<a>\"\nmsgstr[1] \"<b>\"\nmsgstr[2] \"<b>\"\n");
  EXPECT_THAT(InLanguage("pt-BR", Header("en", "nplurals=2; plural=(n != 1);") + two, Marked),
              HasSubstr("Language: pt_BR\\n\"\n\"Plural-Forms: nplurals=2; plural=(n > 1);"));
}

TEST(PoDocument, FilledPluralFormsKeepTheRuleTheyWereWrittenFor) {
  const std::string ids = "msgid \"a\"\nmsgid_plural \"b\"\n";
  const std::string empty = ids + "msgstr[0] \"\"\nmsgstr[1] \"\"\n";
  const std::string filled = ids + "msgstr[0] \"x\"\nmsgstr[1] \"\"\n\"y\"\n";
  const std::string half = ids + "msgstr[0] \"x\"\nmsgstr[1] \"\"\n";
  const std::string one = ids + "msgstr[0] \"x\"\n";
  const std::string header = Header("en", "nplurals=2; plural=(n != 1);");
  const std::string translated = ids + "msgstr[0] \"<a>\"\nmsgstr[1] \"<b>\"\n";
  for (const char* language : {"ja", "ru", "pt-BR"}) {
    const std::string name = language == std::string("pt-BR") ? "pt_BR" : language;
    const std::string now = Header(name, "nplurals=2; plural=(n != 1);");
    EXPECT_EQ(InLanguage(language, header + empty + "\n" + filled, Marked),
              now + translated + "\n" + filled);
    EXPECT_EQ(InLanguage(language, header + half, Marked),
              now + ids + "msgstr[0] \"x\"\nmsgstr[1] \"<b>\"\n");
    // An entry with too few forms gets those that it lacks.
    EXPECT_EQ(InLanguage(language, header + one, Marked),
              now + ids + "msgstr[0] \"x\"\nmsgstr[1] \"<b>\"\n");
  }
  // A header that declares nothing gets the rule of the language, if that loses no form.
  const std::string none = Header("", "nplurals=INTEGER; plural=EXPRESSION;");
  EXPECT_THAT(InLanguage("ru", none + filled, Marked),
              testing::AllOf(HasSubstr("nplurals=3"), HasSubstr("msgstr[2] \"<b>\"\n")));
  EXPECT_THAT(InLanguage("ja", none + filled, Marked),
              testing::AllOf(HasSubstr("nplurals=INTEGER"), HasSubstr("\"y\"\n")));
}

TEST(PoDocument, LineBreaksAtTheEndsAreThoseOfTheSource) {
  const auto after = [](const std::string& source, const std::string& translation) {
    return Translated("a.po", "msgid \"" + source + "\"\nmsgstr \"\"\n",
                      [&](const std::string&) { return translation; });
  };
  EXPECT_THAT(after("\\nA\\n", "B"), HasSubstr("msgstr \"\"\n\"\\n\"\n\"B\\n\"\n"));
  EXPECT_THAT(after("A", "\nB\n"), HasSubstr("msgstr \"B\"\n"));
}

TEST(PoDocument, AFormatStringTakesTheArgumentsOfItsSource) {
  const auto after = [](const std::string& flag, const std::string& source,
                        const std::string& translation) {
    return Translated("a.po", "#, " + flag + "\nmsgid \"" + source + "\"\nmsgstr \"\"\n",
                      [&](const std::string&) { return translation; });
  };
  EXPECT_THAT(after("c-format", "%d files in %s", "Em %s, %d"),
              HasSubstr("msgstr \"Em %2$s, %1$d\""));
  EXPECT_THAT(after("c-format", "%s in %s", "em %s, %s"), HasSubstr("msgstr \"em %s, %s\""));
  EXPECT_THAT(after("c-format", "%1$d in %2$s", "em %2$s, %1$d"),
              HasSubstr("msgstr \"em %2$s, %1$d\""));
  EXPECT_THAT(after("c-format", "%d%% of %s", "%s, %d%%"), HasSubstr("msgstr \"%2$s, %1$d%%\""));
  EXPECT_THAT(after("c-format", "%d files", "arquivos"), HasSubstr("msgstr \"\""));
  EXPECT_THAT(after("c-format", "all of it", "100% de tudo"), HasSubstr("msgstr \"\""));
  EXPECT_THAT(after("fuzzy, python-format", "%d in %s", "%s: %d"), HasSubstr("msgstr \"\""));
  EXPECT_THAT(after("python-format", "%(a)d in %(b)s", "%(b)s: %(a)d"),
              HasSubstr("msgstr \"%(b)s: %(a)d\""));
  EXPECT_THAT(after("no-c-format", "100% of it", "100% d"), HasSubstr("msgstr \"100% d\""));
}

}  // namespace
}  // namespace millrace::server
