#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "mps_runtime/probe/operator_probe.h"
#include "mps_runtime/selftest/report.h"
#include "mps_runtime/selftest/selftest.h"

namespace millrace::runtime {
namespace {

SelftestSetup setup;

class ConformanceTest : public ::testing::Test {
 public:
  explicit ConformanceTest(const SelftestTest& test) : test_(test) {}
  void TestBody() override {
    Findings findings;
    const TestResult result = RunTest(test_, setup, findings);
    std::fputs(ResultLines(result).c_str(), stdout);
    for (const Figure& figure : result.findings.figures) {
      RecordProperty(figure.name, std::to_string(figure.value));
    }
    for (const std::string& failure : result.findings.failures) ADD_FAILURE() << failure;
  }

 private:
  const SelftestTest& test_;
};

void RegisterTests() {
  for (const SelftestTest& test : SelftestTests()) {
    ::testing::RegisterTest("Conformance", std::string(test.name).c_str(), nullptr, nullptr,
                            __FILE__, __LINE__,
                            [&test]() -> ConformanceTest* { return new ConformanceTest(test); });
  }
}

}  // namespace
}  // namespace millrace::runtime

int main(int argc, char** argv) {
  namespace runtime = millrace::runtime;
  if (const auto status = runtime::OperatorProbeMain(argc, argv)) return *status;
  const char* const name = std::getenv("MILLRACE_DEVICE");
  if (name != nullptr && std::string(name) != "auto") {
    runtime::setup.device = runtime::ParseDeviceType(name);
    if (!runtime::setup.device) {
      std::fprintf(stderr, "MILLRACE_DEVICE = %s: allowed are auto, cpu, cuda and mps\n", name);
      return 2;
    }
  }
  if (const char* const forwards = std::getenv("MILLRACE_MAX_IN_FLIGHT"))
    runtime::setup.max_in_flight = std::atoi(forwards);
  ::testing::InitGoogleTest(&argc, argv);
  runtime::RegisterTests();
  return RUN_ALL_TESTS();
}
