#include "models/translation/search/search_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace millrace::translation {
namespace {

using ::testing::HasSubstr;

TEST(SearchRequestTest, WhatIsUnsetIsTheModelsOwn) {
  const SearchOptions own = {.beam_size = 4, .length_penalty = 0.5F, .no_repeat_ngram_size = 3};
  const auto search = SearchFor(own, {.repetition_penalty = 2.0F});
  ASSERT_TRUE(search.ok()) << search.status();
  EXPECT_EQ(search->beam_size, 4);
  EXPECT_EQ(search->hypotheses, 1);
  EXPECT_EQ(search->length_penalty, 0.5F);
  EXPECT_EQ(search->no_repeat_ngram_size, 3);
  EXPECT_EQ(search->repetition_penalty, 2.0F);
  EXPECT_FALSE(search->sample);
}

TEST(SearchRequestTest, AsManyAreLookedForAsAreToComeBack) {
  EXPECT_EQ(SearchFor({.beam_size = 2}, {.hypotheses = 5})->beam_size, 5);
  EXPECT_EQ(SearchFor({.beam_size = 8}, {.hypotheses = 5})->beam_size, 8);
  EXPECT_EQ(SearchFor({.beam_size = 8}, {.beam_size = 5, .hypotheses = 5})->beam_size, 5);
}

TEST(SearchRequestTest, SamplingIsOfOneHypothesis) {
  const auto search = SearchFor(
      {.beam_size = 4}, {.sampling = {{.temperature = 2, .top_k = 3, .top_p = 0.5F, .seed = 9}}});
  ASSERT_TRUE(search.ok()) << search.status();
  EXPECT_TRUE(search->sample);
  EXPECT_EQ(search->beam_size, 1);
  EXPECT_EQ(search->temperature, 2);
  EXPECT_EQ(search->top_k, 3);
  EXPECT_EQ(search->top_p, 0.5F);
  EXPECT_EQ(search->seed, 9u);
}

TEST(SearchRequestTest, WhatIsOutOfRangeIsNamed) {
  struct Case {
    models::SearchOverrides wanted;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{.beam_size = 0}, "beam_size: 0 is out of range, allowed 1..16"},
      {{.beam_size = 1000}, "beam_size: 1000 is out of range, allowed 1..16"},
      {{.hypotheses = 0}, "hypotheses: 0 is out of range"},
      {{.hypotheses = 17}, "hypotheses: 17 is out of range, allowed 1..16"},
      {{.beam_size = 2, .hypotheses = 3}, "hypotheses: 3 is out of range, allowed 1..2"},
      {{.length_penalty = NAN}, "length_penalty: nan is out of range"},
      {{.no_repeat_ngram_size = -1}, "no_repeat_ngram_size: -1 is out of range"},
      {{.repetition_penalty = 0.0F}, "repetition_penalty: 0 is out of range"},
      {{.min_target_tokens = -1}, "min_target_tokens: -1 is out of range, allowed 0..1024"},
      {{.max_target_tokens = 0}, "max_target_tokens: 0 is out of range, allowed 1..1024"},
      {{.max_target_tokens = 1025}, "max_target_tokens: 1025 is out of range"},
      {{.min_target_tokens = 9, .max_target_tokens = 8},
       "min_target_tokens: 9 is above max_target_tokens, which is 8"},
      {{.beam_size = 2, .sampling = models::SamplingOverride{}}, "beam_size: 2 with sample"},
      {{.sampling = {{.temperature = 0}}}, "temperature: 0 is out of range"},
      {{.sampling = {{.top_p = 2}}}, "top_p: 2 is out of range"}};
  for (const Case& bad : cases) {
    for (const absl::Status& status :
         {SearchFor({}, bad.wanted).status(), CheckGreedy(bad.wanted)}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad.message;
      EXPECT_THAT(std::string(status.message()), HasSubstr(bad.message));
    }
  }
}

TEST(SearchRequestTest, AGreedyModelRefusesWhatItCannotDo) {
  EXPECT_TRUE(CheckGreedy({}).ok());
  EXPECT_TRUE(CheckGreedy({.beam_size = 1, .hypotheses = 1, .max_target_tokens = 5}).ok());
  const std::vector<std::pair<models::SearchOverrides, std::string>> cases = {
      {{.beam_size = 2}, "beam_size: this model"},
      {{.hypotheses = 2}, "hypotheses: this model"},
      {{.length_penalty = 2.0F}, "length_penalty: this model"},
      {{.no_repeat_ngram_size = 2}, "no_repeat_ngram_size: this model"},
      {{.repetition_penalty = 2.0F}, "repetition_penalty: this model"},
      {{.min_target_tokens = 2}, "min_target_tokens: this model"},
      {{.sampling = models::SamplingOverride{}}, "sampling: this model"}};
  for (const auto& [wanted, message] : cases)
    EXPECT_THAT(std::string(CheckGreedy(wanted).message()), HasSubstr(message));
}

}  // namespace
}  // namespace millrace::translation
