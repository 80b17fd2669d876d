#include "models/repository/model_repository.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/repository/ignored_folders.h"

namespace millrace::models {
namespace {

namespace fs = std::filesystem;

constexpr char kLayout[] =
    "<model>/<version>/model.pbtxt or, of one model, <version>/model.pbtxt or model.pbtxt";

// Parses a folder's name as a version: decimal without leading zeros, so that each version has one
// spelling.
std::optional<int64_t> VersionOf(std::string_view name) {
  int64_t version = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  if (error != std::errc() || end != name.data() + name.size() || version < 1 || name[0] == '0') {
    return std::nullopt;
  }
  return version;
}

// Returns an error about a folder of the repository.
template <typename... Parts>
absl::Status Wrong(const fs::path& folder, const Parts&... parts) {
  return absl::FailedPreconditionError(
      absl::StrCat("model repository ", folder.string(), ": ", parts...));
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
  return absl::IsNotFound(status) ? absl::FailedPreconditionError(status.message()) : status;
}

// A file that the config names must exist, must not be too large, and must not be outside the
// folder by a symbolic link.
absl::Status CheckFile(const fs::path& folder, const PackageFile& named) {
  const fs::path file = folder / named.name;
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat(file.string(), ": ",
                     error && error != std::errc::no_such_file_or_directory ? error.message()
                     : fs::exists(file, error) ? "is not a regular file"
                                               : "no such file",
                     ", but ", kModelConfigFile, " names it"));
  }
  const fs::path real_folder = fs::canonical(folder, error);
  const fs::path real_file = error ? fs::path() : fs::canonical(file, error);
  if (error)
    return absl::FailedPreconditionError(absl::StrCat(file.string(), ": ", error.message()));
  if (real_file.parent_path() != real_folder) {
    return absl::FailedPreconditionError(
        absl::StrCat(file.string(), ": is a link that leaves the model's folder"));
  }
  const uintmax_t bytes = fs::file_size(file, error);
  if (error)
    return absl::FailedPreconditionError(absl::StrCat(file.string(), ": ", error.message()));
  if (bytes > named.max_bytes) {
    return absl::FailedPreconditionError(absl::StrCat(file.string(), ": has ", bytes, " bytes, a ",
                                                      std::string(named.field),
                                                      " may have at most ", named.max_bytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<int64_t>> ParseVersion(std::string_view version) {
  if (version.empty()) return std::nullopt;
  const std::optional<int64_t> number = VersionOf(version);
  if (!number) {
    return absl::InvalidArgumentError(
        "model_version: not a version, allowed is a whole number from 1, or empty for the latest");
  }
  return number;
}

ModelRepository::ModelRepository(std::string sources, ModelFactory factory, const ModelKinds& kinds)
    : text_(std::move(sources)),
      sources_(ParseModelSources(text_)),
      factory_(std::move(factory)),
      kinds_(kinds) {}

absl::StatusOr<std::map<std::string, ModelRepository::Place>> ModelRepository::PlacesIn(
    const ModelSource& source) {
  const fs::path& folder = source.folder;
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) return Wrong(folder, "no such folder");
  if (error) return Wrong(folder, "cannot be read: ", error.message());
  if (status.type() != fs::file_type::directory) return Wrong(folder, "is not a folder");

  Place own{.folder = folder, .versions = VersionsIn(folder)};
  if (own.versions.empty() && fs::exists(folder / kModelConfigFile, error))
    own = {.folder = folder, .versions = {1}, .is_package = true};
  if (!own.versions.empty()) {
    const std::string name = source.name.empty() ? NameOf(folder) : source.name;
    if (!CheckModelName(name).ok()) {
      return Wrong(folder, "is the folder of a model, but '", name,
                   "' is no name for one; give it a name: NAME=", folder.string());
    }
    return std::map<std::string, Place>{{name, std::move(own)}};
  }
  if (!source.name.empty()) {
    return Wrong(folder, "is not the folder of a model, although '", source.name,
                 "' names it; expected <version>/model.pbtxt or model.pbtxt");
  }

  std::map<std::string, Place> places;
  fs::directory_iterator it(folder, error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!CheckModelName(name).ok()) continue;
    std::vector<int64_t> versions = VersionsIn(it->path());
    if (!versions.empty())
      places[std::move(name)] = {.folder = it->path(), .versions = std::move(versions)};
  }
  if (error) return Wrong(folder, "cannot be read: ", error.message());
  return places;
}

absl::StatusOr<std::map<std::string, ModelRepository::Place>> ModelRepository::Places() const {
  if (!sources_.ok()) return sources_.status();
  std::map<std::string, Place> all;
  for (const ModelSource& source : *sources_) {
    absl::StatusOr<std::map<std::string, Place>> places = PlacesIn(source);
    if (!places.ok()) return places.status();
    for (auto& [name, place] : *places) {
      const auto [before, is_new] = all.try_emplace(name, std::move(place));
      if (!is_new) return Twice(name, before->second.folder, source.folder);
    }
  }
  return all;
}

absl::StatusOr<ModelRepository::Place> ModelRepository::PlaceOf(const std::string& name) const {
  if (!sources_.ok()) return sources_.status();
  std::optional<Place> result;
  absl::Status unreadable;
  for (const ModelSource& source : *sources_) {
    absl::StatusOr<std::map<std::string, Place>> places = PlacesIn(source);
    unreadable.Update(places.status());
    if (!places.ok()) continue;
    const auto found = places->find(name);
    if (found == places->end()) continue;
    if (result) return Twice(name, result->folder, source.folder);
    result = std::move(found->second);
  }
  if (result) return *std::move(result);
  if (!unreadable.ok()) return unreadable;
  std::error_code error;
  for (const ModelSource& source : *sources_) {
    const fs::path folder = source.folder / name;
    const std::string why = fs::exists(folder, error) ? WhyIgnored(folder) : "";
    if (!why.empty())
      return absl::NotFoundError(
          absl::StrCat("model '", name, "' is not in the repository: ", why));
  }
  return absl::NotFoundError(absl::StrCat("model '", name, "' is not in the repository"));
}

absl::StatusOr<std::vector<ModelRepository::Entry>> ModelRepository::List() const {
  absl::StatusOr<std::map<std::string, Place>> places = Places();
  if (!places.ok()) return places.status();
  std::vector<Entry> entries;
  for (auto& [name, place] : *places) entries.push_back({name, std::move(place.versions)});
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
  if (absl::Status status = Places().status(); !status.ok()) return status;
  for (const ModelSource& source : *sources_) {
    const absl::StatusOr<std::map<std::string, Place>> places = PlacesIn(source);
    if (!places.ok()) return places.status();
    if (!places->empty()) continue;
    const std::vector<std::string> ignored = IgnoredFolders(source.folder);
    return Wrong(source.folder, "holds no model, expected ", kLayout, ignored.empty() ? "" : "; ",
                 ignored.empty() ? "" : ignored.front());
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelRepository::Package> ModelRepository::Find(
    std::string_view name, std::optional<int64_t> version) const {
  if (absl::Status status = CheckModelName(name); !status.ok()) return status;
  const absl::StatusOr<Place> place = PlaceOf(std::string(name));
  if (!place.ok()) return place.status();
  const std::vector<int64_t>& versions = place->versions;
  if (version && !std::binary_search(versions.begin(), versions.end(), *version)) {
    return absl::NotFoundError(absl::StrCat("model '", std::string(name), "' has no version ",
                                            *version, ", the latest is ", versions.back()));
  }
  Package package;
  package.name = name;
  package.version = version.value_or(versions.back());
  package.folder =
      place->is_package ? place->folder : place->folder / std::to_string(package.version);
  absl::StatusOr<ModelConfig> config = ReadModelConfig(package.folder / kModelConfigFile, kinds_);
  if (!config.ok()) return Broken(config.status());
  package.config = *std::move(config);
  for (const PackageFile& file : package.config.settings->Files()) {
    if (absl::Status status = CheckFile(package.folder, file); !status.ok()) return status;
  }
  return package;
}

absl::StatusOr<std::unique_ptr<Model>> ModelRepository::Load(std::string_view name,
                                                             std::optional<int64_t> version) const {
  absl::StatusOr<Package> package = Find(name, version);
  if (!package.ok()) return package.status();
  auto model = factory_(package->config, package->folder,
                        MakeModelInfo(package->config, package->name, package->version));
  if (!model.ok()) return Broken(model.status());
  return model;
}

}  // namespace millrace::models
