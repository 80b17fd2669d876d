#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "server/client/client.h"
#include "server/client/connection.h"
#include "server/config/command_line.h"
#include "server/crashes/crash_file.h"

namespace millrace {
namespace {

using CrashJson = nlohmann::ordered_json;

constexpr const char* kCrashRow = "%-20s %-16s %-14s %-28s %s\n";

struct CrashFile {
  std::string name;
  CrashJson report;  // null: it is not a report
};

// Members that are missing, or of another type, are empty.
std::string TextOf(const CrashJson& report, const char* member) {
  const auto found = report.find(member);
  return found != report.end() && found->is_string() ? found->get<std::string>() : "";
}

int64_t NumberOf(const CrashJson& report, const char* member) {
  const auto found = report.find(member);
  return found != report.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

const CrashJson& ListOf(const CrashJson& report, const char* member) {
  static const CrashJson none = CrashJson::array();
  const auto found = report.find(member);
  return found != report.end() && found->is_array() ? *found : none;
}

// Returns at most as much of a file as a report may have.
std::string ReadReport(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(2 * server::kMostCrashFileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

// Returns the reports of a folder, the oldest first; nullopt if it cannot be read.
std::optional<std::vector<CrashFile>> ReadReports(const std::filesystem::path& folder,
                                                  std::error_code& error) {
  std::vector<CrashFile> files;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(server::kCrashFilePrefix) || !name.ends_with(server::kCrashFileSuffix))
      continue;
    CrashJson report =
        CrashJson::parse(ReadReport(entry->path()), nullptr, /*allow_exceptions=*/false);
    files.push_back({name, report.is_object() ? std::move(report) : CrashJson()});
  }
  if (error) return std::nullopt;
  std::ranges::sort(files, {}, &CrashFile::name);
  return files;
}

std::string TimeOf(const CrashJson& report) {
  const auto seconds = static_cast<std::time_t>(NumberOf(report, "time_unix_ms") / 1000);
  std::tm parts = {};
  char text[32] = "";
  if (localtime_r(&seconds, &parts) != nullptr)
    std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

bool Runs(const CrashJson& step) { return step.is_object() && step.contains("running"); }

// Returns the models whose steps ran.
std::string RunningModels(const CrashJson& report) {
  std::vector<std::string> models;
  for (const CrashJson& step : ListOf(report, "steps")) {
    if (Runs(step)) models.push_back(TextOf(step, "model"));
  }
  return models.empty() ? "-" : absl::StrJoin(models, ", ");
}

void ShowStep(const CrashJson& step) {
  std::vector<std::string> requests;
  for (const CrashJson& request : ListOf(step, "described")) {
    const int64_t id = NumberOf(request, "id");
    std::string text = id == 0 ? "" : absl::StrCat("request ", id, ": ");
    absl::StrAppend(&text, NumberOf(request, "bytes"), " bytes");
    if (const CrashJson& shape = ListOf(request, "shape"); !shape.empty())
      absl::StrAppend(&text, " ", shape.dump());
    requests.push_back(std::move(text));
  }
  const auto number = [&](const char* member) {
    const auto found = step.find(member);
    return found != step.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  std::printf("  stream %-3ld %-28s %-34s %ld request(s)%s%s\n",
              static_cast<long>(NumberOf(step, "stream")), TextOf(step, "model").c_str(),
              (Runs(step) ? absl::StrFormat("ran for %.1f ms", number("begun_ms_ago"))
                          : absl::StrFormat("took %.1f ms, %.1f ms before", number("took_ms"),
                                            number("begun_ms_ago")))
                  .c_str(),
              static_cast<long>(NumberOf(step, "requests")), requests.empty() ? "" : ": ",
              absl::StrJoin(requests, "; ").c_str());
}

void Show(const CrashFile& file) {
  const CrashJson& report = file.report;
  std::printf("%s  %s\n%s %ld of version %s: %s, %s\n", TextOf(report, "id").c_str(),
              TimeOf(report).c_str(), TextOf(report, "process").c_str(),
              static_cast<long>(NumberOf(report, "pid")), TextOf(report, "version").c_str(),
              TextOf(report, "cause").c_str(), TextOf(report, "how").c_str());
  std::printf("\nSteps, of each stream the newest first:\n");
  for (const CrashJson& step : ListOf(report, "steps")) ShowStep(step);
  const CrashJson& stack = ListOf(report, "stack");
  if (stack.empty()) {
    std::printf("\nNo stack: it was not ended by a signal that can be handled.\n");
    return;
  }
  std::printf("\nStack of thread %ld, address %s:\n", static_cast<long>(NumberOf(report, "thread")),
              TextOf(report, "address").c_str());
  for (const CrashJson& frame : stack)
    std::printf("  %-18s %s\n", TextOf(frame, "address").c_str(), TextOf(frame, "symbol").c_str());
}

}  // namespace

int RunCrashes(const CrashesCommand& command) {
  std::error_code error;
  auto files = ReadReports(command.folder, error);
  if (!files)
    return Fail(absl::StrCat("--crash-directory: '", command.folder.string(),
                             "' cannot be read: ", error.message()));
  if (!command.id.empty()) {
    const auto found = std::find_if(files->rbegin(), files->rend(), [&](const CrashFile& file) {
      return file.name == command.id || TextOf(file.report, "id") == command.id;
    });
    if (found == files->rend()) {
      return Fail(absl::StrCat(command.folder.string(), ": has no report '", command.id,
                               "'; `millrace crashes` lists them"));
    }
    if (found->report.is_null()) return Fail(absl::StrCat(command.id, ": is not a crash report"));
    if (command.json) {
      std::printf("%s\n", found->report.dump(1).c_str());
    } else {
      Show(*found);
    }
    return kExitOk;
  }
  if (!command.json) std::printf(kCrashRow, "TIME", "ID", "CAUSE", "HOW", "RUNNING");
  CrashJson listed = CrashJson::array();
  for (CrashFile& file : *files) {
    if (file.report.is_null()) {
      std::fprintf(stderr, "millrace: %s: is not a crash report\n", file.name.c_str());
    } else if (command.json) {
      file.report["file"] = file.name;
      listed.push_back(std::move(file.report));
    } else {
      const CrashJson& report = file.report;
      std::printf(kCrashRow, TimeOf(report).c_str(), TextOf(report, "id").c_str(),
                  TextOf(report, "cause").c_str(), TextOf(report, "how").c_str(),
                  RunningModels(report).c_str());
    }
  }
  if (command.json) std::printf("%s\n", CrashJson{{"crashes", listed}}.dump(1).c_str());
  return kExitOk;
}

}  // namespace millrace
