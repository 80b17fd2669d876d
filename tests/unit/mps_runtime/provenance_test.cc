#include "mps_runtime/provenance.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

namespace millrace::runtime {
namespace {

Provenance Loaded(const std::string& version, const std::string& compiled = "2.15.0") {
  Provenance provenance;
  provenance.libtorch_version = version;
  provenance.libtorch_path = "lib/libtorch_cpu.so";
  provenance.compiled_against = compiled;
  return provenance;
}

std::string RefusalOf(const Provenance& provenance, const std::string& required) {
  try {
    CheckLibtorch(provenance, required);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

TEST(ProvenanceTest, DescribesTheLoadedLibrary) {
  const Provenance provenance = ReadLibtorchProvenance();
  EXPECT_EQ(provenance.libtorch_version, provenance.compiled_against);
  EXPECT_TRUE(std::filesystem::exists(provenance.libtorch_path)) << provenance.libtorch_path;
  EXPECT_NE(provenance.libtorch_path.find("libtorch_cpu"), std::string::npos);
  EXPECT_NE(provenance.blas, "");
  EXPECT_NE(provenance.libtorch_git_revision, "");
#ifndef __APPLE__
  EXPECT_EQ(provenance.pool_symbols, "none");
  EXPECT_EQ(provenance.mps_patch_level, 0);
#endif
}

TEST(CheckLibtorchTest, AcceptsWhatItWasCompiledAgainst) {
  for (const char* required : {"", "2", "2.15", "2.15.0"}) {
    EXPECT_EQ(RefusalOf(Loaded("2.15.0"), required), "") << required;
  }
}

TEST(CheckLibtorchTest, RefusesAnotherVersionThanItsHeaders) {
  const std::string message = RefusalOf(Loaded("2.14.1"), "");
  for (const char* part : {"2.14.1", "2.15.0", "lib/libtorch_cpu.so"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

TEST(CheckLibtorchTest, RefusesAnotherVersionThanRequired) {
  for (const char* required : {"2.14", "2.15.1", "2.1", "2.15.", "2.15.0.1"}) {
    EXPECT_NE(RefusalOf(Loaded("2.15.0"), required).find(required), std::string::npos) << required;
  }
}

Provenance Patched(int level, const std::string& pool_symbols) {
  Provenance provenance = Loaded("2.15.0");
  provenance.mps_patch_level = level;
  provenance.pool_symbols = pool_symbols;
  return provenance;
}

TEST(CheckLibtorchTest, AcceptsAPatchedLibraryWithItsStreamPool) {
  EXPECT_EQ(RefusalOf(Patched(1, "getStreamByID"), ""), "");
}

TEST(CheckLibtorchTest, RefusesAPatchLevelThatItDoesNotKnow) {
  for (const int level : {-1, 2, 1'000'000}) {
    EXPECT_EQ(RefusalOf(Patched(level, "getStreamByID"), ""),
              "millrace_mps_patch_level() = " + std::to_string(level) +
                  " in the libtorch from lib/libtorch_cpu.so: allowed is 1");
  }
}

TEST(CheckLibtorchTest, RefusesAPatchLevelWithoutTheStreamPool) {
  for (const char* const pool_symbols : {"none", "getStreamFromPool"}) {
    const std::string message = RefusalOf(Patched(1, pool_symbols), "");
    EXPECT_EQ(message.find("millrace_mps_patch_level() = 1 in the libtorch from "
                           "lib/libtorch_cpu.so: allowed is 1 where there is _ZN2at3mps13getStr"),
              0u)
        << message;
    EXPECT_EQ(RefusalOf(Patched(0, pool_symbols), ""), "");
  }
}

TEST(ProvenanceLogLineTest, TellsThePatchLevel) {
  EXPECT_NE(ToLogLine(Patched(1, "getStreamByID")).find(" mps_pool=getStreamByID mps_patch=1 "),
            std::string::npos);
  EXPECT_NE(ToLogLine(Patched(0, "none")).find(" mps_pool=none mps_patch=0 "), std::string::npos);
}

TEST(ProvenanceLogLineTest, QuotesValuesWithSpaces) {
  Provenance provenance = Loaded("2.15.0");
  provenance.device = "cpu";
  provenance.device_name = "Fast CPU";
  const std::string line = ToLogLine(provenance);
  EXPECT_EQ(line.find("device=cpu device_name=\"Fast CPU\" libtorch=2.15.0 "), 0u) << line;
  EXPECT_NE(line.find(" blas=\"\" "), std::string::npos) << line;
}

}  // namespace
}  // namespace millrace::runtime
