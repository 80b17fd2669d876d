#include "models/repository/model_sources.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "models/core/errors.h"
#include "models/core/strings.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxNameLength = 128;

}  // namespace

absl::Status CheckModelName(std::string_view name) {
  const bool allowed = !name.empty() && name.size() <= kMaxNameLength && name[0] != '.' &&
                       std::all_of(name.begin(), name.end(), [](unsigned char c) {
                         return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
                       });
  if (allowed) return absl::OkStatus();
  const std::string given = name.size() <= kMaxNameLength
                                ? StrCat("'", name, "'")
                                : StrCat("of ", name.size(), " characters");
  return InvalidArgument("model: ", given, " is no name of a model, allowed are 1..",
                         kMaxNameLength,
                         " letters, digits, '.', '_' and '-', not starting with '.'");
}

std::optional<int64_t> VersionOf(std::string_view name) {
  int64_t version = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  if (error != std::errc() || end != name.data() + name.size() || version < 1 || name[0] == '0') {
    return std::nullopt;
  }
  return version;
}

absl::StatusOr<std::vector<ModelSource>> ParseModelSources(std::string_view text) {
  std::vector<ModelSource> sources;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(std::string(text), ','))) {
    ModelSource source{.name = "", .folder = part};
    const size_t equals = part.find('=');
    if (equals != part.npos && equals < part.find('/')) {
      source = {.name = part.substr(0, equals), .folder = part.substr(equals + 1)};
      if (absl::Status status = CheckModelName(source.name); !status.ok()) {
        return InvalidArgument("'", part, "': '", source.name, "' is no name of a model");
      }
    }
    if (source.folder.empty() || part.find('\0') != part.npos)
      return InvalidArgument("'", part, "': is no folder");
    sources.push_back(std::move(source));
  }
  return sources;
}

absl::StatusOr<std::filesystem::path> FolderForNewModels(std::string_view text) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<ModelSource> sources, ParseModelSources(text));
  const auto index = std::find_if(sources.begin(), sources.end(),
                                  [](const ModelSource& source) { return source.name.empty(); });
  if (index != sources.end()) return index->folder;
  return InvalidArgument("'", text,
                         "': names folders of one model each, and none that may take another");
}

}  // namespace millrace::models
