#include "mps_runtime/selftest/selftest.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <latch>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "mps_runtime/selftest/program.h"
#include "mps_runtime/selftest/report.h"

namespace millrace::runtime {
namespace {

using Setup = const SelftestSetup&;
using std::chrono::milliseconds;

constexpr SelftestTest kPasses = {"Passes", "that one can pass", [](Setup, Findings& findings) {
                                    findings.AddFigure("forwards_per_s", 1234.5678);
                                    findings.AddFigure("wrong", 0);
                                    findings.ExpectEqual("wrong", 0, 0u);
                                  }};
constexpr SelftestTest kFails = {"Fails", "that one can fail", [](Setup, Findings& findings) {
                                   findings.AddFigure("wrong", 3);
                                   findings.ExpectEqual("wrong results", 0, 3);
                                 }};
constexpr SelftestTest kThrows = {"Throws", "that one can throw",
                                  [](Setup, Findings&) { throw std::runtime_error("no device"); }};
constexpr SelftestTest kHangs = {"Hangs", "that one can hang", [](Setup, Findings& findings) {
                                   findings.AddFigure("forwards", 7);
                                   findings.Progress("forward 8");
                                   std::latch never(1);
                                   never.wait();
                                 }};
constexpr SelftestTest kCrashes = {"Crashes", "that one can crash", [](Setup, Findings&) {
                                     const rlimit none{0, 0};
                                     setrlimit(RLIMIT_CORE, &none);
                                     std::abort();
                                   }};

// The exit status and the output of a run of the program.
struct Ended {
  int status = -1;
  std::string out;
  std::string err;
};

std::string Contents(std::FILE* file) {
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  return text;
}

Ended RunProgram(const std::vector<SelftestTest>& tests, SelftestProgram program = {}) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::tmpfile(), std::fclose);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> err(std::tmpfile(), std::fclose);
  program.options.device = program.options.device.value_or(DeviceType::kCpu);
  program.tests = tests;
  program.out = out.get();
  program.err = err.get();
  Ended ended;
  ended.status = RunSelftestProgram(program);
  ended.out = Contents(out.get());
  ended.err = Contents(err.get());
  return ended;
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(SelftestProgramTest, TellsWhatPassedAndOnWhat) {
  const Ended ended = RunProgram({kPasses});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(Has(ended.out, "\nok     Passes ")) << ended.out;
  EXPECT_TRUE(Has(ended.out, "forwards_per_s=1235 wrong=0\n")) << ended.out;
  EXPECT_TRUE(Has(ended.out, "\npassed: 1 of 1 tests")) << ended.out;
  for (const char* const part : {"device=cpu", "libtorch=", "path=", "revision=", "mps_pool=",
                                 "mps_patch=0", "os=", "machine=", "millrace 0."}) {
    EXPECT_TRUE(Has(ended.out, part)) << part;
  }
}

TEST(SelftestProgramTest, SaysWhatForwardsAtOnceRestOn) {
  const Ended ended = RunProgram({kPasses});
  EXPECT_TRUE(Has(ended.out,
                  "\nown-stream synchronisation  not applicable  not needed  none     not on "
                  "cpu: an operator has finished"))
      << ended.out;
  EXPECT_TRUE(Has(ended.out, "StreamAssignment: not run\n")) << ended.out;
  const Ended json = RunProgram({kPasses}, {.options = {}, .filter = "", .json = true});
  for (const char* const part :
       {"\"support\": {\n    \"pool\": {\n      \"libtorch\": \"not applicable\",",
        R"("millrace": "yes",)", R"("tests": "not run",)", R"("StreamAssignment: not run",)",
        R"("boundary": {)"}) {
    EXPECT_TRUE(Has(json.out, part)) << part << " is not in " << json.out;
  }
}

TEST(SelftestProgramTest, FailureIsShownWithWhatWasExpected) {
  const Ended ended = RunProgram({kFails, kThrows, kPasses});
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(Has(ended.out, "\nFAILED Fails ")) << ended.out;
  EXPECT_TRUE(Has(ended.out, "  wrong results: expected 0, got 3\n")) << ended.out;
  EXPECT_TRUE(Has(ended.out, "  threw: no device\n")) << ended.out;
  EXPECT_TRUE(Has(ended.out, "\nok     Passes ")) << ended.out;
  EXPECT_TRUE(Has(ended.out, "\nFAILED: 1 of 3 tests")) << ended.out;
  EXPECT_TRUE(Has(ended.out, "not: Fails, Throws\n")) << ended.out;
}

TEST(SelftestProgramTest, JsonHasTheSame) {
  const Ended ended = RunProgram({kFails, kPasses}, {.options = {}, .filter = "", .json = true});
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.out.substr(0, 2), "{\n");
  for (const char* const part :
       {R"("schema_version": 1,)", R"("passed": false,)", R"("device": "cpu",)",
        R"("mps_patch": 0,)", R"("memory_bytes": )", R"("name": "Fails",)",
        R"("result": "failed",)", R"("wrong results: expected 0, got 3")", R"("result": "passed",)",
        R"("forwards_per_s": 1234.568,)", R"("wrong": 0)", R"("not_run": [])"}) {
    EXPECT_TRUE(Has(ended.out, part)) << part << " is not in " << ended.out;
  }
}

TEST(SelftestProgramTest, PassedJsonSaysSo) {
  const Ended ended = RunProgram({kPasses}, {.options = {}, .filter = "", .json = true});
  EXPECT_EQ(ended.status, 0);
  EXPECT_TRUE(Has(ended.out, R"("passed": true,)"));
}

TEST(SelftestProgramTest, RunsWhatTheFilterMatches) {
  const Ended ended = RunProgram({kFails, kPasses}, {.options = {}, .filter = "ass"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_FALSE(Has(ended.out, "Fails"));
}

TEST(SelftestProgramTest, FilterThatMatchesNothingIsWrongUsage) {
  const Ended ended = RunProgram({kFails, kPasses}, {.options = {}, .filter = "Pases"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.err, "--filter Pases: no test has that in its name; there are Fails, Passes\n");
}

TEST(SelftestProgramTest, ListsWithoutRunning) {
  const Ended ended = RunProgram({kCrashes, kPasses}, {.options = {}, .filter = "", .list = true});
  EXPECT_EQ(ended.status, 0);
  EXPECT_TRUE(Has(ended.out, "Crashes")) << ended.out;
  EXPECT_TRUE(Has(ended.out, "that one can pass\n")) << ended.out;
}

TEST(SelftestProgramTest, DeviceThatIsNotThereFailsWithWhatIs) {
  SelftestProgram program;
  program.options.device = DeviceType::kMps;
#ifdef __APPLE__
  program.options.device = DeviceType::kCuda;
#endif
  Ended ended = RunProgram({kPasses}, program);
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(Has(ended.out, "FAILED: no test ran: ")) << ended.out;
  program.json = true;
  ended = RunProgram({kPasses}, program);
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(Has(ended.out, R"("passed": false)"));
  EXPECT_FALSE(Has(ended.out, R"("error": null)"));
  EXPECT_TRUE(Has(ended.out, R"("libtorch_version": ")"));
  EXPECT_TRUE(Has(ended.out, R"("support": null)"));
}

TEST(SelftestProgramTest, RequiredPatchLevelThatIsNotThereFails) {
  SelftestProgram program;
  program.options.require_patch_level = 1;
  Ended ended = RunProgram({kPasses}, program);
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(Has(ended.out, "\nFAILED: no test ran: --require-patch-level 1: the libtorch from /"))
      << ended.out;
  EXPECT_TRUE(ended.out.ends_with(" has patch level 0\n")) << ended.out;
  EXPECT_TRUE(Has(ended.out, "\nlimiter ")) << ended.out;
  EXPECT_FALSE(Has(ended.out, "Passes"));
  program.json = true;
  ended = RunProgram({kPasses}, program);
  EXPECT_EQ(ended.status, 1);
  EXPECT_TRUE(Has(ended.out, R"("error": "--require-patch-level 1: )")) << ended.out;
}

SelftestProgram SoonHung() {
  SelftestProgram program;
  program.options.hang_after = milliseconds(2000);
  program.out = stderr;
  return program;
}

int RunOn(SelftestProgram program, const std::vector<SelftestTest>& tests) {
  program.options.device = DeviceType::kCpu;
  program.tests = tests;
  return RunSelftestProgram(program);
}

TEST(SelftestProgramDeathTest, HungTestIsReportedAndEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      RunOn(SoonHung(), {kPasses, kHangs, kFails}), ::testing::ExitedWithCode(1),
      "ok     Passes(.|\n)*HUNG   Hangs .*forwards=7\n.*no progress for 2000 ms at: forward "
      "8\n(.|\n)*FAILED: 1 of 3 tests.*not: Hangs; not run: 1");
}

TEST(SelftestProgramDeathTest, HungTestIsInTheJson) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  SelftestProgram program = SoonHung();
  program.json = true;
  EXPECT_EXIT(RunOn(program, {kHangs, kPasses}), ::testing::ExitedWithCode(1),
              "\"passed\": false,(.|\n)*\"name\": \"Hangs\",(.|\n)*\"result\": "
              "\"hung\",(.|\n)*\"not_run\": (.|\n)*\"Passes\"");
}

TEST(SelftestProgramDeathTest, LongTestTellsItsProgress) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  SelftestProgram program = SoonHung();
  program.options.progress_every = milliseconds(50);
  EXPECT_EXIT(RunOn(program, {kHangs}), ::testing::ExitedWithCode(1),
              "... Hangs, 0 s: forward 8\n");
}

TEST(SelftestProgramDeathTest, CrashNamesTheTest) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(RunOn(SelftestProgram{}, {kPasses, kCrashes}), ::testing::KilledBySignal(SIGABRT),
#ifdef MILLRACE_SANITIZED
              ""
#else
              "millrace selftest: crashed in Crashes\n"
#endif
  );
}

TEST(FindingsTest, ComparisonsFailWithBothValues) {
  Findings findings;
  findings.ExpectEqual("a", -1, 4294967295u);
  findings.ExpectEqual("b", "ok", "crash (SIGSEGV)");
  findings.ExpectAtMost("c", 2, 3u);
  findings.ExpectAbove("d", 1.2, 1.2);
  findings.ExpectAbove("e", 0, std::numeric_limits<double>::quiet_NaN());
  findings.ExpectEqual("f", 3, 3u);
  findings.ExpectAtMost("g", 3, 3);
  findings.ExpectAbove("h", 1, 2);
  EXPECT_EQ(findings.contents().failures,
            (std::vector<std::string>{
                "a: expected -1, got 4294967295", "b: expected ok, got crash (SIGSEGV)",
                "c: expected at most 2, got 3", "d: expected more than 1.2, got 1.2",
                "e: expected more than 0, got nan"}));
}

TEST(ReportTest, OutcomesAreATableAndAnArray) {
  SelftestReport report;
  report.results.push_back({.name = "Boundary",
                            .status = TestResult::Status::kPassed,
                            .seconds = 1,
                            .findings = {.figures = {},
                                         .outcomes = {{"linear", 2, "ok", "ok"},
                                                      {"linear", 8, "crash", "crash (\xff)"},
                                                      {"gelu", 2, "hang", "hang"}},
                                         .failures = {}}});
  const std::string lines = ResultLines(report.results[0]);
  EXPECT_TRUE(Has(lines, "linear       2x ok 8x crash\n        gelu         2x hang\n")) << lines;
  const std::string json = ToJson(report);
  EXPECT_TRUE(Has(json, R"("threads": 8,)")) << json;
  EXPECT_TRUE(Has(json, "crash (\xEF\xBF\xBD)")) << json;
}

TEST(SelftestTestsTest, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const SelftestTest& test : SelftestTests()) EXPECT_TRUE(names.insert(test.name).second);
  EXPECT_EQ(names.size(), SelftestTests().size());
}

}  // namespace
}  // namespace millrace::runtime
