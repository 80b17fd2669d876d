#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "pugixml.hpp"
#include "server/documents/document_readers.h"
#include "server/documents/inline_text.h"
#include "server/documents/text_document.h"
#include "server/documents/xml_part.h"
#include "server/documents/zip_archive.h"

namespace millrace::server {
namespace {

constexpr std::string_view kContainer = "META-INF/container.xml";
// Names of entries, with their folders, have at most so many bytes.
constexpr size_t kLongestName = 1024;

// Returns an address within the archive as the name of an entry: relative to the folder of the
// entry that has it, without its fragment, with %20 as a space.
std::string EntryName(std::string_view folder, std::string_view address) {
  address = address.substr(0, address.find('#'));
  if (folder.size() + address.size() > kLongestName) return {};
  std::string path(folder);
  const auto hex = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    const char small = static_cast<char>(c | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
  };
  for (size_t at = 0; at < address.size(); ++at) {
    const bool is_escape = address[at] == '%' && at + 2 < address.size() &&
                           hex(address[at + 1]) >= 0 && hex(address[at + 2]) >= 0;
    path += is_escape ? static_cast<char>(hex(address[at + 1]) * 16 + hex(address[at + 2]))
                      : address[at];
    if (is_escape) at += 2;
  }
  std::vector<std::string_view> parts;
  for (std::string_view rest = path; !rest.empty();) {
    const size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view part = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  std::string name;
  for (const std::string_view part : parts) name += StrCat(name.empty() ? "" : "/", part);
  return name;
}

// Replaces the sections of CDATA that have text of a chapter by the same text in HTML.
std::string WithoutCData(std::string_view xhtml) {
  constexpr std::string_view kBegin = "<![CDATA[";
  constexpr std::string_view kEnd = "]]>";
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"<!--", "-->"}, {"<script", "</script"}, {"<style", "</style"}};
  std::string html;
  while (!xhtml.empty()) {
    size_t end = std::min(xhtml.find('<', 1), xhtml.size());
    for (const auto& [begins, ends] : kOthers) {
      if (xhtml.starts_with(begins)) end = std::min(xhtml.find(ends, begins.size()), xhtml.size());
    }
    const size_t close = xhtml.starts_with(kBegin) ? xhtml.find(kEnd) : std::string_view::npos;
    if (close == std::string_view::npos) {
      html += xhtml.substr(0, end);
    } else {
      InlineWriter writer;
      writer.Text(xhtml.substr(kBegin.size(), close - kBegin.size()));
      html += writer.html();
      end = close + kEnd.size();
    }
    xhtml.remove_prefix(end);
  }
  return html;
}

class EpubDocument final : public Document {
 public:
  EpubDocument(std::unique_ptr<ZipArchive> archive, const DocumentLimits& limits)
      : archive_(std::move(archive)), limits_(limits), left_(limits.xml_bytes) {}

  absl::Status Read() {
    names_ = archive_->Names();
    if (!Has(kContainer)) {
      return InvalidArgument("file: has no ", kContainer, ", which every .epub document has");
    }
    MILLRACE_ASSIGN_OR_RETURN(auto container, ReadPart(std::string(kContainer)));
    std::string package;
    for (pugi::xml_node node = *container; node; node = NextNode(node, *container)) {
      if (LocalName(node) == "rootfile" && package.empty())
        package = EntryName("", node.attribute("full-path").value());
    }
    if (!Has(package)) {
      return InvalidArgument("file: ", kContainer,
                             " names no package document that the archive has");
    }
    MILLRACE_ASSIGN_OR_RETURN(auto manifest, ReadPart(package));
    const std::string folder = package.substr(0, package.rfind('/') + 1);  // npos + 1 is 0
    for (pugi::xml_node node = *manifest; node; node = NextNode(node, *manifest)) {
      const std::string_view type = node.attribute("media-type").value();
      const bool has_text = type == "application/xhtml+xml" || type == "application/x-dtbncx+xml";
      if (LocalName(node) != "item" || !has_text) continue;
      const std::string name = EntryName(folder, node.attribute("href").value());
      const bool is_known = std::ranges::find(chapters_, name, &Chapter::name) != chapters_.end();
      if (!Has(name) || is_known) continue;
      MILLRACE_RETURN_IF_ERROR(ReadChapter(name));
    }
    return absl::OkStatus();
  }

  std::span<const std::string> texts() const override { return texts_; }
  models::TextFormat format() const override { return models::TextFormat::kHtml; }
  absl::StatusOr<std::string> Render(std::vector<std::string> translations) override {
    for (size_t i = 0; i < chapters_.size(); ++i) {
      const Chapter& chapter = chapters_[i];
      if (chapter.is_valid && !HasValidNames(translations[i])) {
        return Internal("the translation of ", chapter.name, " is not valid XML");
      }
      MILLRACE_RETURN_IF_ERROR(archive_->Replace(chapter.name, chapter.mark + translations[i]));
    }
    return archive_->Finish();
  }

 private:
  struct Chapter {
    std::string name;
    std::string mark;
    bool is_valid = false;  // it is well-formed XML
  };

  bool Has(std::string_view name) const { return std::ranges::find(names_, name) != names_.end(); }

  // Unpacks an entry, within the bytes that are left for all of them.
  absl::StatusOr<std::string> Unpack(const std::string& name) {
    absl::StatusOr<std::string> content = archive_->Read(name, left_);
    if (content.ok()) left_ -= content->size();
    return content;
  }

  absl::StatusOr<std::unique_ptr<pugi::xml_document>> ReadPart(const std::string& name) {
    MILLRACE_ASSIGN_OR_RETURN(std::string content, Unpack(name));
    return ReadXml(name, content, limits_);
  }

  absl::Status ReadChapter(const std::string& name) {
    MILLRACE_ASSIGN_OR_RETURN(std::string content, Unpack(name));
    absl::StatusOr<std::string> mark = TakeByteOrderMark(content);
    if (!mark.ok()) {
      MILLRACE_RETURN_IF_ERROR(archive_->CheckEncryption("META-INF/encryption.xml",
                                                         "CipherReference", limits_.xml_bytes));
      return InvalidArgument("file: ", name, " is not valid UTF-8");
    }
    if (content.empty()) return absl::OkStatus();
    chapters_.push_back({name, *std::move(mark), HasValidNames(content)});
    const bool has_cdata = content.find("<![CDATA[") != std::string::npos;
    texts_.push_back(has_cdata ? WithoutCData(content) : std::move(content));
    return absl::OkStatus();
  }

  const std::unique_ptr<ZipArchive> archive_;
  const DocumentLimits limits_;
  size_t left_;  // bytes of text that may still be unpacked
  std::vector<std::string> names_;
  std::vector<Chapter> chapters_;
  std::vector<std::string> texts_;  // the texts of each chapter
};

}  // namespace

absl::StatusOr<std::unique_ptr<Document>> ReadEpub(std::string bytes, const DocumentLimits& limits,
                                                   std::string_view) {
  MILLRACE_ASSIGN_OR_RETURN(auto archive, ZipArchive::Open(std::move(bytes), limits));
  auto document = std::make_unique<EpubDocument>(std::move(archive), limits);
  MILLRACE_RETURN_IF_ERROR(document->Read());
  return document;
}

}  // namespace millrace::server
