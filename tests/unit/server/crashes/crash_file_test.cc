#include "server/crashes/crash_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "server/crashes/crash_folder.h"

namespace millrace::server {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class CrashFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "crashes.XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::vector<std::filesystem::path> Files() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
  }

  // Writes the page as a report and reads it.
  Json Report(const CrashPage& page) {
    EXPECT_EQ(WriteCrashFile(folder_.string(), facts_, page), 0);
    const auto files = Files();
    EXPECT_THAT(files, SizeIs(1));
    EXPECT_LE(std::filesystem::file_size(files[0]), kMostCrashFileBytes);
    return Json::parse(std::ifstream(files[0]));
  }

  static TimePoint At(int milliseconds) {
    return TimePoint(std::chrono::milliseconds(1'000'000 + milliseconds));
  }

  std::filesystem::path folder_;
  CrashFacts facts_{.id = "executor-7",
                    .process = "executor",
                    .pid = 7,
                    .cause = "crash",
                    .how = "signal SIGSEGV",
                    .version = "1.2",
                    .unix_ms = 1'700'000'000'123,
                    .record_ns = ToRecordTime(At(100))};
};

TEST_F(CrashFileTest, TellsTheLastStepsOfEachStreamAndWhichRan) {
  auto page = std::make_unique<CrashPage>();
  FlightRecorder recorder(page->flight);
  models::SynthesizeInput speech;
  speech.text = "secret words";
  models::InferInput tensors;
  tensors.inputs.push_back({.name = "X", .shape = {2, 3}, .data = std::string(24, 'x')});
  for (int i = 0; i < 6; ++i) {
    recorder.Begin(0, "voice", At(i * 10));
    recorder.AddRequest(0, static_cast<uint64_t>(i) + 1, speech);
    recorder.End(0, At(i * 10 + 5));
  }
  recorder.Begin(1, "null", At(90));
  for (int i = 0; i < 10; ++i) recorder.AddRequest(1, 20 + static_cast<uint64_t>(i), tensors);
  recorder.Begin(99, "beyond", At(90));
  recorder.AddRequest(99, 1, speech);
  recorder.End(99, At(91));

  const Json report = Report(*page);
  EXPECT_EQ(Files()[0].filename(), "crash-1700000000123-7.json");
  EXPECT_EQ(report["id"], "executor-7");
  EXPECT_EQ(report["cause"], "crash");
  EXPECT_FALSE(report.contains("stack"));
  const Json& steps = report["steps"];
  ASSERT_THAT(steps, SizeIs(FlightRecord::kSteps + 1));
  EXPECT_EQ(steps[0], Json::parse(R"({"stream": 1, "model": "voice", "begun_ms_ago": 50.0,
      "took_ms": 5.0, "requests": 1, "described": [{"id": 6, "bytes": 12}]})"));
  EXPECT_EQ(steps[3]["described"][0]["id"], 3);
  EXPECT_EQ(steps[4]["running"], true);
  EXPECT_EQ(steps[4]["begun_ms_ago"], 10.0);
  EXPECT_EQ(steps[4]["requests"], 10);
  ASSERT_THAT(steps[4]["described"], SizeIs(FlightRecord::kRequests));
  EXPECT_EQ(steps[4]["described"][1], Json::parse(R"({"id": 21, "bytes": 24, "shape": [2, 3]})"));
  EXPECT_THAT(report.dump(), ::testing::Not(HasSubstr("secret")));
}

[[gnu::noinline]] void CrashHere(CrashPage& page) {
  RecordCrash(SIGSEGV, reinterpret_cast<void*>(16), page.crash);
  asm volatile("");  // it is no tail call
}

TEST_F(CrashFileTest, TellsTheSignalAndTheStack) {
  PrepareToRecordCrash();
  auto page = std::make_unique<CrashPage>();
  CrashHere(*page);
  const Json report = Report(*page);
  EXPECT_EQ(report["signal"], "SIGSEGV");
  EXPECT_EQ(report["address"], "0x10");
  EXPECT_GT(report["thread"], 0);
  std::string symbols;
  for (const Json& frame : report["stack"]) symbols += frame.value("symbol", "") + "\n";
  EXPECT_THAT(symbols, HasSubstr("CrashHere"));
}

TEST_F(CrashFileTest, IsValidWhateverTheProcessHasScribbled) {
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    auto page = std::make_unique<CrashPage>();
    std::vector<unsigned char> bytes(sizeof(CrashPage));
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    if (i == 0) std::ranges::fill(bytes, 0xff);
    std::memcpy(page.get(), bytes.data(), bytes.size());
    EXPECT_TRUE(Report(*page).is_object());
  }
}

TEST_F(CrashFileTest, IsReadFromAFileThatWasTruncated) {
  auto file = MakeCrashPageFile();
  ASSERT_TRUE(file.ok());
  {
    auto mapped = MapCrashPage(file->get());
    ASSERT_TRUE(mapped.ok());
    FlightRecorder((*mapped)->flight).Begin(0, "voice", At(0));
  }
  EXPECT_EQ(ReadCrashPage(file->get())->flight.lanes[0].steps, 1U);
  ASSERT_EQ(ftruncate(file->get(), 0), 0);
  EXPECT_EQ(ReadCrashPage(file->get())->flight.lanes[0].steps, 0U);
}

TEST_F(CrashFileTest, APageWithoutRoomIsTheExecutorsOwn) {
  auto file = MakeCrashPageFile();
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(ftruncate(file->get(), 0), 0);
  {
    auto mapped = MapCrashPage(file->get());
    ASSERT_TRUE(mapped.ok());
    FlightRecorder((*mapped)->flight).Begin(0, "voice", At(0));
    EXPECT_EQ((*mapped)->flight.lanes[0].steps, 1U);
  }
  EXPECT_EQ(ReadCrashPage(file->get())->flight.lanes[0].steps, 0U);
}

TEST_F(CrashFileTest, IsNotThereIfItCouldNotBeWrittenWhole) {
  const CrashPage page = {};
  EXPECT_EQ(WriteCrashFile((folder_ / "none").string(), facts_, page), ENOENT);
  EXPECT_EQ(WriteCrashFile(std::string(5000, 'x'), facts_, page), ENAMETOOLONG);
  EXPECT_THAT(Files(), SizeIs(0));
}

TEST_F(CrashFileTest, TheNewestAreKept) {
  const CrashPage page = {};
  CrashFolder crashes(folder_);
  ASSERT_TRUE(crashes.Open().ok());
  std::ofstream(folder_ / "notes.txt") << "of the operator";
  for (size_t i = 0; i < CrashFolder::kMostReports + 5; ++i) {
    ++facts_.unix_ms;
    crashes.Write(facts_, page);
  }
  const auto files = Files();
  EXPECT_THAT(files, SizeIs(CrashFolder::kMostReports + 1));
  EXPECT_EQ(files[0].filename(), "crash-1700000000129-7.json");
}

TEST_F(CrashFileTest, AFolderThatCannotBeWrittenIsNamed) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_THAT(std::string(CrashFolder(folder_ / "file").Open().message()),
              HasSubstr("file' cannot be written: "));
  EXPECT_THAT(std::string(CrashFolder("/proc/none").Open().message()),
              HasSubstr("--crash-directory: '/proc/none' cannot be written: "));
  EXPECT_TRUE(CrashFolder(folder_ / "new" / "deep").Open().ok());
}

}  // namespace
}  // namespace millrace::server
