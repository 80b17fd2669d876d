#include "mps_runtime/safety_profile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "mps_runtime/base/file.h"
#include "mps_runtime/device_traits.h"
#include "mps_runtime/stream.h"

namespace millrace::runtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxProfileBytes = size_t{4} << 20;
constexpr size_t kMaxTextBytes = 256;
constexpr size_t kMaxItems = 10'000;
constexpr int kMaxDepth = 8;  // twice the depth of a profile
constexpr size_t kMaxShownBytes = 60;
constexpr int kMaxRuns = 1'000'000;  // for one outcome
constexpr char kKind[] = "millrace-safety-profile";

std::string SystemError() { return std::strerror(errno); }

// A JSON value with its place in the file, such as "models[2].safe_concurrency".
class Node {
 public:
  Node(const Json& json, std::string place, const std::string& file)
      : json_(json), place_(std::move(place)), file_(file) {}

  [[noreturn]] void Refuse(const std::string& allowed) const {
    // ASCII: the message goes to logs and terminals.
    std::string shown = json_.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (shown.size() > kMaxShownBytes) shown = shown.substr(0, kMaxShownBytes) + "...";
    throw SafetyProfileError(file_ + ": " + (place_.empty() ? "the whole" : place_) + ": " + shown +
                             ": allowed is " + allowed);
  }

  // Requires an object with these fields and no others.
  void RequireFields(std::initializer_list<const char*> names) const {
    if (!json_.is_object()) Refuse("an object");
    for (const char* name : names) {
      if (!json_.contains(name)) {
        throw SafetyProfileError(file_ + ": " + Inside(name) + ": is missing");
      }
    }
    for (const auto& [name, value] : json_.items()) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      std::string allowed = "none of that name, but";
      for (const char* known : names) allowed += std::string(" ") + known;
      Node(value, Inside(Json(name).dump(-1, ' ', true, Json::error_handler_t::replace)), file_)
          .Refuse(allowed);
    }
  }
  Node operator[](const char* name) const { return {json_.at(name), Inside(name), file_}; }

  std::vector<Node> List(size_t least, size_t most) const {
    if (!json_.is_array() || json_.size() < least || json_.size() > most) {
      Refuse("a list of " + std::to_string(least) + ".." + std::to_string(most));
    }
    std::vector<Node> nodes;
    nodes.reserve(json_.size());
    for (size_t i = 0; i < json_.size(); ++i) {
      nodes.emplace_back(json_[i], place_ + "[" + std::to_string(i) + "]", file_);
    }
    return nodes;
  }

  int64_t Integer(int64_t low, int64_t high) const {
    const auto refuse = [&] { Refuse(std::to_string(low) + ".." + std::to_string(high)); };
    if (!json_.is_number_integer()) refuse();
    // A number that fits only an unsigned type exceeds every range here.
    if (json_.is_number_unsigned() && json_.get<uint64_t>() > static_cast<uint64_t>(high)) refuse();
    const int64_t value = json_.get<int64_t>();
    if (value < low || value > high) refuse();
    return value;
  }

  std::string Text() const {
    if (!json_.is_string() || json_.get_ref<const std::string&>().empty() ||
        json_.get_ref<const std::string&>().size() > kMaxTextBytes) {
      Refuse("a text of 1.." + std::to_string(kMaxTextBytes) + " bytes");
    }
    return json_.get<std::string>();
  }

  std::string Sha256() const {
    constexpr size_t kDigits = 64;
    const std::string* text = json_.get_ptr<const std::string*>();
    if (text == nullptr || text->size() != kDigits ||
        text->find_first_not_of("0123456789abcdef") != text->npos) {
      Refuse("64 hexadecimal digits in lower case");
    }
    return *text;
  }

  bool is_null() const { return json_.is_null(); }

 private:
  std::string Inside(const std::string& name) const {
    return place_.empty() ? name : place_ + "." + name;
  }

  const Json& json_;
  const std::string place_;
  const std::string& file_;
};

// The key's fields as the file names them.
constexpr std::array<std::pair<const char*, std::string ProfileKey::*>, 7> kKeyFields = {{
    {"backend", &ProfileKey::backend},
    {"device_name", &ProfileKey::device_name},
    {"os", &ProfileKey::os},
    {"os_release", &ProfileKey::os_release},
    {"machine", &ProfileKey::machine},
    {"libtorch_version", &ProfileKey::libtorch_version},
    {"libtorch_git_revision", &ProfileKey::libtorch_git_revision},
}};

ProfileKey ReadKey(const Node& node) {
  node.RequireFields({"backend", "device_name", "os", "os_release", "machine", "libtorch_version",
                      "libtorch_git_revision"});
  ProfileKey key;
  for (const auto& [name, field] : kKeyFields) key.*field = node[name].Text();
  if (!ParseDeviceType(key.backend)) node["backend"].Refuse(DeviceNames(" or "));
  return key;
}

std::vector<RunCounts> ReadRuns(const Node& node) {
  std::vector<RunCounts> runs;
  for (const Node& entry : node.List(1, kWorkerSlots)) {
    entry.RequireFields({"threads", "ok", "wrong", "error", "crash", "hang"});
    RunCounts counts;
    const int least = runs.empty() ? 1 : runs.back().threads + 1;
    counts.threads = static_cast<int>(entry["threads"].Integer(least, kWorkerSlots));
    for (const auto& [name, field] : kOutcomeFields) {
      counts.*field = static_cast<int>(entry[name].Integer(0, kMaxRuns));
    }
    runs.push_back(counts);
  }
  return runs;
}

void ReadMeasurement(const Node& node, int repeats, ProfileItem& item) {
  item.name = node["name"].Text();
  item.runs = ReadRuns(node["runs"]);
  const int shown = SafeConcurrencyOf(item.runs, repeats);
  const Node cap = node["safe_concurrency"];
  if (cap.is_null()) return;
  item.safe_concurrency = static_cast<int>(cap.Integer(1, kWorkerSlots));
  if (item.safe_concurrency <= shown) return;
  if (shown == 0) cap.Refuse("null: its runs did not survive on one thread");
  cap.Refuse("1.." + std::to_string(shown) + ", which its runs survived");
}

std::vector<ProfileItem> ReadItems(const Node& node, size_t least, bool models, int repeats) {
  std::vector<ProfileItem> items;
  std::set<std::string> names;
  for (const Node& entry : node.List(least, kMaxItems)) {
    ProfileItem item;
    if (models) {
      entry.RequireFields({"name", "version", "sha256", "safe_concurrency", "runs"});
      item.version = entry["version"].Integer(1, INT64_MAX);
      item.sha256 = entry["sha256"].Sha256();
    } else {
      entry.RequireFields({"name", "safe_concurrency", "runs"});
    }
    ReadMeasurement(entry, repeats, item);
    if (!names.insert(item.name).second) entry["name"].Refuse("each name once");
    items.push_back(std::move(item));
  }
  return items;
}

Json ItemToJson(const ProfileItem& item, bool model) {
  Json json;
  json["name"] = item.name;
  if (model) {
    json["version"] = item.version;
    json["sha256"] = item.sha256;
  }
  json["safe_concurrency"] = item.safe_concurrency > 0 ? Json(item.safe_concurrency) : Json();
  json["runs"] = Json::array();
  for (const RunCounts& counts : item.runs) {
    Json run;
    run["threads"] = counts.threads;
    for (const auto& [name, field] : kOutcomeFields) run[name] = counts.*field;
    json["runs"].push_back(std::move(run));
  }
  return json;
}

// Key fields are neither empty nor unbounded, so that the profile can be read again.
std::string KeyField(const std::string& value) {
  return value.empty() ? "unknown" : value.substr(0, kMaxTextBytes);
}

}  // namespace

ProfileKey KeyOf(const Provenance& provenance) {
  // A patched build has the version and the revision of the stock one.
  std::string revision = provenance.libtorch_git_revision;
  if (provenance.mps_patch_level != 0)
    revision += "+mps-patch-" + std::to_string(provenance.mps_patch_level);
  utsname system{};
  uname(&system);
  return {.backend = provenance.device,
          .device_name = KeyField(provenance.device_name),
          .os = KeyField(system.sysname),
          .os_release = KeyField(system.release),
          .machine = KeyField(system.machine),
          .libtorch_version = KeyField(provenance.libtorch_version),
          .libtorch_git_revision = KeyField(revision)};
}

std::string Describe(const ProfileKey& key) {
  std::string text;
  for (const auto& [name, field] : kKeyFields) {
    text += std::string(text.empty() ? "" : ", ") + name + " '" + key.*field + "'";
  }
  return text;
}

std::string Difference(const ProfileKey& profile, const ProfileKey& here) {
  std::string difference;
  for (const auto& [name, field] : kKeyFields) {
    if (profile.*field == here.*field) continue;
    if (!difference.empty()) difference += ", ";
    difference +=
        std::string(name) + " is '" + profile.*field + "', here it is '" + here.*field + "'";
  }
  return difference;
}

int SafeConcurrencyOf(std::span<const RunCounts> runs, int repeats) {
  int safe = 0;
  for (const RunCounts& counts : runs) {
    if (!counts.Survived(repeats)) break;
    safe = counts.threads;
  }
  return safe;
}

SafetyProfile ParseSafetyProfile(std::string_view text, const std::string& file) {
  Json json;
  try {
    json = Json::parse(text, [&file](int depth, Json::parse_event_t, const Json&) {
      if (depth > kMaxDepth) throw SafetyProfileError(file + ": is nested too deeply");
      return true;
    });
  } catch (const Json::parse_error& error) {
    throw SafetyProfileError(file + ": is not JSON: broken at byte " + std::to_string(error.byte) +
                             " of " + std::to_string(text.size()));
  } catch (const Json::exception& error) {  // such as a number that no double holds
    throw SafetyProfileError(file + ": is not JSON: " + error.what());
  }
  const Node top(json, "", file);
  // Checked first, because another format has other fields.
  if (json.is_object() && json.contains("format")) {
    top["format"].Integer(SafetyProfile::kFormat, SafetyProfile::kFormat);
  }
  top.RequireFields({"kind", "format", "key", "repeats", "operators", "models"});
  if (top["kind"].Text() != kKind) top["kind"].Refuse(std::string("\"") + kKind + "\"");
  SafetyProfile profile;
  profile.key = ReadKey(top["key"]);
  profile.repeats = static_cast<int>(top["repeats"].Integer(1, SafetyProfile::kMaxRepeats));
  profile.operators = ReadItems(top["operators"], 1, /*models=*/false, profile.repeats);
  profile.models = ReadItems(top["models"], 0, /*models=*/true, profile.repeats);
  return profile;
}

SafetyProfile ReadSafetyProfile(const std::filesystem::path& file) {
  const std::string name = file.string();
  // Opened without blocking: a pipe without a writer would never open.
  const FileDescriptor fd(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (fd.get() < 0) throw SafetyProfileError(name + ": cannot be read: " + SystemError());
  if (!IsRegularFile(fd.get())) throw SafetyProfileError(name + ": is not a file");
  const std::optional<std::string> text = ReadToEnd(fd.get(), kMaxProfileBytes);
  if (!text) throw SafetyProfileError(name + ": cannot be read: " + SystemError());
  if (text->size() > kMaxProfileBytes) {
    throw SafetyProfileError(name + ": is larger than " + std::to_string(kMaxProfileBytes) +
                             " bytes");
  }
  return ParseSafetyProfile(*text, name);
}

std::string ToJson(const SafetyProfile& profile) {
  Json json;
  json["kind"] = kKind;
  json["format"] = SafetyProfile::kFormat;
  for (const auto& [name, field] : kKeyFields) json["key"][name] = profile.key.*field;
  json["repeats"] = profile.repeats;
  json["operators"] = Json::array();
  for (const ProfileItem& item : profile.operators) {
    json["operators"].push_back(ItemToJson(item, /*model=*/false));
  }
  json["models"] = Json::array();
  for (const ProfileItem& item : profile.models) {
    json["models"].push_back(ItemToJson(item, /*model=*/true));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void WriteSafetyProfile(const SafetyProfile& profile, const std::filesystem::path& file) {
  const std::string name = file.string();
  // A rename would put a file in the place of a device such as /dev/null.
  std::error_code error;
  if (const auto there = std::filesystem::status(file, error);
      std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
    throw SafetyProfileError(name + ": is not a file");
  std::string beside = name + ".XXXXXX";
  // The temporary file has a unique name, so that two writers do not mix.
  FileDescriptor fd(mkstemp(beside.data()));
  const bool made = fd.get() >= 0;
  const auto check = [&](bool done) {
    if (done) return;
    const std::string why = SystemError();
    if (made) unlink(beside.c_str());
    throw SafetyProfileError(name + ": cannot be written: " + why + "; what was there is left");
  };
  check(made);
  // mkstemp makes the file readable by its owner alone; the server may be another user, so it gets
  // the usual mode.
  const mode_t mask = umask(0);
  umask(mask);
  check(fchmod(fd.get(), 0666 & ~mask) == 0);
  check(WriteAll(fd.get(), ToJson(profile)));
  check(fsync(fd.get()) == 0);
  check(fd.Close());
  check(rename(beside.c_str(), name.c_str()) == 0);
  // Makes the new name durable too. Some file systems cannot do this to a folder; the contents are
  // safe anyway.
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const FileDescriptor parent(open(folder.c_str(), O_RDONLY | O_CLOEXEC));
  if (parent.get() >= 0) fsync(parent.get());
}

}  // namespace millrace::runtime
