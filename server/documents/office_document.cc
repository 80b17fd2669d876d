#include "server/documents/office_document.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/core/strings.h"
#include "pugixml.hpp"
#include "server/documents/office_paragraph.h"
#include "server/documents/xml_part.h"
#include "server/documents/zip_archive.h"

namespace millrace::server {
namespace {

// How a kind of office documents is laid out.
struct Layout {
  std::string_view extension;
  std::string_view main_part;  // which every such document has
  std::string_view root;       // the element that it consists of
  bool (*has_text)(std::string_view part);
  bool (*is_paragraph)(std::string_view element);
  std::string_view skipped;  // an element whose paragraphs are not part of the document
  std::vector<OfficeItem> (*read)(pugi::xml_node paragraph);
  bool has_runs;
};

bool IsNumbered(std::string_view part, std::string_view before) {
  if (!part.starts_with(before) || !part.ends_with(".xml")) return false;
  part.remove_prefix(before.size());
  part.remove_suffix(4);
  return part.find_first_not_of("0123456789") == std::string_view::npos;
}

bool IsWordText(std::string_view part) {
  return part == "word/document.xml" || part == "word/footnotes.xml" ||
         part == "word/endnotes.xml" || part == "word/comments.xml" ||
         IsNumbered(part, "word/header") || IsNumbered(part, "word/footer");
}

bool IsOpenDocumentText(std::string_view part) {
  return part == "content.xml" || part == "styles.xml";
}

constexpr Layout kWord = {".docx",
                          "word/document.xml",
                          "w:document",
                          IsWordText,
                          [](std::string_view element) { return element == "w:p"; },
                          "w:del",
                          ReadWordItems,
                          /*has_runs=*/true};
constexpr Layout OpenDocumentLayout(std::string_view extension) {
  return {extension,
          "content.xml",
          "office:document-content",
          IsOpenDocumentText,
          [](std::string_view element) { return element == "text:p" || element == "text:h"; },
          "text:tracked-changes",
          ReadOpenDocumentItems,
          /*has_runs=*/false};
}
constexpr Layout kTextLayout = OpenDocumentLayout(".odt");
constexpr Layout kPresentationLayout = OpenDocumentLayout(".odp");

class OfficeDocument final : public Document {
 public:
  OfficeDocument(const Layout& layout, std::unique_ptr<ZipArchive> archive)
      : layout_(layout), archive_(std::move(archive)) {}

  absl::Status Read(const DocumentLimits& limits) {
    std::vector<std::string> names = archive_->Names();
    if (std::ranges::find(names, layout_.main_part) == names.end()) {
      return absl::InvalidArgumentError(StrCat("file: has no ", layout_.main_part, ", which every ",
                                               layout_.extension, " document has"));
    }
    size_t left = limits.xml_bytes;
    for (std::string& name : names) {
      if (!layout_.has_text(name)) continue;
      absl::StatusOr<std::string> content = archive_->Read(name, left);
      if (!content.ok()) return content.status();
      left -= content->size();
      auto xml = ReadXml(name, *content, limits);
      if (!xml.ok()) return xml.status();
      if (name == layout_.main_part && !(*xml)->child(std::string(layout_.root).c_str())) {
        return absl::InvalidArgumentError(StrCat("file: ", name, " has no element ", layout_.root,
                                                 ", as a ", layout_.extension, " document has"));
      }
      AddPart(std::move(name), *std::move(xml));
      parts_.back().has_valid_names = HasValidNames(*content);
    }
    return absl::OkStatus();
  }

  std::span<const std::string> texts() const override { return texts_; }
  models::TextFormat format() const override { return models::TextFormat::kHtml; }
  absl::StatusOr<std::string> Render(std::vector<std::string> translations) override {
    size_t first = 0;
    for (Part& part : parts_) {
      if (part.paragraphs.empty()) continue;
      // A paragraph inside of another, as in a text box, comes before that one, which moves it or,
      // where it stands in a place that no editor knows, drops it.
      for (size_t i = part.paragraphs.size(); i-- > 0;)
        part.paragraphs[i].Write(translations[first + i]);
      first += part.paragraphs.size();
      std::string xml = WriteXml(*part.xml);
      if (part.has_valid_names && !HasValidNames(xml))
        return absl::InternalError(StrCat("the translation of ", part.name, " is not valid XML"));
      if (absl::Status status = archive_->Replace(part.name, std::move(xml)); !status.ok())
        return status;
    }
    return archive_->Finish();
  }

 private:
  struct Part {
    std::string name;
    std::unique_ptr<pugi::xml_document> xml;
    std::vector<OfficeParagraph> paragraphs;  // that have text
    bool has_valid_names = false;
  };

  void AddPart(std::string name, std::unique_ptr<pugi::xml_document> xml) {
    Part& part = parts_.emplace_back(Part{std::move(name), std::move(xml), {}});
    bool skip = false;
    for (pugi::xml_node node = *part.xml; node; node = NextNode(node, *part.xml, skip)) {
      skip = layout_.skipped == node.name();
      if (!layout_.is_paragraph(node.name())) continue;
      OfficeParagraph paragraph(node, layout_.read(node), layout_.has_runs);
      if (!paragraph.has_text()) continue;
      texts_.push_back(paragraph.html());
      part.paragraphs.push_back(std::move(paragraph));
    }
  }

  const Layout& layout_;
  const std::unique_ptr<ZipArchive> archive_;
  std::vector<Part> parts_;
  std::vector<std::string> texts_;
};

absl::StatusOr<std::unique_ptr<Document>> ReadOffice(std::string bytes,
                                                     const DocumentLimits& limits,
                                                     const Layout& layout) {
  auto archive = ZipArchive::Open(std::move(bytes), limits);
  if (!archive.ok()) return archive.status();
  auto document = std::make_unique<OfficeDocument>(layout, *std::move(archive));
  if (absl::Status status = document->Read(limits); !status.ok()) return status;
  return document;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Document>> ReadDocx(std::string bytes,
                                                   const DocumentLimits& limits) {
  return ReadOffice(std::move(bytes), limits, kWord);
}

absl::StatusOr<std::unique_ptr<Document>> ReadOdt(std::string bytes, const DocumentLimits& limits) {
  return ReadOffice(std::move(bytes), limits, kTextLayout);
}

absl::StatusOr<std::unique_ptr<Document>> ReadOdp(std::string bytes, const DocumentLimits& limits) {
  return ReadOffice(std::move(bytes), limits, kPresentationLayout);
}

}  // namespace millrace::server
