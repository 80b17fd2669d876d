#include "server/calibrate/calibrate.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/probe/model_probe.h"
#include "models/repository/model_repository.h"
#include "models/repository/package_digest.h"
#include "mps_runtime/calibration/journal.h"
#include "mps_runtime/calibration/search.h"
#include "mps_runtime/probe/child_process.h"
#include "mps_runtime/probe/operator_probe.h"
#include "mps_runtime/runtime.h"
#include "mps_runtime/safety_profile.h"
#include "server/calibrate/matrix.h"
#include "server/calibrate/progress.h"
#include "server/config/command_line.h"
#include "server/control/signal_watch.h"

namespace millrace {
namespace {

using models::ModelRepository;
using runtime::CalibrationItem;
using runtime::CalibrationJournal;
using runtime::ChildOutcome;
using runtime::ProfileItem;
using runtime::RunCounts;
using runtime::RunOutcome;
using runtime::SafetyProfile;

constexpr size_t kBarWidth = 24;
constexpr int kSignalStatus = 128;  // plus its number, as shells report a signal

std::atomic<int> stop_signal{0};  // the last that arrived

bool Stopped() { return stop_signal.load() != 0; }

std::string NameOf(const CalibrationItem& item) {
  return StrCat(item.is_model() ? "model " : "operator ", item.name);
}

std::string ThreadsText(int threads) {
  return threads == 1 ? "1 thread" : StrCat(threads, " threads");
}

// Shows the progress on standard error: a bar with lines above it on a terminal, else a line for
// each cell.
class Display {
 public:
  void Line(const std::string& text) {
    std::fprintf(stderr, "%s%s\n", clear_, text.c_str());
    std::fflush(stderr);
  }
  void Bar(const std::string& text) {
    if (!terminal_) return;
    std::fprintf(stderr, "%s%s", clear_, text.c_str());
    std::fflush(stderr);
  }
  void End() { Bar(""); }
  bool terminal() const { return terminal_; }

 private:
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
  const char* const clear_ = terminal_ ? "\r\033[K" : "";
};

// Returns true for a signal that no driver sends: a user ended the child, or the kernel did for
// want of memory.
bool FromOutside(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

RunOutcome OutcomeOf(const runtime::ChildResult& result) {
  switch (result.outcome) {
    case ChildOutcome::kOk:
      return RunOutcome::kOk;
    case ChildOutcome::kWrong:
      return RunOutcome::kWrong;
    case ChildOutcome::kError:
      return RunOutcome::kError;
    case ChildOutcome::kHung:
      return RunOutcome::kHang;
    case ChildOutcome::kCrashed:
      break;
  }
  return FromOutside(result.signal) ? RunOutcome::kInconclusive : RunOutcome::kCrash;
}

struct Plan {
  runtime::DeviceFacts device;
  std::vector<CalibrationItem> items;
  std::vector<ModelRepository::Package>
      packages;  // packages of the items that are models, in their order
  std::vector<int> threads;
};

absl::StatusOr<std::vector<ModelRepository::Package>> PackagesOf(const CalibrateCommand& command,
                                                                 Display& display) {
  std::vector<ModelRepository::Package> packages;
  if (command.operators_only) return packages;
  const ModelRepository repository(command.models, {});
  std::vector<std::string> names = command.only;
  if (names.empty()) {
    MILLRACE_RETURN_IF_ERROR(repository.Check());
    MILLRACE_ASSIGN_OR_RETURN(const auto entries, repository.List());
    for (const auto& entry : entries) names.push_back(entry.name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    auto package = repository.Find(name);
    if (package.ok()) {
      packages.push_back(*std::move(package));
    } else if (command.only.empty()) {
      // serve refuses it too.
      display.Line(StrCat("model ", name, " is left out: ", Message(package.status())));
    } else {
      return absl::Status(package.status().code(),
                          StrCat("--model ", name, ": ", Message(package.status())));
    }
  }
  return packages;
}

absl::StatusOr<Plan> MakePlan(const CalibrateCommand& command, Display& display) {
  MILLRACE_ASSIGN_OR_RETURN(auto packages, PackagesOf(command, display));
  Plan plan;
  plan.device = runtime::Runtime::Describe(command.device);
  plan.packages = std::move(packages);
  for (const std::string& name : runtime::OperatorNames()) plan.items.push_back({.name = name});
  for (const auto& package : plan.packages) {
    MILLRACE_ASSIGN_OR_RETURN(auto digest, models::DigestOf(package));
    plan.items.push_back(
        {.name = package.name, .version = package.version, .sha256 = std::move(digest)});
  }
  plan.threads = runtime::DefaultThreads(command.max_threads > 0 ? command.max_threads
                                                                 : plan.device.useful_concurrency);
  return plan;
}

// Runs one item in a child process.
class ChildProbe {
 public:
  ChildProbe(const CalibrateCommand& command, const Plan& plan, Display& display)
      : command_(command),
        device_(runtime::ParseDeviceType(plan.device.provenance.device)),
        display_(display) {}

  RunOutcome operator()(const CalibrationItem& item, int threads) const {
    if (Stopped()) return RunOutcome::kStopped;
    const runtime::ChildOptions options{
        .watchdog = command_.watchdog, .stop = Stopped, .capture_last_line = true};
    const runtime::ChildResult result =
        item.is_model() ? models::RunModelInChild({.repository = command_.models,
                                                   .name = item.name,
                                                   .version = item.version,
                                                   .threads = threads,
                                                   .device = device_},
                                                  options)
                        : runtime::RunOperatorInChild(
                              {.op = item.name, .threads = threads, .device = device_}, options);
    if (Stopped()) return RunOutcome::kStopped;
    const RunOutcome outcome = OutcomeOf(result);
    if (outcome != RunOutcome::kOk) {
      display_.Line(StrCat(NameOf(item), ", ", ThreadsText(threads), ": ",
                           runtime::Describe(result),
                           outcome == RunOutcome::kInconclusive
                               ? "; ended from outside: counts when it happens twice"
                               : ""));
    }
    return outcome;
  }

 private:
  const CalibrateCommand& command_;
  const std::optional<runtime::DeviceType> device_;
  Display& display_;
};

// Keeps the models of the file's present profile that were not measured this time, if they were
// measured in the same way.
void KeepOtherModels(const CalibrateCommand& command, SafetyProfile& profile, Display& display) {
  if (command.only.empty() && !command.operators_only) return;
  if (access(command.output.c_str(), F_OK) != 0) return;
  SafetyProfile old;
  try {
    old = runtime::ReadSafetyProfile(command.output);
  } catch (const runtime::SafetyProfileError& broken) {
    display.Line(StrCat("nothing is kept of the old profile: ", broken.what()));
    return;
  }
  if (old.key != profile.key || old.repeats != profile.repeats) {
    display.Line("nothing is kept of the old profile: it was measured otherwise");
    return;
  }
  for (ProfileItem& model : old.models) {
    const bool measured =
        std::any_of(profile.models.begin(), profile.models.end(),
                    [&](const ProfileItem& other) { return other.name == model.name; });
    if (measured) continue;
    display.Line(StrCat("model ", model.name, " is kept of the old profile"));
    profile.models.push_back(std::move(model));
  }
}

// Returns nullopt if it was stopped.
absl::StatusOr<std::optional<SafetyProfile>> Measure(const CalibrateCommand& command,
                                                     const Plan& plan, CalibrationJournal& journal,
                                                     Display& display) {
  CalibrationProgress progress(plan.items.size() * plan.threads.size(), command.repeats);
  const auto show = [&](const CalibrationItem& item, int threads, int runs) {
    display.Bar(StrCat(progress.Bar(kBarWidth), " ", progress.Text(), "  ", NameOf(item), ", ",
                       ThreadsText(threads), ": ", runs, "/", command.repeats));
  };
  const runtime::BoundarySearch search(
      {.threads = plan.threads, .repeats = command.repeats}, ChildProbe(command, plan, display),
      {.known = [&](const CalibrationItem& item,
                    int threads) { return journal.Find(item, threads); },
       .on_run =
           [&](const CalibrationItem& item, const RunCounts& so_far) {
             progress.OnRun(so_far.total());
             show(item, so_far.threads, so_far.total());
           },
       .on_cell =
           [&](const CalibrationItem& item, const RunCounts& cell, bool was_known) {
             if (!was_known) journal.Append(item, cell);
             const bool planned =
                 std::binary_search(plan.threads.begin(), plan.threads.end(), cell.threads);
             progress.OnCell(planned, was_known);
             if (display.terminal() || was_known) return;
             display.Line(StrCat(NameOf(item), ", ", ThreadsText(cell.threads), ": ",
                                 CellText(cell, command.repeats), " (", progress.Text(), ")"));
           }});
  SafetyProfile profile;
  profile.key = runtime::KeyOf(plan.device.provenance);
  profile.repeats = command.repeats;
  size_t models = 0;
  for (const CalibrationItem& item : plan.items) {
    show(item, plan.threads.front(), 0);
    std::optional<ProfileItem> found = search.Find(item);
    if (!found) return std::optional<SafetyProfile>();
    if (!item.is_model()) {
      profile.operators.push_back(*std::move(found));
      continue;
    }
    MILLRACE_ASSIGN_OR_RETURN(const auto digest, models::DigestOf(plan.packages[models++]));
    if (digest != item.sha256) {
      return FailedPrecondition("model ", item.name,
                                " was changed while it was measured: run it again");
    }
    profile.models.push_back(*std::move(found));
  }
  return std::optional<SafetyProfile>(std::move(profile));
}

absl::StatusOr<bool> Calibrate(const CalibrateCommand& command, Display& display) {
  MILLRACE_ASSIGN_OR_RETURN(const auto plan, MakePlan(command, display));
  CalibrationJournal journal(command.output.string() + ".partial",
                             {.key = runtime::KeyOf(plan.device.provenance),
                              .repeats = command.repeats,
                              .watchdog = command.watchdog});
  if (!journal.dropped().empty()) {
    display.Line(StrCat(journal.file().string(), " is not taken up: ", journal.dropped()));
  }
  if (journal.resumed() > 0) {
    display.Line(StrCat(journal.resumed(), " results are taken from ", journal.file().string()));
  }
  auto profile = Measure(command, plan, journal, display);
  display.End();
  if (!profile.ok()) return profile.status();
  if (!profile->has_value()) {
    display.Line(StrCat("interrupted: what is done is kept in ", journal.file().string(),
                        "; run the same command again to go on"));
    return false;
  }
  KeepOtherModels(command, **profile, display);
  runtime::WriteSafetyProfile(**profile, command.output);
  journal.Remove();
  std::fputs(Matrix(**profile).c_str(), stdout);
  display.Line(StrCat("written to ", command.output.string()));
  return true;
}

}  // namespace

int RunCalibrate(const CalibrateCommand& command) {
  const server::SignalWatch signals({.stop = [](int signal) { stop_signal.store(signal); }});
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow then is a write error
  Display display;
  std::string failure;
  try {
    const auto complete = Calibrate(command, display);
    if (complete.ok()) return *complete ? kExitOk : kSignalStatus + stop_signal.load();
    failure = Message(complete.status());
  } catch (const std::exception& error) {
    failure = error.what();
  }
  display.End();
  std::fprintf(stderr, "millrace: %s\n", failure.c_str());
  return kExitFailed;
}

}  // namespace millrace
