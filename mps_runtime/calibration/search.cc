#include "mps_runtime/calibration/search.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace millrace::runtime {
namespace {

constexpr int kDefaultThreads[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 31};

void Count(RunOutcome outcome, RunCounts& counts) {
  switch (outcome) {
    case RunOutcome::kOk:
      ++counts.ok;
      return;
    case RunOutcome::kWrong:
      ++counts.wrong;
      return;
    case RunOutcome::kError:
      ++counts.error;
      return;
    case RunOutcome::kHang:
      ++counts.hang;
      return;
    case RunOutcome::kCrash:
    case RunOutcome::kInconclusive:
    case RunOutcome::kStopped:
      ++counts.crash;
      return;
  }
}

}  // namespace

std::vector<int> DefaultThreads(int most) {
  std::vector<int> threads;
  for (const int n : kDefaultThreads) {
    if (n < most) threads.push_back(n);
  }
  threads.push_back(most);
  return threads;
}

BoundarySearch::BoundarySearch(SearchOptions options, Probe probe, Hooks hooks)
    : options_(std::move(options)), probe_(std::move(probe)), hooks_(std::move(hooks)) {
  if (options_.threads.empty() || options_.threads.front() != 1 ||
      !std::is_sorted(options_.threads.begin(), options_.threads.end())) {
    throw std::invalid_argument("threads: allowed are ascending numbers from 1");
  }
}

std::optional<RunCounts> BoundarySearch::Cell(const CalibrationItem& item, int threads,
                                              int repeats) const {
  const RunCounts* known = hooks_.known ? hooks_.known(item, threads) : nullptr;
  // A cell that was beyond a failure in the earlier run, and is not now, has too few runs.
  if (known != nullptr && (known->ok >= repeats || known->ok < known->total())) {
    if (hooks_.on_cell) hooks_.on_cell(item, *known, /*was_known=*/true);
    return *known;
  }
  RunCounts counts;
  counts.threads = threads;
  while (counts.ok < repeats && counts.ok == counts.total()) {
    RunOutcome outcome = probe_(item, threads);
    if (outcome == RunOutcome::kInconclusive) outcome = probe_(item, threads);
    if (outcome == RunOutcome::kStopped) return std::nullopt;
    Count(outcome, counts);
    if (hooks_.on_run) hooks_.on_run(item, counts);
  }
  if (hooks_.on_cell) hooks_.on_cell(item, counts, /*was_known=*/false);
  return counts;
}

std::optional<ProfileItem> BoundarySearch::Find(const CalibrationItem& item) const {
  ProfileItem found{.name = item.name, .version = item.version, .sha256 = item.sha256};
  const int repeats = options_.repeats;
  const auto run = [&](int threads, int times) {
    const std::optional<RunCounts> cell = Cell(item, threads, times);
    if (cell) found.runs.push_back(*cell);
    return cell;
  };
  int safe = 0;
  auto next = options_.threads.begin();
  int failed = 0;
  for (; next != options_.threads.end() && failed == 0; ++next) {
    const auto cell = run(*next, repeats);
    if (!cell) return std::nullopt;
    (cell->Survived(repeats) ? safe : failed) = *next;
  }
  while (failed - safe > 1 && safe > 0) {
    const int middle = safe + (failed - safe) / 2;
    const auto cell = run(middle, repeats);
    if (!cell) return std::nullopt;
    (cell->Survived(repeats) ? safe : failed) = middle;
  }
  for (; next != options_.threads.end(); ++next) {
    if (!run(*next, std::min(repeats, kRunsBeyondFailure))) return std::nullopt;
  }
  std::sort(found.runs.begin(), found.runs.end(),
            [](const RunCounts& a, const RunCounts& b) { return a.threads < b.threads; });
  found.safe_concurrency = safe;
  return found;
}

}  // namespace millrace::runtime
