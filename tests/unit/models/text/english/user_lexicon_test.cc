#include "models/text/english/user_lexicon.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "fakes/fake_clock.h"
#include "fakes/temporary_folder.h"
#include "tiny_lexicon.h"

namespace millrace::models {
namespace {

using testing::FakeClock;
using testing::TemporaryFolder;
using testing::WriteFile;

std::string ErrorOf(std::string_view text) {
  const std::vector<std::string> symbols = {"k", "æ", "t", "ˈ"};
  const auto words = ParseUserLexicon(text, "words.tsv", PhonemeVocabulary(symbols));
  return words.ok() ? "" : std::string(words.status().message());
}

TEST(UserLexiconTest, ReadsWordsCommentsAndEmptyLines) {
  const auto words =
      ParseUserLexicon("\xEF\xBB\xBF# names\n\nKat\tkˈæt\r\n  tak \t tˈæk \nlast\tt", "f", {});
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_EQ(*words, (UserLexicon::Words{{"Kat", "kˈæt"}, {"tak", "tˈæk"}, {"last", "t"}}));
}

TEST(UserLexiconTest, SmallLettersHoldForEveryCase) {
  const UserLexicon::Words words = {{"cat", "k"}, {"Polish", "p"}};
  EXPECT_EQ(FindUserWord(words, "CAT"), "k");
  EXPECT_EQ(FindUserWord(words, "Polish"), "p");
  EXPECT_EQ(FindUserWord(words, "polish"), std::nullopt);
}

TEST(UserLexiconTest, ErrorsNameFileAndLine) {
  EXPECT_EQ(ErrorOf("kat\tkˈæt\nbad line"),
            "words.tsv:2: no tab between the word and its phonemes");
  EXPECT_EQ(ErrorOf("\n\tkæt"), "words.tsv:2: no word before the tab");
  EXPECT_EQ(ErrorOf("kat\t"), "words.tsv:1: no phonemes for 'kat'");
  EXPECT_EQ(ErrorOf("kat\tkat"), "words.tsv:1: the symbol 'a', which the voice does not know");
  EXPECT_EQ(ErrorOf("kat\tk\n#\nkat\tt"), "words.tsv:3: 'kat' stands there twice");
  EXPECT_EQ(ErrorOf("two words\tk"), "words.tsv:1: 'two words' is more than one word");
  EXPECT_EQ(ErrorOf("k\xff\tk"), "words.tsv:1: not UTF-8");
  EXPECT_EQ(ErrorOf("k\tk\tt"), "words.tsv:1: more than one tab");
}

class UserLexiconFileTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<UserLexicon>> Open() {
    UserLexicon::Options options;
    options.path = path_;
    options.clock = &clock_;
    options.report = [this](const absl::Status& status) {
      MutexLock lock(mu_);
      reports_.push_back(status.ToString());
      reported_.NotifyAll();
    };
    return UserLexicon::Open(std::move(options));
  }

  // Moves the clock until there are so many reports; the watching thread may not wait yet.
  std::string ReportNumber(size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    MutexLock lock(mu_);
    while (reports_.size() < count && std::chrono::steady_clock::now() < deadline) {
      clock_.Advance(std::chrono::seconds(2));
      reported_.WaitUntil(mu_, std::chrono::steady_clock::now() + std::chrono::milliseconds(5));
    }
    return reports_.size() < count ? "none" : reports_[count - 1];
  }
  size_t Reports() {
    MutexLock lock(mu_);
    return reports_.size();
  }

  // A new file under the old name, as editors write it: never half of it.
  void Replace(const std::string& text) {
    WriteFile(folder_.path() / "new", text);
    std::filesystem::rename(folder_.path() / "new", path_);
  }

  TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "words.tsv";
  FakeClock clock_;
  Mutex mu_;
  CondVar reported_;
  std::vector<std::string> reports_ MILLRACE_GUARDED_BY(mu_);
};

TEST_F(UserLexiconFileTest, AChangedFileIsReadAgain) {
  WriteFile(path_, "cat\tk");
  const auto lexicon = Open();
  ASSERT_TRUE(lexicon.ok()) << lexicon.status();
  const auto before = (*lexicon)->Current();
  EXPECT_EQ(*before, (UserLexicon::Words{{"cat", "k"}}));
  Replace("cat\tt\ndog\td");
  EXPECT_EQ(ReportNumber(1), "OK");
  EXPECT_EQ(*(*lexicon)->Current(), (UserLexicon::Words{{"cat", "t"}, {"dog", "d"}}));
  EXPECT_EQ(before->size(), 1U);
}

TEST_F(UserLexiconFileTest, ABrokenFileKeepsTheOldWordsAndIsReportedOnce) {
  WriteFile(path_, "cat\tk");
  const auto lexicon = Open();
  ASSERT_TRUE(lexicon.ok()) << lexicon.status();
  Replace("no tab in this line");
  EXPECT_NE(ReportNumber(1).find("words.tsv:1: no tab"), std::string::npos);
  EXPECT_EQ(FindUserWord(*(*lexicon)->Current(), "cat"), "k");
  // The next report is that of the next change, however often it looked in between.
  for (int i = 0; i < 20; ++i) clock_.Advance(std::chrono::seconds(2));
  Replace("cat\tok now");
  EXPECT_EQ(ReportNumber(2), "OK");
  EXPECT_EQ(Reports(), 2U);
  std::filesystem::remove(path_);
  EXPECT_NE(ReportNumber(3).find("NOT_FOUND"), std::string::npos);
  EXPECT_EQ(FindUserWord(*(*lexicon)->Current(), "cat"), "ok now");
}

TEST_F(UserLexiconFileTest, ReadersNeverSeeHalfAFile) {
  WriteFile(path_, "cat\tk");
  const auto lexicon = Open();
  ASSERT_TRUE(lexicon.ok()) << lexicon.status();
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const auto words = (*lexicon)->Current();
        EXPECT_TRUE(FindUserWord(*words, "cat").has_value());
      }
    });
  }
  for (size_t i = 1; i <= 5; ++i) {
    Replace("cat\t" + std::string(i + 1, 'k'));
    EXPECT_EQ(ReportNumber(i), "OK");
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

TEST_F(UserLexiconFileTest, AMissingOrWrongFileIsRefusedAtTheStart) {
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kNotFound);
  WriteFile(path_, "x");
  EXPECT_EQ(Open().status().code(), absl::StatusCode::kInvalidArgument);
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_FALSE(Open().ok());
}

}  // namespace
}  // namespace millrace::models
