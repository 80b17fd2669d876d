#include "models/translation/search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace millrace::translation {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Tokens: 0 ends, 1 starts, the others are text.
constexpr int32_t kEnd = 0;
constexpr int32_t kStart = 1;
constexpr int32_t kA = 2;
constexpr int32_t kB = 3;
constexpr int32_t kC = 4;
constexpr int64_t kTokens = 5;

using Tokens = std::vector<int32_t>;
using Scores = std::vector<float>;

// Probabilities of the next token by what was written; what is not named is as unlikely as can be.
class Network {
 public:
  using Chances = std::map<int32_t, float>;

  explicit Network(std::map<Tokens, Chances> chances) : chances_(std::move(chances)) {}

  Scores Logits(const Tokens& written) const {
    Scores scores(kTokens, std::log(1e-6F));
    const auto found = chances_.find(written);
    if (found == chances_.end()) {
      scores[kEnd] = 0;
      return scores;
    }
    for (const auto& [token, chance] : found->second)
      scores[static_cast<size_t>(token)] = std::log(chance);
    return scores;
  }

 private:
  std::map<Tokens, Chances> chances_;
};

using LogitsFunction = std::function<Scores(const Tokens&)>;

// Plays the network for a search. Also the number of steps.
std::pair<std::vector<Hypothesis>, int> Play(Search& search, const LogitsFunction& logits) {
  constexpr int64_t kStride = kTokens + 3;
  std::vector<Tokens> written = {{}};
  int steps = 0;
  while (!search.rows().empty()) {
    Scores all;
    for (const Tokens& tokens : written) {
      Scores scores = logits(tokens);
      scores.resize(kStride, 1e9F);  // the bytes between rows are not looked at
      all.insert(all.end(), scores.begin(), scores.end());
    }
    search.Advance(all.data(), kStride);
    ++steps;
    std::vector<Tokens> next;
    for (const Search::Row& row : search.rows()) {
      next.push_back(written.at(static_cast<size_t>(row.parent)));
      next.back().push_back(row.token);
    }
    written = std::move(next);
  }
  return {search.Found(), steps};
}

SearchTask Task(size_t max_tokens = 8) {
  SearchTask task;
  task.tokens = kTokens;
  task.start = kStart;
  task.end = kEnd;
  task.max_tokens = max_tokens;
  return task;
}

std::vector<Hypothesis> Find(const SearchOptions& options, const SearchTask& task,
                             const LogitsFunction& logits) {
  return Play(*MakeSearch(options, task), logits).first;
}

std::vector<Tokens> TokensOf(const std::vector<Hypothesis>& found) {
  std::vector<Tokens> tokens;
  for (const Hypothesis& hypothesis : found) tokens.push_back(hypothesis.tokens);
  return tokens;
}

SearchOptions Beam(int size, int hypotheses = 1) {
  SearchOptions options;
  options.beam_size = size;
  options.hypotheses = hypotheses;
  return options;
}

// Always the same chances.
LogitsFunction Always(Network::Chances chances) {
  return [chances = std::move(chances)](const Tokens& written) {
    return Network({{written, chances}}).Logits(written);
  };
}

// The likeliest first token leads nowhere.
LogitsFunction GardenPath() {
  const Network network({{{}, {{kA, 0.6F}, {kB, 0.4F}}},
                         {{kA}, {{kA, 0.3F}, {kB, 0.3F}, {kC, 0.4F}}},
                         {{kB}, {{kC, 0.95F}, {kA, 0.05F}}}});
  return [network](const Tokens& written) { return network.Logits(written); };
}

TEST(SearchTest, GreedyTakesTheLikeliestTokenUntilTheEnd) {
  EXPECT_THAT(TokensOf(Find({}, Task(), GardenPath())), ElementsAre(Tokens{kA, kC}));
}

TEST(SearchTest, TheFirstOfEqualsWins) {
  EXPECT_THAT(TokensOf(Find({}, Task(2), Always({{kC, 0.5F}, {kB, 0.5F}}))),
              ElementsAre(Tokens{kB, kB}));
}

TEST(SearchTest, ATranslationIsCutAtItsGreatestLength) {
  for (const int beam : {1, 3}) {
    const auto found = Find(Beam(beam), Task(4), Always({{kA, 0.9F}, {kB, 0.1F}}));
    EXPECT_THAT(TokensOf(found), ElementsAre(Tokens{kA, kA, kA, kA}));
  }
}

TEST(SearchTest, AForcedEndTakesTheLastPlace) {
  SearchTask task = Task(4);
  task.forced_end = true;
  for (const int beam : {1, 3}) {
    const auto found = Find(Beam(beam), task, Always({{kA, 0.9F}, {kB, 0.1F}}));
    EXPECT_THAT(TokensOf(found), ElementsAre(Tokens{kA, kA, kA}));
  }
}

TEST(SearchTest, SuppressedTokensNeverCome) {
  SearchTask task = Task(2);
  task.suppressed = {kA};
  for (const int beam : {1, 2}) {
    const auto found = Find(Beam(beam), task, Always({{kA, 0.9F}, {kB, 0.1F}}));
    EXPECT_THAT(TokensOf(found), ElementsAre(Tokens{kB, kB}));
  }
}

TEST(SearchTest, TheEndWaitsForTheFewestTokens) {
  SearchTask task = Task();
  task.min_tokens = 3;
  for (const int beam : {1, 2}) {
    const auto found = Find(Beam(beam), task, Always({{kEnd, 0.9F}, {kB, 0.1F}}));
    EXPECT_THAT(found.front().tokens, SizeIs(3));
  }
}

TEST(SearchTest, EachHypothesisBeginsWithThePrefixWhichCostsNothing) {
  SearchTask task = Task();
  task.prefix = {kC, kB};
  const LogitsFunction logits = Always({{kEnd, 0.5F}, {kA, 0.5F}});
  EXPECT_EQ(Find({}, task, logits).front().tokens, (Tokens{kC, kB}));
  const auto found = Find(Beam(2, 2), task, logits);
  for (const Hypothesis& hypothesis : found) {
    ASSERT_GE(hypothesis.tokens.size(), 2u);
    EXPECT_EQ(Tokens(hypothesis.tokens.begin(), hypothesis.tokens.begin() + 2), task.prefix);
  }
  // The prefix counts as tokens: the logarithm of one chance over three.
  Hypothesis shortest = found[0].tokens.size() < found[1].tokens.size() ? found[0] : found[1];
  EXPECT_NEAR(shortest.score, std::log(0.5F) / 3, 1e-4F);
}

TEST(SearchTest, NoSequenceOfTokensComesTwice) {
  SearchOptions options;
  options.no_repeat_ngram_size = 2;
  // A A may come once: then A must be followed by something else.
  EXPECT_THAT(TokensOf(Find(options, Task(5), Always({{kA, 0.9F}, {kB, 0.09F}, {kC, 0.01F}}))),
              ElementsAre(Tokens{kA, kA, kB, kA, kC}));
  options.no_repeat_ngram_size = 1;
  EXPECT_THAT(TokensOf(Find(options, Task(3), Always({{kA, 0.9F}, {kB, 0.09F}, {kC, 0.01F}}))),
              ElementsAre(Tokens{kA, kB, kC}));
}

TEST(SearchTest, RepeatedTokensAreLessLikely) {
  SearchOptions options;
  options.repetition_penalty = 2;
  const auto logits = [](const Tokens&) { return Scores{-9, -9, 3, 2, -1}; };
  EXPECT_THAT(TokensOf(Find(options, Task(3), logits)), ElementsAre(Tokens{kA, kB, kA}));
  const auto negative = [](const Tokens&) { return Scores{-9, -9, -2, -3, -9}; };
  EXPECT_THAT(TokensOf(Find(options, Task(2), negative)), ElementsAre(Tokens{kA, kB}));
}

TEST(SearchTest, ABeamFindsWhatGreedyMisses) {
  const auto found = Find(Beam(2), Task(), GardenPath());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].tokens, (Tokens{kB, kC}));
  EXPECT_NEAR(found[0].score, std::log(0.4F * 0.95F) / 3, 1e-4F);
}

TEST(SearchTest, HypothesesComeBestFirst) {
  const auto found = Find(Beam(4, 3), Task(), GardenPath());
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].tokens, (Tokens{kB, kC}));
  EXPECT_EQ(found[1].tokens, (Tokens{kA, kC}));
  EXPECT_GE(found[0].score, found[1].score);
  EXPECT_GE(found[1].score, found[2].score);
}

TEST(SearchTest, TheLengthPenaltyWeighsShortAgainstLong) {
  // The end at once, or three sure tokens after an unlikely one.
  const Network network({{{}, {{kEnd, 0.6F}, {kA, 0.4F}}},
                         {{kA}, {{kA, 1.0F}}},
                         {{kA, kA}, {{kA, 1.0F}}},
                         {{kA, kA, kA}, {{kEnd, 1.0F}}}});
  const auto logits = [&](const Tokens& written) { return network.Logits(written); };
  SearchOptions options = Beam(2);
  options.length_penalty = 0;
  EXPECT_EQ(Find(options, Task(), logits).front().tokens, Tokens{});
  options.length_penalty = 1;
  EXPECT_EQ(Find(options, Task(), logits).front().tokens, (Tokens{kA, kA, kA}));
}

TEST(SearchTest, StopsAsEarlyAsItIsTold) {
  // Ends come at once and are likely; the rest gets better with its length.
  const auto logits = Always({{kEnd, 0.3F}, {kA, 0.7F}});
  SearchOptions options = Beam(2);
  std::map<EarlyStopping, int> steps;
  for (const auto early : {EarlyStopping::kAtBeams, EarlyStopping::kNo, EarlyStopping::kNever}) {
    options.early_stopping = early;
    steps[early] = Play(*MakeSearch(options, Task(20)), logits).second;
  }
  EXPECT_EQ(steps[EarlyStopping::kAtBeams], 2);
  EXPECT_GT(steps[EarlyStopping::kNo], steps[EarlyStopping::kAtBeams]);
  EXPECT_GE(steps[EarlyStopping::kNever], steps[EarlyStopping::kNo]);
}

TEST(SearchTest, ABeamWiderThanTheVocabularyHoldsWhatThereIs) {
  const auto found = Find(Beam(16, 16), Task(3), Always({{kA, 0.5F}, {kEnd, 0.5F}}));
  EXPECT_THAT(found, SizeIs(16));
}

TEST(SearchTest, DrawsAreThoseOfTheirSeed) {
  SearchOptions options;
  options.sample = true;
  const auto logits = Always({{kA, 0.4F}, {kB, 0.3F}, {kC, 0.3F}});
  std::map<Tokens, int> kinds;
  for (options.seed = 0; options.seed < 8; ++options.seed) {
    const auto found = TokensOf(Find(options, Task(20), logits));
    EXPECT_EQ(found, TokensOf(Find(options, Task(20), logits)));
    ++kinds[found.front()];
  }
  EXPECT_THAT(kinds, SizeIs(8));
}

TEST(SearchTest, DrawsFollowTheChances) {
  SearchOptions options;
  options.sample = true;
  options.seed = 3;
  constexpr size_t kDraws = 4000;
  const auto drawn = [&] {
    const auto found = Find(options, Task(kDraws), Always({{kA, 0.5F}, {kB, 0.3F}, {kC, 0.2F}}));
    std::map<int32_t, double> shares;
    for (const int32_t token : found.front().tokens) shares[token] += 1.0 / kDraws;
    return shares;
  };
  auto shares = drawn();
  EXPECT_NEAR(shares[kA], 0.5, 0.03);
  EXPECT_NEAR(shares[kB], 0.3, 0.03);
  options.top_k = 2;
  shares = drawn();
  EXPECT_NEAR(shares[kA], 0.625, 0.03);
  EXPECT_EQ(shares.count(kC), 0u);
  options.top_k = 0;
  options.top_p = 0.6F;
  shares = drawn();
  EXPECT_NEAR(shares[kA], 0.625, 0.03);
  EXPECT_EQ(shares.count(kC), 0u);
  options.top_p = 1;
  options.temperature = 0.5F;  // squares the chances
  EXPECT_NEAR(drawn()[kA], 0.25 / 0.38, 0.03);
}

TEST(SearchTest, SaysWhatIsWrongWithOptions) {
  SearchOptions options = Beam(17);
  EXPECT_THAT(std::string(CheckSearchOptions(options).message()),
              HasSubstr("beam_size: 17 is out of range, allowed 1..16"));
  options = Beam(2, 3);
  EXPECT_THAT(std::string(CheckSearchOptions(options).message()),
              HasSubstr("hypotheses: 3 is out of range, allowed 1..2"));
  options = Beam(2);
  options.sample = true;
  EXPECT_THAT(std::string(CheckSearchOptions(options).message()), HasSubstr("beam_size: 2"));
  options = {};
  options.length_penalty = NAN;
  EXPECT_FALSE(CheckSearchOptions(options).ok());
  EXPECT_TRUE(CheckSearchOptions({}).ok());
}

TEST(SearchTest, ScoresThatAreNoNumbersFindNothing) {
  const auto nothing = [](const Tokens& written) {
    return written.size() < 2 ? Scores{-9, -9, 0, -1, -9} : Scores(kTokens, NAN);
  };
  SearchOptions sampled;
  sampled.sample = true;
  for (const SearchOptions& options : {SearchOptions(), sampled, Beam(4)})
    EXPECT_THAT(Find(options, Task(), nothing), SizeIs(0));
}

}  // namespace
}  // namespace millrace::translation
