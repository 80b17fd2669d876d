#include "mps_runtime/calibration/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/fakes/temporary_folder.h"

namespace millrace::runtime {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const CalibrationItem kOperator{.name = "linear"};
const CalibrationItem kModel{.name = "linear", .version = 3, .sha256 = std::string(64, 'a')};
constexpr RunCounts kTwo{.threads = 2, .ok = 4, .crash = 1};
constexpr RunCounts kThree{.threads = 3, .hang = 1};

CalibrationJournal::Conditions Here() {
  return {.key = {.backend = "cpu",
                  .device_name = "it's \"odd\"\n",
                  .os = "Linux",
                  .os_release = "6.1",
                  .machine = "x86_64",
                  .libtorch_version = "2.15.0",
                  .libtorch_git_revision = "abc"},
          .repeats = 5,
          .watchdog = std::chrono::seconds(9)};
}

class CalibrationJournalTest : public ::testing::Test {
 protected:
  std::string Text() const {
    std::stringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }
  void SetText(const std::string& text) { std::ofstream(file_, std::ios::trunc) << text; }
  // A journal with two cells.
  std::string Begun() {
    CalibrationJournal journal(file_, Here());
    journal.Append(kOperator, kTwo);
    journal.Append(kModel, kThree);
    return Text();
  }

  const testing::TemporaryFolder folder_;
  const fs::path file_ = folder_.path() / "p.json.partial";
};

TEST_F(CalibrationJournalTest, KeepsCells) {
  Begun();
  CalibrationJournal journal(file_, Here());
  EXPECT_EQ(journal.resumed(), 2U);
  EXPECT_THAT(journal.dropped(), IsEmpty());
  ASSERT_NE(journal.Find(kOperator, 2), nullptr);
  EXPECT_EQ(*journal.Find(kOperator, 2), kTwo);
  EXPECT_EQ(*journal.Find(kModel, 3), kThree);
  EXPECT_EQ(journal.Find(kOperator, 3), nullptr);
  EXPECT_EQ(journal.Find(kModel, 2), nullptr);
  CalibrationItem changed = kModel;
  changed.sha256[0] = 'b';
  EXPECT_EQ(journal.Find(changed, 3), nullptr);
}

// Wherever the power went: what was whole is kept, and the next line does not join the torn one.
TEST_F(CalibrationJournalTest, TornLastLineIsIgnored) {
  const std::string whole = Begun();
  const size_t second = whole.rfind('\n', whole.size() - 2) + 1;
  for (size_t size = second; size < whole.size(); ++size) {
    SetText(whole.substr(0, size));
    {
      CalibrationJournal journal(file_, Here());
      EXPECT_EQ(journal.resumed(), 1U) << size;
      EXPECT_EQ(journal.Find(kModel, 3), nullptr);
      journal.Append(kModel, kThree);
    }
    EXPECT_EQ(Text(), whole);
  }
}

TEST_F(CalibrationJournalTest, TornFirstLineBeginsAnew) {
  const std::string whole = Begun();
  SetText(whole.substr(0, whole.find('\n')));
  CalibrationJournal journal(file_, Here());
  EXPECT_EQ(journal.resumed(), 0U);
  journal.Append(kOperator, kTwo);
  journal.Append(kModel, kThree);
  EXPECT_EQ(Text(), whole);
}

TEST_F(CalibrationJournalTest, BrokenLineDropsWhatFollows) {
  const std::string whole = Begun();
  const std::string header = whole.substr(0, whole.find('\n') + 1);
  for (const char* bad :
       {"nonsense\n", "{}\n", "\n", "[1]\n", "{\"name\":\"x\",\"threads\":1}\n",
        R"({"name":"x","threads":0,"ok":1,"wrong":0,"error":0,"crash":0,"hang":0})"
        "\n",
        R"({"name":"x","threads":1,"ok":1e9,"wrong":0,"error":0,"crash":0,"hang":0})"
        "\n",
        R"({"name":7,"threads":1,"ok":1,"wrong":0,"error":0,"crash":0,"hang":0})"
        "\n"}) {
    SetText(header + bad + whole.substr(header.size()));
    CalibrationJournal journal(file_, Here());
    EXPECT_EQ(journal.resumed(), 0U) << bad;
    EXPECT_THAT(journal.dropped(), HasSubstr("is broken")) << bad;
    EXPECT_EQ(Text(), header);
  }
}

TEST_F(CalibrationJournalTest, OtherConditionsBeginAnew) {
  auto other_device = Here();
  other_device.key.device_name = "another";
  auto other_repeats = Here();
  other_repeats.repeats = 6;
  auto other_watchdog = Here();
  other_watchdog.watchdog = std::chrono::seconds(8);
  for (const auto& other : {other_device, other_repeats, other_watchdog}) {
    Begun();
    CalibrationJournal journal(file_, other);
    EXPECT_EQ(journal.resumed(), 0U);
    EXPECT_THAT(journal.dropped(), HasSubstr("measured otherwise"));
    EXPECT_EQ(journal.Find(kOperator, 2), nullptr);
    journal.Remove();
  }
}

TEST_F(CalibrationJournalTest, OneCalibrationAtATime) {
  CalibrationJournal journal(file_, Here());
  EXPECT_THROW(CalibrationJournal(file_, Here()), SafetyProfileError);
}

TEST_F(CalibrationJournalTest, WhatIsNoFileIsRefused) {
  EXPECT_THROW(CalibrationJournal(folder_.path(), Here()), SafetyProfileError);
  EXPECT_THROW(CalibrationJournal("/nonexistent/p", Here()), SafetyProfileError);
  EXPECT_THROW(CalibrationJournal("/dev/full", Here()), SafetyProfileError);
}

TEST_F(CalibrationJournalTest, FullDiskIsSaidAndKeepsWhatIsDone) {
  const std::string whole = Begun();
  std::string message;
  {
    CalibrationJournal journal(file_, Here());
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = whole.size() + 10, .rlim_max = before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    try {
      journal.Append(kOperator, kThree);
    } catch (const SafetyProfileError& error) {
      message = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
  }
  EXPECT_THAT(message, HasSubstr(file_.string() + ": cannot be written: "));
  EXPECT_EQ(CalibrationJournal(file_, Here()).resumed(), 2U);
}

TEST_F(CalibrationJournalTest, IsGoneAtTheEnd) {
  CalibrationJournal journal(file_, Here());
  journal.Remove();
  EXPECT_FALSE(fs::exists(file_));
}

}  // namespace
}  // namespace millrace::runtime
