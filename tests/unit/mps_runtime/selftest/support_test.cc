#include "mps_runtime/selftest/support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "mps_runtime/selftest/report.h"
#include "mps_runtime/selftest/selftest.h"

namespace millrace::runtime {
namespace {

using Answer = SupportRow::Answer;
using Tests = SupportRow::Tests;
using Status = TestResult::Status;

SupportFacts Cpu() {
  SupportFacts facts;
  facts.device = DeviceType::kCpu;
  facts.provenance.libtorch_version = facts.provenance.compiled_against = "2.15.0";
  facts.provenance.libtorch_git_revision = "0123456789abcdef0123456789abcdef01234567";
  facts.provenance.libtorch_path = "/opt/libtorch/lib/libtorch_cpu.so";
  facts.provenance.pool_symbols = "none";
  facts.permits = 8;
  facts.permits_source = "policy";
  return facts;
}

SupportFacts Cuda() {
  SupportFacts facts = Cpu();
  facts.device = DeviceType::kCuda;
  return facts;
}

// Stock libtorch 2.15.0 on Apple's GPU.
SupportFacts StockMps() {
  SupportFacts facts = Cpu();
  facts.device = DeviceType::kMps;
  facts.provenance.pool_symbols = "getStreamByID";
  facts.mode = ForwardMode::kEncodeLock;
  facts.permits = 2;
  facts.sets_thread_stream = facts.waits_for_all_streams = true;
  facts.keeps_errors_by_stream = facts.has_profiler = true;
  return facts;
}

SupportFacts PatchedMps() {
  SupportFacts facts = StockMps();
  facts.provenance.mps_patch_level = 1;
  facts.mode = ForwardMode::kParallel;
  return facts;
}

// A libtorch before 2.14.
SupportFacts OldMps() {
  SupportFacts facts = StockMps();
  facts.provenance.pool_symbols = "none";
  facts.permits = 1;
  facts.sets_thread_stream = facts.waits_for_all_streams = false;
  facts.keeps_errors_by_stream = false;
  return facts;
}

std::vector<TestResult> AllPassed() {
  std::vector<TestResult> results;
  for (const SelftestTest& test : SelftestTests()) {
    results.push_back(
        {.name = std::string(test.name), .status = Status::kPassed, .seconds = 1, .findings = {}});
  }
  return results;
}

TestResult& Named(std::vector<TestResult>& results, std::string_view name) {
  return *std::find_if(results.begin(), results.end(),
                       [&](const TestResult& result) { return result.name == name; });
}

SupportRow Row(std::string_view name, const SupportFacts& facts,
               const std::vector<TestResult>& results = AllPassed()) {
  for (SupportRow& row : SupportRows(facts, results)) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return {};
}

// The answers as a person reads them: "libtorch/Millrace".
std::string Answers(std::string_view name, const SupportFacts& facts) {
  const SupportRow row = Row(name, facts);
  return std::string(ToString(row.libtorch)) + '/' + std::string(ToString(row.millrace));
}

bool Tried(const SupportRow& row, std::string_view what) {
  return std::find(row.tried.begin(), row.tried.end(), what) != row.tried.end();
}

struct Expected {
  std::string_view row, stock, patched, old, cuda, cpu;
};

constexpr std::string_view kNotOnIt = "not applicable/not needed";
constexpr Expected kExpected[] = {
    {"pool", "partly/yes", "partly/yes", "no/no", "partly/yes", "not applicable/yes"},
    {"assignment", "yes/not needed", "yes/not needed", "no/partly", "yes/not needed",
     "not applicable/yes"},
    {"caches", "no/yes", "yes/not needed", "no/yes", "no/yes", kNotOnIt},
    {"warm-up", "no/yes", "yes/not needed", "no/yes", "yes/not needed", kNotOnIt},
    {"own-stream synchronisation", "no/yes", "yes/not needed", "no/yes", "yes/not needed",
     kNotOnIt},
    {"handlers", "yes/not needed", "yes/not needed", "no/no", kNotOnIt, kNotOnIt},
    {"command buffers", "yes/yes", "yes/not needed", "no/yes", kNotOnIt, kNotOnIt},
    {"nn.Linear", "no/yes", "yes/not needed", "no/yes", "yes/not needed", "yes/not needed"},
    {"limiter", "no/yes", "no/yes", "no/yes", "no/yes", "no/yes"},
    {"scaling", "no/partly", "yes/not needed", "no/no", "yes/not needed", "yes/not needed"},
    {"provenance", "partly/yes", "partly/yes", "partly/yes", "partly/yes", "partly/yes"},
    {"profiler", "no/not needed", "yes/not needed", "no/not needed", kNotOnIt, kNotOnIt},
    {"boundary", "no/yes", "no/yes", "no/yes", "no/yes", "no/yes"},
};

TEST(SupportTest, AnswersForEachDeviceAndLibtorch) {
  for (const Expected& row : kExpected) {
    EXPECT_EQ(Answers(row.row, StockMps()), row.stock) << row.row;
    EXPECT_EQ(Answers(row.row, PatchedMps()), row.patched) << row.row;
    EXPECT_EQ(Answers(row.row, OldMps()), row.old) << row.row;
    EXPECT_EQ(Answers(row.row, Cuda()), row.cuda) << row.row;
    EXPECT_EQ(Answers(row.row, Cpu()), row.cpu) << row.row;
  }
}

TEST(SupportTest, EveryDeviceHasTheSameRowsEachWithAReason) {
  for (const SupportFacts& facts : {Cpu(), Cuda(), StockMps(), PatchedMps(), OldMps()}) {
    const std::vector<SupportRow> rows = SupportRows(facts, AllPassed());
    ASSERT_EQ(rows.size(), std::size(kExpected));
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].name, kExpected[i].row);
      EXPECT_FALSE(rows[i].why.empty()) << rows[i].name;
    }
  }
}

// A renamed test would else be one that was never run.
TEST(SupportTest, NamesTestsThatExist) {
  for (const SupportFacts& facts : {Cpu(), Cuda(), StockMps()}) {
    for (const SupportRow& row : SupportRows(facts, AllPassed()))
      EXPECT_NE(row.tests, Tests::kNotRun) << row.name;
  }
}

TEST(SupportTest, AFailedTestTakesBackWhatItShows) {
  std::vector<TestResult> results = AllPassed();
  Named(results, "StreamAssignment").status = Status::kFailed;
  Named(results, "ThreadBoundary").status = Status::kHung;
  const SupportRow pool = Row("pool", StockMps(), results);
  EXPECT_EQ(pool.millrace, Answer::kNo);
  EXPECT_EQ(pool.tests, Tests::kFailed);
  EXPECT_TRUE(Tried(pool, "StreamAssignment: failed"));
  EXPECT_TRUE(Tried(pool, "ThreadChurn: passed"));
  EXPECT_EQ(Row("nn.Linear", Cpu(), results).libtorch, Answer::kNo);
  EXPECT_TRUE(Tried(Row("boundary", Cpu(), results), "ThreadBoundary: hung"));
  EXPECT_EQ(Row("caches", StockMps(), results).millrace, Answer::kYes);
}

TEST(SupportTest, ATestThatDidNotRunIsNamed) {
  std::vector<TestResult> results = AllPassed();
  std::erase_if(results, [](const TestResult& result) { return result.name == "ThreadBoundary"; });
  const SupportRow linear = Row("nn.Linear", Cpu(), results);
  EXPECT_EQ(linear.libtorch, Answer::kNotTried);
  EXPECT_EQ(linear.tests, Tests::kNotRun);
  EXPECT_TRUE(Tried(linear, "ThreadBoundary: not run"));
}

TEST(SupportTest, TellsWhatTheTestsFound) {
  std::vector<TestResult> results = AllPassed();
  Named(results, "StreamAssignment").findings.figures = {
      {"streams", 31}, {"rounds", 10}, {"refused", 1}};
  Named(results, "ThreadBoundary").findings = {
      .figures = {{"ok", 5}, {"tried", 6}},
      .outcomes = {{"gelu", 2, "ok", "ok"}, {"linear", 2, "ok", "ok"}, {"linear", 8, "crash", ""}},
      .failures = {}};
  EXPECT_TRUE(Tried(Row("pool", Cuda(), results), "StreamAssignment: passed, streams=31"));
  EXPECT_TRUE(
      Tried(Row("nn.Linear", Cuda(), results), "ThreadBoundary: passed, linear 2x ok 8x crash"));
  EXPECT_TRUE(Tried(Row("boundary", Cuda(), results), "ThreadBoundary: passed, ok=5, tried=6"));
}

TEST(SupportTest, TellsWhatWasLookedUpInLibtorch) {
  EXPECT_TRUE(Tried(Row("pool", StockMps()), "getStreamByID is exported"));
  EXPECT_TRUE(Tried(Row("pool", OldMps()), "getStreamByID is not exported"));
  EXPECT_TRUE(Tried(Row("assignment", OldMps()), "setCurrentMPSStream is not exported"));
  EXPECT_TRUE(Tried(Row("caches", StockMps()), "the patch level is 0"));
  EXPECT_TRUE(Tried(Row("caches", PatchedMps()), "the patch level is 1"));
  EXPECT_TRUE(Tried(Row("limiter", StockMps()), "permits: 2 by the policy"));
}

// An operator may choose the mode; without the lock nothing makes up for the shared caches.
TEST(SupportTest, SharedCachesNeedTheEncodeLock) {
  SupportFacts facts = StockMps();
  facts.mode = ForwardMode::kParallel;
  EXPECT_EQ(Answers("caches", facts), "no/no");
}

TEST(SupportTest, TableFitsItsWidthAndIsAligned) {
  SelftestReport report;
  report.results = AllPassed();
  for (const SupportFacts& facts : {Cpu(), Cuda(), StockMps(), PatchedMps(), OldMps()}) {
    report.facts = facts;
    std::istringstream lines(SupportLines(report));
    size_t reasons = 0;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 120u) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
      if (line.starts_with("what ")) reasons = line.find("why, and");
      if (line.empty() || line[0] == ' ' || reasons == 0) continue;
      EXPECT_EQ(line[reasons - 1], ' ') << line;
      EXPECT_NE(line[reasons], ' ') << line;
    }
    EXPECT_GT(reasons, 0u);
  }
}

TEST(SupportTest, WithoutADeviceThereIsNoTable) { EXPECT_EQ(SupportLines(SelftestReport()), ""); }

TEST(SupportTest, EncodersOnTheQueueAreKnownByTheTestAlone) {
  const auto encoders = [](const std::vector<TestResult>& results) {
    const SupportRow row = Row("command buffers", StockMps(), results);
    return std::string(ToString(row.libtorch)) + '/' + std::string(ToString(row.millrace)) + '/' +
           std::string(ToString(row.tests));
  };
  std::vector<TestResult> results = AllPassed();
  EXPECT_EQ(encoders(results), "yes/yes/passed");
  Named(results, "EncodersOnTheQueue").status = Status::kFailed;
  EXPECT_EQ(encoders(results), "no/no/failed");
  EXPECT_EQ(encoders({}), "not tried/yes/not run");
}

}  // namespace
}  // namespace millrace::runtime
