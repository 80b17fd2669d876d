#include "models/text/english/cached_fallback.h"

#include <gtest/gtest.h>

#include "tests/fakes/at_once.h"

namespace millrace::models {
namespace {

using List = std::vector<std::string>;

// Says "<word>", and remembers what it was asked.
class CountingFallback final : public WordFallback {
 public:
  absl::StatusOr<List> Phonemize(std::span<const std::string> words) const override {
    MutexLock lock(mu_);
    if (fails_) return absl::UnavailableError("not now");
    List answers;
    for (const std::string& word : words) {
      asked_.push_back(word);
      answers.push_back("<" + word + ">");
    }
    return answers;
  }
  void Fail(bool fails) {
    MutexLock lock(mu_);
    fails_ = fails;
  }
  List Asked() const {
    MutexLock lock(mu_);
    return asked_;
  }

 private:
  mutable Mutex mu_;
  bool fails_ MILLRACE_GUARDED_BY(mu_) = false;
  mutable List asked_ MILLRACE_GUARDED_BY(mu_);
};

List Say(const CachedFallback& cache, const List& words) {
  auto answers = cache.Phonemize(words);
  return answers.ok() ? *answers : List{answers.status().ToString()};
}

TEST(CachedFallbackTest, AsksForEveryWordOnce) {
  const auto fallback = std::make_shared<CountingFallback>();
  const CachedFallback cache(fallback);
  EXPECT_EQ(Say(cache, {"a", "b"}), (List{"<a>", "<b>"}));
  EXPECT_EQ(Say(cache, {"b", "c", "a"}), (List{"<b>", "<c>", "<a>"}));
  EXPECT_EQ(Say(cache, {}), List{});
  EXPECT_EQ(fallback->Asked(), (List{"a", "b", "c"}));
}

TEST(CachedFallbackTest, ForgetsWhatWasNotUsedForLongest) {
  const auto fallback = std::make_shared<CountingFallback>();
  const CachedFallback cache(fallback, 2);
  Say(cache, {"a", "b"});
  Say(cache, {"a"});
  Say(cache, {"c"});  // instead of b
  Say(cache, {"a", "c"});
  EXPECT_EQ(fallback->Asked(), (List{"a", "b", "c"}));
  Say(cache, {"b"});
  EXPECT_EQ(fallback->Asked(), (List{"a", "b", "c", "b"}));
}

TEST(CachedFallbackTest, ErrorsAreNotRemembered) {
  const auto fallback = std::make_shared<CountingFallback>();
  const CachedFallback cache(fallback);
  fallback->Fail(true);
  EXPECT_EQ(Say(cache, {"a"}), List{"UNAVAILABLE: not now"});
  fallback->Fail(false);
  EXPECT_EQ(Say(cache, {"a"}), List{"<a>"});
}

TEST(CachedFallbackTest, ThreadsGetTheirOwnAnswers) {
  const CachedFallback cache(std::make_shared<CountingFallback>(), 5);
  constexpr int kThreads = 4;
  testing::AtOnce(kThreads, [&](int t) {
    for (int i = 0; i < 500; ++i) {
      const std::string word = std::to_string((i * (t + 1)) % 11);
      EXPECT_EQ(Say(cache, {word, "x"}), (List{"<" + word + ">", "<x>"}));
    }
  });
}

}  // namespace
}  // namespace millrace::models
