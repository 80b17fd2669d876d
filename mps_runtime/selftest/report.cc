#include "mps_runtime/selftest/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace millrace::runtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;
constexpr char kIndent[] = "        ";

template <typename... Values>
std::string Formatted(const char* format, Values... values) {
  std::array<char, 200> text;
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

Json Number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<int64_t>(value);
  return std::round(value * 1000) / 1000;
}

const char* Label(TestResult::Status status) {
  switch (status) {
    case TestResult::Status::kPassed:
      return "ok";
    case TestResult::Status::kFailed:
      return "FAILED";
    case TestResult::Status::kHung:
      return "HUNG";
  }
  return "";
}

std::string Label(SupportRow::Tests tests) {
  return tests == SupportRow::Tests::kFailed ? "FAILED" : std::string(ToString(tests));
}

std::string SystemLine(const SystemInfo& system) {
  return "os=\"" + system.os + "\" kernel=\"" + system.kernel + "\" machine=\"" + system.machine +
         "\" cores=" + std::to_string(system.cores) +
         Formatted(" memory_gib=%.1f", static_cast<double>(system.memory_bytes) / (1 << 30));
}

// Returns the outcomes of the operators as a table with a line for each operator.
std::string OutcomeLines(const std::vector<OperatorOutcome>& outcomes) {
  std::string lines;
  const std::string* op = nullptr;
  for (const OperatorOutcome& outcome : outcomes) {
    if (op == nullptr || *op != outcome.op) {
      if (op != nullptr) lines += '\n';
      lines += kIndent + Formatted("%-12s", outcome.op.c_str());
    }
    op = &outcome.op;
    lines += Formatted(" %dx ", outcome.threads) + outcome.outcome;
  }
  if (!lines.empty()) lines += '\n';
  return lines;
}

// Appends the text to a line that is `indent` wide and to as many more as it takes, which are
// indented as far. Lines break at spaces; a word that is too wide for a line stays whole.
void AppendWrapped(std::string& lines, size_t indent, std::string_view text) {
  constexpr size_t kWidth = 120;
  size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column > indent && column + 1 + word.size() > kWidth) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  lines += '\n';
}

constexpr char kSupportColumns[] = "%-26s  %-14s  %-10s  %-7s  ";

std::string SupportLine(const SupportRow& row) {
  std::string lines = Formatted(
      kSupportColumns, std::string(row.name).c_str(), std::string(ToString(row.libtorch)).c_str(),
      std::string(ToString(row.millrace)).c_str(), Label(row.tests).c_str());
  const size_t indent = lines.size();
  AppendWrapped(lines, indent, row.why);
  for (const std::string& tried : row.tried) {
    lines += std::string(indent, ' ');
    AppendWrapped(lines, indent, tried);
  }
  return lines;
}

Json SupportJson(const SelftestReport& report) {
  if (!report.facts) return nullptr;
  Json rows = Json::object();
  for (const SupportRow& row : SupportRows(*report.facts, report.results)) {
    rows[std::string(row.name)] = {{"libtorch", ToString(row.libtorch)},
                                   {"millrace", ToString(row.millrace)},
                                   {"tests", ToString(row.tests)},
                                   {"why", row.why},
                                   {"tried", row.tried}};
  }
  return rows;
}

Json ToJson(const TestResult& result) {
  Json test = {{"name", result.name},
               {"result", ToString(result.status)},
               {"seconds", Number(result.seconds)},
               {"figures", Json::object()},
               {"failures", result.findings.failures}};
  for (const Figure& figure : result.findings.figures) {
    test["figures"][figure.name] = Number(figure.value);
  }
  for (const OperatorOutcome& outcome : result.findings.outcomes) {
    test["outcomes"].push_back({{"operator", outcome.op},
                                {"threads", outcome.threads},
                                {"outcome", outcome.outcome},
                                {"detail", outcome.detail}});
  }
  return test;
}

}  // namespace

std::string StartLines(const SelftestReport& report) {
  return "millrace " MILLRACE_VERSION " selftest\n" + ToLogLine(report.provenance) + '\n' +
         SystemLine(report.system) + '\n';
}

std::string ResultLines(const TestResult& result) {
  std::string lines =
      Formatted("%-6s %-30s %6.1f s ", Label(result.status), result.name.c_str(), result.seconds);
  for (const Figure& figure : result.findings.figures) {
    lines += ' ' + figure.name + '=' + FigureText(figure.value);
  }
  lines += '\n' + OutcomeLines(result.findings.outcomes);
  for (const std::string& failure : result.findings.failures) lines += kIndent + failure + '\n';
  return lines;
}

std::string SupportLines(const SelftestReport& report) {
  if (!report.facts) return {};
  std::string lines =
      '\n' +
      Formatted(kSupportColumns, "what forwards at once need", "libtorch", "Millrace", "tests") +
      "why, and what was tried\n";
  for (const SupportRow& row : SupportRows(*report.facts, report.results))
    lines += SupportLine(row);
  return lines + '\n';
}

std::string SummaryLines(const SelftestReport& report) {
  if (!report.error.empty()) return "FAILED: no test ran: " + report.error + '\n';
  std::string failed;
  int passed = 0;
  for (const TestResult& result : report.results) {
    if (result.status == TestResult::Status::kPassed) {
      ++passed;
    } else {
      failed += (failed.empty() ? "" : ", ") + result.name;
    }
  }
  std::string lines = report.passed() ? "passed: " : "FAILED: ";
  lines += std::to_string(passed) + " of " +
           std::to_string(report.results.size() + report.not_run.size()) + " tests" +
           Formatted(" in %.1f s", report.seconds);
  if (!failed.empty()) lines += "; not: " + failed;
  if (!report.not_run.empty()) lines += "; not run: " + std::to_string(report.not_run.size());
  return lines + '\n' + ToLogLine(report.provenance) + '\n' + SystemLine(report.system) + '\n';
}

std::string ToJson(const SelftestReport& report) {
  const Provenance& provenance = report.provenance;
  Json json = {{"schema", "millrace.selftest"},
               {"schema_version", kSchemaVersion},
               {"millrace_version", MILLRACE_VERSION},
               {"passed", report.passed()},
               {"seconds", Number(report.seconds)},
               {"error", report.error.empty() ? Json() : Json(report.error)},
               {"provenance",
                {{"device", provenance.device},
                 {"device_name", provenance.device_name},
                 {"libtorch_version", provenance.libtorch_version},
                 {"libtorch_git_revision", provenance.libtorch_git_revision},
                 {"libtorch_path", provenance.libtorch_path},
                 {"compiled_against", provenance.compiled_against},
                 {"blas", provenance.blas},
                 {"mps_pool", provenance.pool_symbols},
                 {"mps_patch", provenance.mps_patch_level},
                 {"threads", provenance.threads}}},
               {"system",
                {{"os", report.system.os},
                 {"kernel", report.system.kernel},
                 {"machine", report.system.machine},
                 {"cores", report.system.cores},
                 {"memory_bytes", report.system.memory_bytes}}},
               {"support", SupportJson(report)},
               {"tests", Json::array()},
               {"not_run", report.not_run}};
  for (const TestResult& result : report.results) json["tests"].push_back(ToJson(result));
  // Text that a driver printed need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace millrace::runtime
