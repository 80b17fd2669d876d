#include "models/repository/model_repository.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/repository/ignored_folders.h"

namespace millrace::models {
namespace {

namespace fs = std::filesystem;

constexpr char kLayout[] =
    "<model>/<version>/model.pbtxt or, of one model, <version>/model.pbtxt or model.pbtxt";

// Returns an error about a folder of the repository.
template <typename... Parts>
absl::Status Wrong(const fs::path& folder, const Parts&... parts) {
  return FailedPrecondition("model repository ", folder.string(), ": ", parts...);
}

// Returns the name of the last folder of the path, which may end with '/' or be ".".
std::string NameOf(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = (fs::absolute(folder, error) / "").lexically_normal();
  return whole.parent_path().filename().string();
}

absl::Status Twice(const std::string& name, const fs::path& before, const fs::path& folder) {
  return Wrong(folder, "has a model '", name, "', but so has ", before.string(),
               "; each name may occur once");
}

// Returns the versions in ascending order; none if the folder cannot be read.
std::vector<int64_t> VersionsIn(const fs::path& model) {
  std::vector<int64_t> versions;
  std::error_code error;
  for (fs::directory_iterator it(model, error), end; !error && it != end; it.increment(error)) {
    const std::optional<int64_t> version = VersionOf(it->path().filename().native());
    std::error_code ignored;
    if (version && fs::exists(it->path() / kModelConfigFile, ignored)) versions.push_back(*version);
  }
  std::sort(versions.begin(), versions.end());
  return versions;
}

// Converts NOT_FOUND, because the model exists although one of its files does not.
absl::Status Broken(const absl::Status& status) {
  return absl::IsNotFound(status) ? FailedPrecondition(status.message()) : status;
}

// Returns true if the path lies below the folder, at any depth. Both are canonical.
bool IsBelow(const fs::path& path, const fs::path& folder) {
  const auto [in_folder, in_path] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return in_folder == folder.end() && in_path != path.end();
}

// Returns the folder in which the hub's cache keeps the contents that a snapshot links to, for a
// canonical path within <repository>/snapshots/<revision>; empty elsewhere.
fs::path ContentsOfSnapshot(const fs::path& path) {
  for (fs::path folder = path; folder.has_relative_path(); folder = folder.parent_path()) {
    if (folder.parent_path().filename() == "snapshots")
      return folder.parent_path().parent_path() / "blobs";
  }
  return {};
}

absl::Status WrongFile(const fs::path& file, const std::string& what) {
  return FailedPrecondition(file.string(), ": ", what);
}

// A file may be a symbolic link, as volumes of a cluster and caches of downloads have them, as long
// as the real file lies below the real folder of the package, of its model or of the repository, or
// among the contents of the snapshot that one of these is.
absl::Status CheckPlace(const fs::path& folder, const ModelRepository::Entry& entry,
                        const fs::path& file) {
  std::error_code error;
  const fs::path real_file = fs::canonical(file, error);
  if (error) return WrongFile(file, error.message());
  for (const fs::path& root : {folder, entry.folder, entry.source}) {
    const fs::path real_root = fs::canonical(root, error);
    if (error) return WrongFile(root, error.message());
    const fs::path contents = ContentsOfSnapshot(real_root);
    if (IsBelow(real_file, real_root) || (!contents.empty() && IsBelow(real_file, contents)))
      return absl::OkStatus();
  }
  return WrongFile(file, StrCat("is a link to ", real_file.string(),
                                ", which is outside of the model's folder and of the "
                                "repository; copy the file in its place (cp -L)"));
}

// A file that the config names must exist and must not be too large.
absl::Status CheckFile(const fs::path& folder, const ModelRepository::Entry& entry,
                       const PackageFile& named) {
  const fs::path file = folder / named.name;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return WrongFile(
        file, StrCat(error && error != std::errc::no_such_file_or_directory ? error.message()
                     : fs::exists(file, error)     ? "is not a regular file"
                     : fs::is_symlink(file, error) ? "is a link to a file that does not exist"
                                                   : "no such file",
                     ", but ", kModelConfigFile, " names it"));
  }
  MILLRACE_RETURN_IF_ERROR(CheckPlace(folder, entry, file));
  const uintmax_t bytes = fs::file_size(file, error);
  if (error) return WrongFile(file, error.message());
  if (bytes > named.max_bytes) {
    return WrongFile(file, StrCat("has ", bytes, " bytes, a ", std::string(named.field),
                                  " may have at most ", named.max_bytes));
  }
  return absl::OkStatus();
}

}  // namespace

ModelRepository::ModelRepository(std::string sources, ModelFactory factory, const ModelKinds& kinds)
    : text_(std::move(sources)),
      sources_(ParseModelSources(text_)),
      factory_(std::move(factory)),
      kinds_(kinds) {}

absl::StatusOr<ModelRepository::Entries> ModelRepository::EntriesIn(const ModelSource& source) {
  const fs::path& folder = source.folder;
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) return Wrong(folder, "no such folder");
  if (error) return Wrong(folder, "cannot be read: ", error.message());
  if (status.type() != fs::file_type::directory) return Wrong(folder, "is not a folder");

  std::vector<int64_t> versions = VersionsIn(folder);
  const bool is_package = versions.empty() && fs::exists(folder / kModelConfigFile, error);
  if (is_package) versions = {1};
  if (!versions.empty()) {
    const std::string name = source.name.empty() ? NameOf(folder) : source.name;
    if (!CheckModelName(name).ok()) {
      return Wrong(folder, "is the folder of a model, but '", name,
                   "' is no name for one; give it a name: NAME=", folder.string());
    }
    return Entries{{name,
                    {.name = name,
                     .versions = std::move(versions),
                     .folder = folder,
                     .source = folder,
                     .is_package = is_package}}};
  }
  if (!source.name.empty()) {
    return Wrong(folder, "is not the folder of a model, although '", source.name,
                 "' names it; expected <version>/model.pbtxt or model.pbtxt");
  }

  Entries entries;
  fs::directory_iterator it(folder, error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!CheckModelName(name).ok()) continue;
    versions = VersionsIn(it->path());
    if (versions.empty()) continue;
    entries[name] = {
        .name = name, .versions = std::move(versions), .folder = it->path(), .source = folder};
  }
  if (error) return Wrong(folder, "cannot be read: ", error.message());
  return entries;
}

absl::StatusOr<ModelRepository::Entries> ModelRepository::AllEntries() const {
  if (!sources_.ok()) return sources_.status();
  Entries all;
  for (const ModelSource& source : *sources_) {
    MILLRACE_ASSIGN_OR_RETURN(Entries entries, EntriesIn(source));
    for (auto& [name, entry] : entries) {
      const auto [before, is_new] = all.try_emplace(name, std::move(entry));
      if (!is_new) return Twice(name, before->second.folder, source.folder);
    }
  }
  return all;
}

absl::StatusOr<ModelRepository::Entry> ModelRepository::EntryOf(const std::string& name) const {
  if (!sources_.ok()) return sources_.status();
  std::optional<Entry> result;
  absl::Status unreadable;
  for (const ModelSource& source : *sources_) {
    absl::StatusOr<Entries> entries = EntriesIn(source);
    unreadable.Update(entries.status());
    if (!entries.ok()) continue;
    const auto found = entries->find(name);
    if (found == entries->end()) continue;
    if (result) return Twice(name, result->folder, source.folder);
    result = std::move(found->second);
  }
  if (result) return *std::move(result);
  if (!unreadable.ok()) return unreadable;
  std::error_code error;
  for (const ModelSource& source : *sources_) {
    const fs::path folder = source.folder / name;
    const std::string why = fs::exists(folder, error) ? WhyIgnored(folder) : "";
    if (!why.empty()) return NotFound("model '", name, "' is not in the repository: ", why);
  }
  return NotFound("model '", name, "' is not in the repository");
}

absl::StatusOr<std::vector<ModelRepository::Entry>> ModelRepository::List() const {
  MILLRACE_ASSIGN_OR_RETURN(Entries all, AllEntries());
  std::vector<Entry> entries;
  entries.reserve(all.size());
  for (auto& [name, entry] : all) entries.push_back(std::move(entry));
  return entries;
}

std::vector<std::string> ModelRepository::Ignored() const {
  std::vector<std::string> lines;
  if (!sources_.ok()) return lines;
  for (const ModelSource& source : *sources_) {
    for (std::string& line : IgnoredFolders(source.folder)) lines.push_back(std::move(line));
  }
  return lines;
}

absl::Status ModelRepository::Check() const {
  MILLRACE_RETURN_IF_ERROR(AllEntries().status());
  for (const ModelSource& source : *sources_) {
    MILLRACE_ASSIGN_OR_RETURN(const Entries entries, EntriesIn(source));
    if (!entries.empty()) continue;
    const std::vector<std::string> ignored = IgnoredFolders(source.folder);
    return Wrong(source.folder, "holds no model, expected ", kLayout, ignored.empty() ? "" : "; ",
                 ignored.empty() ? "" : ignored.front());
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelRepository::Package> ModelRepository::Find(
    std::string_view name, std::optional<int64_t> version) const {
  MILLRACE_RETURN_IF_ERROR(CheckModelName(name));
  MILLRACE_ASSIGN_OR_RETURN(const Entry entry, EntryOf(std::string(name)));
  return Find(entry, version);
}

absl::StatusOr<ModelRepository::Package> ModelRepository::Find(
    const Entry& entry, std::optional<int64_t> version) const {
  const std::vector<int64_t>& versions = entry.versions;
  if (version && !std::binary_search(versions.begin(), versions.end(), *version)) {
    return NotFound("model '", entry.name, "' has no version ", *version, ", the latest is ",
                    versions.back());
  }
  Package package;
  package.name = entry.name;
  package.version = version.value_or(versions.back());
  package.folder = entry.is_package ? entry.folder : entry.folder / std::to_string(package.version);
  const fs::path config_file = package.folder / kModelConfigFile;
  std::error_code ignored;
  if (fs::exists(config_file, ignored)) {
    MILLRACE_RETURN_IF_ERROR(CheckPlace(package.folder, entry, config_file));
  }
  absl::StatusOr<ModelConfig> config = ReadModelConfig(config_file, kinds_);
  if (!config.ok()) return Broken(config.status());
  package.config = *std::move(config);
  for (const PackageFile& file : package.config.settings->files()) {
    MILLRACE_RETURN_IF_ERROR(CheckFile(package.folder, entry, file));
  }
  return package;
}

absl::StatusOr<std::unique_ptr<Model>> ModelRepository::Load(std::string_view name,
                                                             std::optional<int64_t> version) const {
  MILLRACE_ASSIGN_OR_RETURN(const Package package, Find(name, version));
  return Load(package);
}

absl::StatusOr<std::unique_ptr<Model>> ModelRepository::Load(const Package& package) const {
  auto model = factory_(package.config, package.folder,
                        MakeModelInfo(package.config, package.name, package.version));
  if (!model.ok()) return Broken(model.status());
  return model;
}

}  // namespace millrace::models
