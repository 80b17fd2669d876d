#include "mps_runtime/calibration/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "mps_runtime/stream.h"

namespace millrace::runtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxFileBytes = size_t{64} << 20;

std::string HeaderOf(const CalibrationJournal::Conditions& conditions) {
  Json json;
  json["kind"] = "millrace-calibration";
  json["format"] = 1;
  json["measures"] = Describe(conditions.key) + ", repeats '" + std::to_string(conditions.repeats) +
                     "', watchdog_ms '" + std::to_string(conditions.watchdog.count()) + "'";
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string LineOf(const CalibrationItem& item, const RunCounts& cell) {
  Json json;
  json["name"] = item.name;
  if (item.is_model()) {
    json["version"] = item.version;
    json["sha256"] = item.sha256;
  }
  json["threads"] = cell.threads;
  for (const auto& [name, field] : kOutcomeFields) json[name] = cell.*field;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

int Number(const Json& json, const char* name, int low, int high) {
  if (!json.at(name).is_number_integer()) throw std::invalid_argument(name);
  const auto value = json.at(name).get<int64_t>();
  if (value < low || value > high) throw std::invalid_argument(name);
  return static_cast<int>(value);
}

// Returns nullopt for a line that LineOf did not write.
std::optional<std::pair<CalibrationItem, RunCounts>> Parse(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    CalibrationItem item{.name = json.at("name").get<std::string>()};
    if (json.contains("version")) {
      item.version = json.at("version").get<int64_t>();
      item.sha256 = json.at("sha256").get<std::string>();
    }
    RunCounts cell;
    cell.threads = Number(json, "threads", 1, kWorkerSlots);
    for (const auto& [name, field] : kOutcomeFields) {
      cell.*field = Number(json, name, 0, SafetyProfile::kMaxRepeats);
    }
    return std::pair(std::move(item), cell);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

[[noreturn]] void Fail(const std::filesystem::path& file, const char* what) {
  throw SafetyProfileError(file.string() + ": cannot be " + what + ": " + std::strerror(errno));
}

}  // namespace

CalibrationJournal::CalibrationJournal(std::filesystem::path file, const Conditions& conditions)
    : file_(std::move(file)) {
  fd_ = FileDescriptor(
      open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0666));
  if (fd_.get() < 0) Fail(file_, "written");
  if (!IsRegularFile(fd_.get())) throw SafetyProfileError(file_.string() + ": is not a file");
  if (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw SafetyProfileError(file_.string() + ": another calibration is writing it");
  }
  Load(HeaderOf(conditions));
}

void CalibrationJournal::Load(const std::string& header) {
  const std::optional<std::string> read = ReadToEnd(fd_.get(), kMaxFileBytes);
  if (!read) Fail(file_, "read");
  const std::string& text = *read;
  if (text.size() > kMaxFileBytes) {
    throw SafetyProfileError(file_.string() + ": is larger than " + std::to_string(kMaxFileBytes) +
                             " bytes");
  }
  size_t kept = 0;  // the bytes of whole lines
  const auto next_line = [&]() -> std::optional<std::string> {
    const size_t end = text.find('\n', kept);
    if (end == text.npos) return std::nullopt;
    return text.substr(kept, end - kept);
  };
  std::optional<std::string> line = next_line();
  if (line == header) {
    kept += line->size() + 1;
    while ((line = next_line())) {
      auto cell = Parse(*line);
      if (!cell) break;
      entries_.push_back({std::move(cell->first), cell->second});
      kept += line->size() + 1;
    }
    if (line) dropped_ = "what follows byte " + std::to_string(kept) + " is broken";
  } else if (line) {
    dropped_ = "it was measured otherwise: " + line->substr(0, 1000);
  }
  resumed_ = entries_.size();
  if (ftruncate(fd_.get(), static_cast<off_t>(kept)) != 0) Fail(file_, "written");
  if (kept == 0) Write(header);
}

void CalibrationJournal::Write(const std::string& line) {
  if (!WriteAll(fd_.get(), line + "\n") || fsync(fd_.get()) != 0) Fail(file_, "written");
}

const RunCounts* CalibrationJournal::Find(const CalibrationItem& item, int threads) const {
  // The last entry counts: a cell may have been measured again.
  const auto found = std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& entry) {
    return entry.cell.threads == threads && entry.item == item;
  });
  return found == entries_.rend() ? nullptr : &found->cell;
}

void CalibrationJournal::Append(const CalibrationItem& item, const RunCounts& cell) {
  Write(LineOf(item, cell));
  entries_.push_back({item, cell});
}

void CalibrationJournal::Remove() {
  if (unlink(file_.c_str()) != 0) Fail(file_, "removed");
}

}  // namespace millrace::runtime
