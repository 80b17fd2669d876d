#include "models/repository/ignored_folders.h"

#include <algorithm>
#include <system_error>

#include "absl/strings/ascii.h"
#include "models/core/strings.h"
#include "models/repository/model_config.h"
#include "models/repository/model_sources.h"

namespace millrace::models {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLines = 20;
constexpr size_t kMostEntries = 1000;  // no more entries of a folder are read

std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end;
       !error && it != end && entries.size() < kMostEntries; it.increment(error))
    entries.push_back(it->path());
  std::ranges::sort(entries);
  return entries;
}

bool IsFolder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// Returns true for a link that leads nowhere, or in a circle.
bool IsBrokenLink(const fs::path& path) {
  std::error_code ignored;
  return fs::is_symlink(path, ignored) && !fs::exists(path, ignored);
}

// Returns the first file of the folder, or of a folder in it, that Piper's or Triton's users have
// there.
fs::path FindOnnx(const std::vector<fs::path>& entries) {
  for (const fs::path& entry : entries) {
    if (entry.extension() == ".onnx") return entry;
  }
  for (const fs::path& entry : entries) {
    if (!IsFolder(entry)) continue;
    for (const fs::path& inner : EntriesOf(entry)) {
      if (inner.extension() == ".onnx") return inner;
    }
  }
  return {};
}

std::string ConvertOnnx(const fs::path& file) {
  return StrCat("convert a Piper voice with: python -m models.convert vits --onnx ", file.string());
}

}  // namespace

std::string WhyIgnored(const fs::path& entry) {
  const std::string name = entry.filename().string();
  if (name.empty() || name[0] == '.') return "";
  const std::string what = StrCat(entry.string(), " is ignored: ");
  if (IsBrokenLink(entry)) return StrCat(what, "it is a link to what does not exist");
  if (!IsFolder(entry)) {
    return entry.extension() == ".onnx"
               ? StrCat(entry.string(), " is no model here; ", ConvertOnnx(entry))
               : "";
  }
  const std::vector<fs::path> entries = EntriesOf(entry);
  const bool has_version = std::ranges::any_of(entries, [](const fs::path& inner) {
    return VersionOf(inner.filename().native()) && Exists(inner / kModelConfigFile);
  });
  if (!CheckModelName(name).ok()) {
    return StrCat(what, "'", name,
                  "' is no name of a model, which has 1..128 letters, digits, '.', '_' and "
                  "'-'; rename the folder");
  }
  if (has_version) return "";
  if (Exists(entry / "config.pbtxt")) {
    return StrCat(what, "it has Triton's config.pbtxt; here a TorchScript module needs ",
                  (fs::path(name) / "1" / kModelConfigFile).string(),
                  " with a block torchscript { ... }, as docs/models.md shows");
  }
  if (const fs::path onnx = FindOnnx(entries); !onnx.empty())
    return StrCat(what, "it has no ", kModelConfigFile, "; ", ConvertOnnx(onnx));
  if (Exists(entry / kModelConfigFile)) {
    return StrCat(what, "its ", kModelConfigFile, " belongs into a folder for the version: ",
                  (fs::path(name) / "1" / kModelConfigFile).string());
  }
  for (const fs::path& inner : entries) {
    if (IsBrokenLink(inner / kModelConfigFile) ||
        (VersionOf(inner.filename().native()) && IsBrokenLink(inner))) {
      return StrCat(what, (IsBrokenLink(inner) ? inner : inner / kModelConfigFile).string(),
                    " is a link to what does not exist");
    }
    if (!IsFolder(inner) || !Exists(inner / kModelConfigFile)) continue;
    return StrCat(
        what, "'", inner.filename().string(),
        "' is no version, which is a whole number of 1..9223372036854775807 without leading zeros");
  }
  return StrCat(what, "it has no <version>/", kModelConfigFile,
                ", which says what the model is; docs/models.md shows one");
}

std::vector<std::string> IgnoredFolders(const fs::path& folder) {
  std::vector<std::string> lines;
  const std::vector<fs::path> entries = EntriesOf(folder);
  const bool is_model =
      Exists(folder / kModelConfigFile) || std::ranges::any_of(entries, [](const fs::path& entry) {
        return VersionOf(entry.filename().native()) && Exists(entry / kModelConfigFile);
      });
  if (is_model) return lines;
  for (const fs::path& entry : entries) {
    std::string line = WhyIgnored(entry);
    if (line.empty()) continue;
    // The name of a folder may have any but NUL and slash.
    std::ranges::replace_if(line, absl::ascii_iscntrl, '?');
    lines.push_back(std::move(line));
    if (lines.size() == kMostLines) break;
  }
  return lines;
}

}  // namespace millrace::models
