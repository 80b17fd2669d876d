#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "pugixml.hpp"
#include "server/documents/document_readers.h"
#include "server/documents/office_paragraph.h"
#include "server/documents/opendocument_spans.h"
#include "server/documents/xml_part.h"
#include "server/documents/xml_prefixes.h"
#include "server/documents/zip_archive.h"

namespace millrace::server {
namespace {

using namespace std::literals::string_view_literals;

// How a kind of office documents is laid out.
struct Layout {
  std::string_view extension;
  std::string_view main_part;  // every such document has it
  std::string_view root;       // the element that it consists of
  bool (*has_text)(std::string_view part);
  // How the declared types of parts with text end; that of the main part is the first.
  std::span<const std::string_view> text_types;
  std::string_view skipped;  // an element whose paragraphs are not part of the document, if any
  // Reads an element if it is a paragraph.
  std::optional<OfficeParagraph> (*read)(pugi::xml_node element);
};

bool IsNumbered(std::string_view part, std::string_view before) {
  if (!part.starts_with(before) || !part.ends_with(".xml")) return false;
  part.remove_prefix(before.size());
  part.remove_suffix(4);
  return part.find_first_not_of("0123456789") == std::string_view::npos;
}

// Returns true for the charts and diagrams in the folder of a document.
bool IsDrawnText(std::string_view part, std::string_view folder) {
  if (!part.starts_with(folder)) return false;
  part.remove_prefix(folder.size());
  return IsNumbered(part, "charts/chart") || IsNumbered(part, "diagrams/data") ||
         IsNumbered(part, "diagrams/drawing");
}

bool IsWordText(std::string_view part) {
  return part == "word/document.xml" || part == "word/footnotes.xml" ||
         part == "word/endnotes.xml" || part == "word/comments.xml" ||
         IsNumbered(part, "word/header") || IsNumbered(part, "word/footer") ||
         IsDrawnText(part, "word/");
}

bool IsPresentationText(std::string_view part) {
  return IsNumbered(part, "ppt/slides/slide") || IsNumbered(part, "ppt/notesSlides/notesSlide") ||
         (part.starts_with("ppt/comments/") && part.ends_with(".xml")) || IsDrawnText(part, "ppt/");
}

constexpr std::array<std::string_view, 15> kTextTypes = {".main+xml",
                                                         "wordprocessingml.footnotes+xml",
                                                         "wordprocessingml.endnotes+xml",
                                                         "wordprocessingml.comments+xml",
                                                         "wordprocessingml.header+xml",
                                                         "wordprocessingml.footer+xml",
                                                         "presentationml.slide+xml",
                                                         "presentationml.notesSlide+xml",
                                                         "presentationml.comments+xml",
                                                         "ms-powerpoint.comments+xml",
                                                         "drawingml.chart+xml",
                                                         "drawingml.chartshapes+xml",
                                                         "ms-office.chartex+xml",
                                                         "drawingml.diagramData+xml",
                                                         "drawingml.diagramDrawing+xml"};

bool IsOpenDocumentText(std::string_view part) {
  return part == "content.xml" || part == "styles.xml";
}

// Returns the text of an element that has nothing else as a paragraph.
OfficeParagraph ReadBareText(pugi::xml_node element) {
  return {element, {{.text = element.text().get()}}, nullptr, /*keeps_space=*/true};
}

// Returns true for what a chart shows of its table, but for numbers.
bool IsChartLabel(pugi::xml_node element) {
  const std::string_view name = element.name();
  const std::string_view parent = element.parent().name();
  const std::string_view list = element.parent().parent().name();
  if (name == "c:v")
    return parent == "c:tx" || (parent == "c:pt" && list != "c:numCache" && list != "c:numLit");
  return name == "cx:v" || (name == "cx:pt" && element.parent().parent().name() == "cx:strDim"sv);
}

// Reads the paragraphs of Office Open XML, the labels of charts, and comments on slides.
std::optional<OfficeParagraph> ReadOpenXml(pugi::xml_node element) {
  const std::string_view name = element.name();
  if (name == "w:p")
    return OfficeParagraph(element, ReadWordItems(element), &kWordRuns, /*keeps_space=*/true);
  if (name == "a:p")
    return OfficeParagraph(element, ReadDrawingItems(element), &kDrawingRuns, /*keeps_space=*/true);
  if (IsChartLabel(element) || name == "p:text") return ReadBareText(element);
  return std::nullopt;
}

std::optional<OfficeParagraph> ReadOpenDocument(pugi::xml_node element) {
  const std::string_view name = element.name();
  if (name == "presentation:footer-decl" || name == "presentation:header-decl")
    return ReadBareText(element);
  if (name != "text:p" && name != "text:h") return std::nullopt;
  return OfficeParagraph(element, ReadOpenDocumentItems(element), nullptr, /*keeps_space=*/false);
}

constexpr Layout kWord = {".docx", "word/document.xml", "w:document", IsWordText, kTextTypes,
                          "w:del", ReadOpenXml};
constexpr Layout kSlides = {
    ".pptx",    "ppt/presentation.xml", "p:presentation", IsPresentationText, kTextTypes, "",
    ReadOpenXml};
constexpr Layout OpenDocumentLayout(std::string_view extension) {
  return {extension, "content.xml",          "office:document-content", IsOpenDocumentText,
          {},        "text:tracked-changes", ReadOpenDocument};
}
constexpr Layout kTextLayout = OpenDocumentLayout(".odt");
constexpr Layout kPresentationLayout = OpenDocumentLayout(".odp");

class OfficeDocument final : public Document {
 public:
  OfficeDocument(const Layout& layout, std::unique_ptr<ZipArchive> archive)
      : layout_(layout), archive_(std::move(archive)) {}

  absl::Status Read(const DocumentLimits& limits) {
    if (absl::Status status =
            archive_->CheckEncryption("META-INF/manifest.xml", "encryption-data", limits.xml_bytes);
        !status.ok())
      return status;
    std::vector<std::string> names = archive_->Names();
    const DeclaredParts declared = ReadTypes(names, limits);
    if (std::ranges::find(names, declared.main) == names.end()) {
      return InvalidArgument("file: has no ", layout_.main_part, ", which every ",
                             layout_.extension, " document has");
    }
    size_t left = limits.xml_bytes;
    for (std::string& name : names) {
      if (!layout_.has_text(name) && !declared.with_text.contains(name)) continue;
      MILLRACE_ASSIGN_OR_RETURN(std::string content, archive_->Read(name, left));
      left -= content.size();
      MILLRACE_ASSIGN_OR_RETURN(auto xml, ReadXml(name, content, limits));
      UseKnownPrefixes(*xml);
      JoinSpans(*xml);
      if (name == declared.main && !xml->child(std::string(layout_.root).c_str())) {
        return InvalidArgument("file: ", name, " has no element ", layout_.root, ", as a ",
                               layout_.extension, " document has");
      }
      AddPart(std::move(name), std::move(xml));
      parts_.back().has_valid_names = HasValidNames(content);
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
        return Internal("the translation of ", part.name, " is not valid XML");
      MILLRACE_RETURN_IF_ERROR(archive_->Replace(part.name, std::move(xml)));
    }
    return archive_->Finish();
  }

 private:
  // Holds what an archive declares of its parts.
  struct DeclaredParts {
    std::string main;
    std::set<std::string, std::less<>> with_text;
  };

  // Reads the types of parts that an archive of Office Open XML declares: their names are free.
  DeclaredParts ReadTypes(std::span<const std::string> names, const DocumentLimits& limits) {
    constexpr std::string_view kTypes = "[Content_Types].xml";
    DeclaredParts parts{.main = std::string(layout_.main_part), .with_text = {}};
    if (layout_.text_types.empty() || std::ranges::find(names, kTypes) == names.end()) return parts;
    const absl::StatusOr<std::string> content =
        archive_->Read(std::string(kTypes), limits.xml_bytes);
    if (!content.ok()) return parts;
    const auto xml = ReadXml(kTypes, *content, limits);
    if (!xml.ok()) return parts;
    for (const pugi::xml_node node : (*xml)->document_element().children()) {
      const std::string_view type = node.attribute("ContentType").value();
      const auto kind = std::ranges::find_if(
          layout_.text_types, [type](std::string_view end) { return type.ends_with(end); });
      std::string_view name = node.attribute("PartName").value();
      if (kind == layout_.text_types.end() || !name.starts_with('/')) continue;
      name.remove_prefix(1);
      if (kind == layout_.text_types.begin()) parts.main = name;
      parts.with_text.emplace(name);
    }
    return parts;
  }

  struct Part {
    std::string name;
    std::unique_ptr<pugi::xml_document> xml;
    std::vector<OfficeParagraph> paragraphs;  // paragraphs that have text
    bool has_valid_names = false;
  };

  void AddPart(std::string name, std::unique_ptr<pugi::xml_document> xml) {
    Part& part = parts_.emplace_back(Part{std::move(name), std::move(xml), {}});
    bool skip = false;
    for (pugi::xml_node node = *part.xml; node; node = NextNode(node, *part.xml, skip)) {
      const std::string_view name = node.name();
      // A text takes the place of whatever is within it.
      skip = name == "w:t" || name == "a:t" || (!name.empty() && name == layout_.skipped);
      std::optional<OfficeParagraph> paragraph = layout_.read(node);
      if (!paragraph || !paragraph->has_text()) continue;
      texts_.push_back(paragraph->html());
      part.paragraphs.push_back(*std::move(paragraph));
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
  MILLRACE_ASSIGN_OR_RETURN(auto archive, ZipArchive::Open(std::move(bytes), limits));
  auto document = std::make_unique<OfficeDocument>(layout, std::move(archive));
  MILLRACE_RETURN_IF_ERROR(document->Read(limits));
  return document;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Document>> ReadDocx(std::string bytes, const DocumentLimits& limits,
                                                   std::string_view) {
  return ReadOffice(std::move(bytes), limits, kWord);
}

absl::StatusOr<std::unique_ptr<Document>> ReadPptx(std::string bytes, const DocumentLimits& limits,
                                                   std::string_view) {
  return ReadOffice(std::move(bytes), limits, kSlides);
}

absl::StatusOr<std::unique_ptr<Document>> ReadOdt(std::string bytes, const DocumentLimits& limits,
                                                  std::string_view) {
  return ReadOffice(std::move(bytes), limits, kTextLayout);
}

absl::StatusOr<std::unique_ptr<Document>> ReadOdp(std::string bytes, const DocumentLimits& limits,
                                                  std::string_view) {
  return ReadOffice(std::move(bytes), limits, kPresentationLayout);
}

}  // namespace millrace::server
