// Property tests: a document of any shape is valid after any translation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "models/core/strings.h"
#include "server/documents/xml_part.h"
#include "tests/unit/server/documents/office_files.h"
#include "tests/unit/server/documents/translated.h"
#include "tests/unit/server/documents/zip_file.h"

namespace millrace::server {
namespace {

std::string RandomOpenDocumentItem(std::mt19937& random, int depth) {
  const auto items = [&] {
    std::string all;
    for (size_t i = random() % 3; depth > 0 && i > 0; --i)
      all += RandomOpenDocumentItem(random, depth - 1);
    return all;
  };
  switch (random() % 9) {
    case 0:
      return StrCat("<text:span xmlns:n=\"urn:n\" n:a=\"1\">", items(), "</text:span>");
    case 1:
      return StrCat("<text:a>", items(), "<n:x xmlns:n=\"urn:n\"/></text:a>");
    case 2:
      return "<text:s text:c=\"3\"/><text:tab/>";
    case 3:
      return "<text:note><text:note-body><text:p>A note.</text:p></text:note-body></text:note>";
    case 4:
      return "<text:change-start text:change-id=\"c\"/>new<text:change-end text:change-id=\"c\"/>";
    case 5:
      return "<text:bookmark-start text:name=\"b\"/>here<text:bookmark-end text:name=\"b\"/>";
    case 6:
      return "<text:page-number>1</text:page-number> <text:line-break/>";
    case 7:
      return StrCat("<n:frame xmlns:n=\"urn:n\"><n:box><text:p>", items(),
                    "</text:p></n:box></n:frame>");
    default:
      return "The house &amp; is red. ";
  }
}

TEST(Odt, OfAnyShapeIsValidAfterAnyTranslation) {
  std::mt19937 random(13);
  for (int round = 0; round < 2000; ++round) {
    std::string body = "<text:p>";
    for (size_t i = random() % 8; i > 0; --i) body += RandomOpenDocumentItem(random, 3);
    body += "</text:p>";
    ASSERT_TRUE(HasValidNames(Content(body))) << body;
    const Translator translate = [&](const std::string& text) {
      const size_t cut = random() % (text.size() + 1);
      return random() % 2 == 0 ? text : text.substr(cut) + text.substr(0, cut);
    };
    const std::string after = EntryOf(Translated("a.odt", Odt(body), translate), "content.xml");
    ASSERT_TRUE(HasValidNames(after)) << body << "\n" << after;
    const auto count = [](const std::string& text, const std::string& part) {
      size_t found = 0;
      for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
      return found;
    };
    for (const char* part :
         {"<text:tab", "<text:note-body", "<text:change-start", "<text:change-end",
          "<text:bookmark-start", "<text:page-number", "<text:p", "<n:frame"})
      ASSERT_EQ(count(after, part), count(body, part)) << part << "\n" << body << "\n" << after;
  }
}

// A random part of a paragraph of WordprocessingML: runs, links, tracked changes, anchors, fields,
// with namespaces declared at any of them.
std::string RandomWordItem(std::mt19937& random, int depth) {
  const std::string name = StrCat("n", random() % 3);
  const std::string declared =
      random() % 2 == 0 ? "" : StrCat(" xmlns:", name, "=\"urn:", name, "\"");
  const std::string inner = declared.empty() ? "<w:drawing/>" : StrCat("<", name, ":x/>");
  const auto items = [&] {
    std::string all;
    for (size_t i = random() % 3; depth > 0 && i > 0; --i) all += RandomWordItem(random, depth - 1);
    return all;
  };
  switch (random() % 10) {
    case 0:
      return StrCat("<w:r", declared, ">", inner, "</w:r>");
    case 1:
      return StrCat("<w:r", declared, "><w:rPr><w:b/>", declared.empty() ? "" : inner,
                    "</w:rPr><w:t>bold words  with spaces</w:t></w:r>");
    case 2:
      return StrCat("<w:hyperlink", declared, ">", items(), "</w:hyperlink>");
    case 3:
      return StrCat("<w:ins", declared, ">", items(), "</w:ins>");
    case 4:
      return StrCat("<w:del", declared, "><w:r><w:delText>gone</w:delText></w:r></w:del>");
    case 5:
      return StrCat("<w:bookmarkStart w:id=\"", name, "\"/><w:r><w:t>anchor</w:t></w:r>", items(),
                    "<w:bookmarkEnd w:id=\"", name, "\"/>");
    case 6:
      return Field(random() % 2 == 0 ? "HYPERLINK x" : "PAGE", items());
    case 7:
      return StrCat("<w:r", declared, "><w:t>a</w:t>", inner, "<w:tab/><w:t>b</w:t></w:r>");
    case 8:
      return StrCat("<w:r", declared,
                    "><w:ruby><w:rubyPr/><w:rt><w:r><w:t>r</w:t></w:r></w:rt><w:rubyBase>", items(),
                    "</w:rubyBase></w:ruby></w:r>");
    default:
      return "<w:r><w:t>The house is red. </w:t></w:r>";
  }
}

TEST(Docx, OfAnyShapeIsValidAfterAnyTranslation) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string body = "<w:p>";
    for (size_t i = random() % 8; i > 0; --i) body += RandomWordItem(random, 3);
    body += "</w:p>";
    ASSERT_TRUE(HasValidNames(Word(body))) << body;
    // Marks may be dropped, moved or said twice by a model.
    const Translator translate = [&](const std::string& text) {
      const size_t cut = random() % (text.size() + 1);
      return random() % 2 == 0 ? text : text.substr(cut) + text.substr(0, cut);
    };
    const std::string file = Translated("a.docx", Docx(body), translate);
    const std::string after = EntryOf(file, "word/document.xml");
    ASSERT_TRUE(HasValidNames(after)) << body << "\n" << file.substr(0, 200) << "\n" << after;
    const auto count = [](const std::string& text, const std::string& part) {
      size_t found = 0;
      for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
      return found;
    };
    ASSERT_EQ(count(after, "\"begin\""), count(after, "\"end\"")) << body << "\n" << after;
    for (const char* part :
         {"<w:drawing", "<w:del", "<w:tab", "<w:bookmarkStart", "<w:bookmarkEnd"})
      ASSERT_EQ(count(after, part), count(body, part)) << part << "\n" << body << "\n" << after;
  }
}

}  // namespace
}  // namespace millrace::server
