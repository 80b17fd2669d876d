#include "models/repository/model_repository.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace millrace::models {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxNameLength = 128;
constexpr char kLayout[] = "<model>/<version>/model.pbtxt";

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

absl::Status Unreadable(const fs::path& path, const std::error_code& error) {
  return absl::FailedPreconditionError(
      absl::StrCat("model repository ", path.string(), ": cannot be read: ", error.message()));
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

absl::Status CheckModelName(std::string_view name) {
  const bool allowed = !name.empty() && name.size() <= kMaxNameLength && name[0] != '.' &&
                       std::all_of(name.begin(), name.end(), [](unsigned char c) {
                         return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
                       });
  if (allowed) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("model: not a name, allowed are 1..", kMaxNameLength,
                   " letters, digits, '.', '_' and '-', not starting with '.'"));
}

absl::StatusOr<std::optional<int64_t>> ParseVersion(std::string_view version) {
  if (version.empty()) return std::nullopt;
  const std::optional<int64_t> number = VersionOf(version);
  if (!number) {
    return absl::InvalidArgumentError(
        "model_version: not a version, allowed is a whole number from 1, or empty for the latest");
  }
  return number;
}

ModelRepository::ModelRepository(fs::path root, ModelFactory factory, const ModelKinds& kinds)
    : root_(std::move(root)), factory_(std::move(factory)), kinds_(kinds) {}

absl::StatusOr<std::vector<ModelRepository::Entry>> ModelRepository::List() const {
  std::error_code error;
  const fs::file_status status = fs::status(root_, error);
  if (status.type() == fs::file_type::not_found) {
    return absl::FailedPreconditionError(
        absl::StrCat("model repository ", root_.string(), ": no such folder"));
  }
  if (error) return Unreadable(root_, error);
  if (status.type() != fs::file_type::directory) {
    return absl::FailedPreconditionError(
        absl::StrCat("model repository ", root_.string(), ": is not a folder"));
  }
  std::vector<Entry> entries;
  fs::directory_iterator it(root_, error);
  for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!CheckModelName(name).ok()) continue;
    std::vector<int64_t> versions = VersionsIn(it->path());
    if (!versions.empty()) entries.push_back({std::move(name), std::move(versions)});
  }
  if (error) return Unreadable(root_, error);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

absl::Status ModelRepository::Check() const {
  const absl::StatusOr<std::vector<Entry>> entries = List();
  if (!entries.ok()) return entries.status();
  if (entries->empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("model repository ", root_.string(), ": holds no model, expected ", kLayout));
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelRepository::Package> ModelRepository::Find(
    std::string_view name, std::optional<int64_t> version) const {
  if (absl::Status status = CheckModelName(name); !status.ok()) return status;
  const fs::path model = root_ / name;
  const std::vector<int64_t> versions = VersionsIn(model);
  if (versions.empty()) {
    return absl::NotFoundError(
        absl::StrCat("model '", std::string(name), "' is not in the repository"));
  }
  if (version && !std::binary_search(versions.begin(), versions.end(), *version)) {
    return absl::NotFoundError(absl::StrCat("model '", std::string(name), "' has no version ",
                                            *version, ", the latest is ", versions.back()));
  }
  Package package;
  package.name = name;
  package.version = version.value_or(versions.back());
  package.folder = model / std::to_string(package.version);
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
