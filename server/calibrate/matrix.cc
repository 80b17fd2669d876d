#include "server/calibrate/matrix.h"

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/core/strings.h"

namespace millrace {
namespace {

using runtime::ProfileItem;
using runtime::RunCounts;

std::vector<std::string> RowOf(const ProfileItem& item, const char* kind,
                               const std::set<int>& threads, int repeats) {
  std::vector<std::string> row = {StrCat(kind, " ", item.name)};
  for (const int n : threads) {
    const auto cell = std::find_if(item.runs.begin(), item.runs.end(),
                                   [n](const RunCounts& counts) { return counts.threads == n; });
    row.push_back(cell == item.runs.end() ? "-" : CellText(*cell, repeats));
  }
  row.push_back(item.safe_concurrency > 0 ? StrCat(item.safe_concurrency) : "none");
  return row;
}

}  // namespace

std::string CellText(const RunCounts& cell, int repeats) {
  const auto failed = [&](const char* what, int runs) {
    return StrCat(what, " ", runs, "/", cell.total());
  };
  if (cell.crash > 0) return failed("crash", cell.crash);
  if (cell.hang > 0) return failed("hang", cell.hang);
  if (cell.wrong > 0) return failed("wrong", cell.wrong);
  if (cell.error > 0) return failed("error", cell.error);
  return cell.Survived(repeats) ? "ok" : "(ok)";
}

std::string Matrix(const runtime::SafetyProfile& profile) {
  std::set<int> threads;
  for (const auto* items : {&profile.operators, &profile.models}) {
    for (const ProfileItem& item : *items) {
      for (const RunCounts& cell : item.runs) threads.insert(cell.threads);
    }
  }
  std::vector<std::vector<std::string>> rows(1);
  rows[0] = {"threads"};
  for (const int n : threads) rows[0].push_back(StrCat(n));
  rows[0].push_back("safe");
  for (const ProfileItem& item : profile.operators) {
    rows.push_back(RowOf(item, "operator", threads, profile.repeats));
  }
  for (const ProfileItem& item : profile.models) {
    rows.push_back(RowOf(item, "model", threads, profile.repeats));
  }

  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out = StrCat(profile.key.device_name, " (", profile.key.backend, "), libtorch ",
                           profile.key.libtorch_version, ", ", profile.repeats,
                           profile.repeats == 1 ? " run each\n" : " runs each\n");
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      // Names are aligned to the left, the rest to the right.
      absl::StrAppend(&out, i == 0 ? "" : "  ", i == 0 ? "" : space, row[i], i == 0 ? space : "");
    }
    out += '\n';
  }
  return out;
}

}  // namespace millrace
