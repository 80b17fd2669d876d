#pragma once

#include <string>

#include "models/core/strings.h"
#include "tests/unit/server/documents/translated.h"
#include "tests/unit/server/documents/zip_file.h"

namespace millrace::server {

// Returns the runs of a field of Word with that code and that result.
inline std::string Field(const std::string& code, const std::string& result) {
  return StrCat("<w:r><w:fldChar w:fldCharType=\"begin\"/></w:r><w:r><w:instrText> ", code,
                " </w:instrText></w:r><w:r><w:fldChar w:fldCharType=\"separate\"/></w:r>", result,
                "<w:r><w:fldChar w:fldCharType=\"end\"/></w:r>");
}

inline std::string Word(const std::string& body) {
  return StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n",
                "<w:document xmlns:w=\"w\"><w:body>", body, "</w:body></w:document>");
}
inline std::string Docx(const std::string& body, ZipEntries others = {}) {
  others.insert(others.begin(),
                {{"[Content_Types].xml", "<Types/>"}, {"word/document.xml", Word(body)}});
  return Packed(others);
}
inline std::string Content(const std::string& body) {
  return StrCat("<office:document-content xmlns:office=\"o\" xmlns:text=\"t\">", body,
                "</office:document-content>");
}
inline std::string Odt(const std::string& body) {
  return Packed({{"mimetype", "application/vnd.oasis.opendocument.text"},
                 {"content.xml", Content(body)},
                 {"styles.xml", "<s><text:p>Foot</text:p></s>"}});
}

// The body after a translation of its only text.
inline std::string WordAfter(const std::string& body, const std::string& translation) {
  const std::string all =
      EntryOf(Translated("a.docx", Docx(body), [&](const std::string&) { return translation; }),
              "word/document.xml");
  const size_t begin = all.find("<w:body>") + 8;
  return all.substr(begin, all.find("</w:body>") - begin);
}
inline std::string OdtAfter(const std::string& body, const std::string& translation) {
  const std::string all = EntryOf(
      Translated("a.odt", Odt(body),
                 [&](const std::string& text) { return text == "Foot" ? text : translation; }),
      "content.xml");
  const size_t begin = all.find("\"t\">") + 4;
  return all.substr(begin, all.find("</office") - begin);
}

}  // namespace millrace::server
