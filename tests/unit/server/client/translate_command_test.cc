#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "tests/unit/server/client/client_fixture.h"

namespace millrace {
namespace {

using TranslateCommandTest = ClientTest;

TEST_F(TranslateCommandTest, TranslatePrintsTheTranslation) {
  EXPECT_EQ(Captured([&] { return RunTranslate({client_, "Hello", "m", "en", "pt"}); }), kExitOk);
  EXPECT_EQ(out_, "en>pt Hello\n");
  EXPECT_EQ(err_, "");
  EXPECT_EQ(translation_.authorization, "");
}

TEST_F(TranslateCommandTest, TextsComeFromFiles) {
  std::ofstream(folder_ / "text") << "Bonjour";
  TranslateCommand command{client_, "", "m", "fr", "pt"};
  command.file = folder_ / "text";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk);
  EXPECT_EQ(out_, "fr>pt Bonjour\n");
  command.file = folder_ / "none";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_,
            "millrace: " + command.file.string() + ": cannot be read: No such file or directory\n");
  command.file = folder_;
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: " + folder_.string() + ": cannot be read, because it is a folder\n");
  command.file.clear();
  command.text = "Hello";
  command.glossary = folder_;
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: --glossary: " + folder_.string() +
                      ": cannot be read, because it is a folder\n");
}

TEST_F(TranslateCommandTest, DocumentsAreTranslatedTextByText) {
  TranslateCommand command{client_, "", "m", "en", "pt"};
  command.file = folder_ / "film.SRT";
  std::ofstream(command.file) << "1\n00:00:01,000 --> 00:00:02,000\nHello.\n\n"
                                 "2\n00:00:03,000 --> 00:00:04,000\nGood night.\n";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk) << err_;
  EXPECT_EQ(out_,
            "1\n00:00:01,000 --> 00:00:02,000\nen>pt Hello.\n\n"
            "2\n00:00:03,000 --> 00:00:04,000\nen>pt Good night.\n");
  // A format makes it a text.
  command.format = "text";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk) << err_;
  EXPECT_TRUE(out_.starts_with("en>pt 1\n00:00:01")) << out_;
  command.format.clear();
  command.json = true;
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: --json, --detect and --alternatives are for texts, and " +
                      command.file.string() + " is a document\n");
  command.json = false;
  command.file = folder_ / "empty";
  std::ofstream(command.file).close();
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(err_, "millrace: " + command.file.string() + ": is empty\n");
  translation_.calls = 0;
  for (const bool detect : {false, true}) {
    TranslateCommand empty{client_, "", "m", "en", "pt"};
    empty.detect = detect;
    EXPECT_EQ(Captured([&] { return RunTranslate(empty); }), kExitFailed);
    EXPECT_EQ(err_, "millrace: text: is empty\n");
  }
  EXPECT_EQ(translation_.calls, 0);
  command.file = folder_ / "a\x1B[2J.docx";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_NE(err_.find("/a?[2J.docx: cannot be read"), err_.npos) << err_;
  command.file = folder_ / "broken.docx";
  std::ofstream(command.file) << "no zip";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_TRUE(err_.starts_with("millrace: " + command.file.string() + ": is not a zip archive"))
      << err_;
}

TEST_F(TranslateCommandTest, ADocumentOfManyTextsGoesInSeveralRequests) {
  TranslateCommand command{client_, "", "m", "en", "pt"};
  command.file = folder_ / "words.json";
  nlohmann::json words;
  nlohmann::json translated;
  for (int i = 0; i < 600; ++i) {
    words["k" + std::to_string(i)] = "Word.";
    translated["k" + std::to_string(i)] = "en>pt Word.";
  }
  std::ofstream(command.file) << words.dump();
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk) << err_;
  EXPECT_EQ(nlohmann::json::parse(out_), translated);
  EXPECT_EQ(translation_.calls, 3);
  translation_.calls = 0;
  command.model = "fails later";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_EQ(out_, "");  // half a document is none
}

TEST_F(TranslateCommandTest, TheNameOfAFileSaysItsFormat) {
  TranslateCommand command{client_, "", "formats", "en", "pt"};
  for (const auto& [name, format] : {std::pair{"a.html", "TEXT_FORMAT_HTML"},
                                     {"a.md", "TEXT_FORMAT_MARKDOWN"},
                                     {"a.txt", "TEXT_FORMAT_UNSPECIFIED"},
                                     {"a", "TEXT_FORMAT_UNSPECIFIED"}}) {
    command.file = folder_ / name;
    std::ofstream(command.file) << "Hello";
    EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk) << err_;
    EXPECT_EQ(out_, StrCat(format, *name == 'a' && name[1] == '\0' ? "\n" : "")) << name;
  }
}

TEST_F(TranslateCommandTest, AFileOfTextKeepsItsMarkItsLinesAndItsEnd) {
  TranslateCommand command{client_, "", "m", "en", "pt"};
  command.file = folder_ / "a.txt";
  std::ofstream(command.file) << "\xEF\xBB\xBFThe old\r\nhouse";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk) << err_;
  EXPECT_EQ(out_,
            "\xEF\xBB\xBF"
            "en>pt\r\nThe old\r\nhouse");
  // An empty one is one.
  std::ofstream(command.file).close();
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk) << err_;
  EXPECT_EQ(out_, "");
}

TEST_F(TranslateCommandTest, LongTextsAreTranslatedInParts) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "This is a sentence of a paragraph.\n\n";
  TranslateCommand command{client_, text, "m", "en", "pt"};
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitOk) << err_;
  EXPECT_GT(translation_.calls, 4);
  // Nothing but what the translator adds to each part is other than in the text.
  std::string without = out_;
  for (size_t at = 0; (at = without.find("en>pt ", at)) != std::string::npos;) without.erase(at, 6);
  EXPECT_EQ(without, text);
  translation_.calls = 0;
  command.model = "fails later";
  EXPECT_EQ(Captured([&] { return RunTranslate(command); }), kExitFailed);
  EXPECT_NE(err_.find("2 of 6 parts were translated"), std::string::npos) << err_;
  EXPECT_GT(out_.size(), 10'000U);
}

}  // namespace
}  // namespace millrace
