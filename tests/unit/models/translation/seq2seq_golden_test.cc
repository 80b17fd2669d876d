// Translations are those of transformers' generate(), word for word: seq2seq_golden_*.json, made by
// make_seq2seq_golden.py.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/translation/seq2seq/sentence_decoder.h"
#include "tests/unit/models/translation/tiny_seq2seq.h"

namespace millrace::models {
namespace {

using nlohmann::json;

json ReadGolden(TinyKind kind) {
  const std::string name =
      kind == TinyKind::kMarian ? "seq2seq_golden_marian.json" : "seq2seq_golden_m2m100.json";
  std::ifstream file(std::string(MILLRACE_SOURCE_DIR) + "/tests/unit/models/translation/" + name);
  return json::parse(file);
}

// What transformers was asked for.
SearchOptions OptionsOf(const json& asked) {
  SearchOptions options;
  options.beam_size = asked.value("num_beams", 1);
  options.hypotheses = asked.value("num_return_sequences", 1);
  options.length_penalty = asked.value("length_penalty", 1.0F);
  options.no_repeat_ngram_size = asked.value("no_repeat_ngram_size", 0);
  options.repetition_penalty = asked.value("repetition_penalty", 1.0F);
  if (const auto early = asked.find("early_stopping"); early != asked.end()) {
    options.early_stopping = early->is_string() ? EarlyStopping::kNever : EarlyStopping::kAtBeams;
  }
  return options;
}

struct Case {
  std::vector<int32_t> source;
  SearchOptions options;
  SearchTask task;
  std::vector<std::vector<int32_t>> expected;
  std::vector<float> scores;
};

// The start counts for transformers' lengths.
Case MakeCase(TinyKind kind, const json& golden, const json& asked, const std::string& name) {
  Case made;
  made.source = golden.at("source").get<std::vector<int32_t>>();
  made.options = OptionsOf(asked);
  made.task = TinyTask(kind);
  made.task.prefix = golden.at("prefix").get<std::vector<int32_t>>();
  if (asked.contains("max_length")) made.task.max_words = asked["max_length"].get<size_t>() - 1;
  if (asked.contains("min_length")) made.task.min_words = asked["min_length"].get<size_t>() - 1;
  made.expected = golden.at(name).get<std::vector<std::vector<int32_t>>>();
  if (name == "variant") made.scores = golden.at("scores").get<std::vector<float>>();
  return made;
}

std::vector<Case> MakeCases(TinyKind kind, const std::string& name) {
  std::vector<Case> cases;
  const json golden = ReadGolden(kind);
  for (const json& entry : golden.at("cases")) {
    const json asked = name == "greedy" ? json::object()
                       : name == "beam" ? json{{"num_beams", 4}}
                                        : entry.at("options");
    cases.push_back(MakeCase(kind, entry, asked, name));
  }
  return cases;
}

std::vector<std::vector<Hypothesis>> Decode(const Seq2SeqNetwork& network,
                                            const std::vector<Case>& cases, size_t together) {
  std::vector<std::vector<Hypothesis>> found(cases.size());
  SentenceDecoder decoder(network);
  DecodingScratch scratch;
  for (size_t first = 0; first < cases.size(); first += together) {
    std::vector<SentenceDecoder::Entry> entries;
    for (size_t i = first; i < std::min(first + together, cases.size()); ++i)
      entries.push_back({cases[i].source, MakeSearch(cases[i].options, cases[i].task)});
    const auto sentences = decoder.Begin(std::move(entries), scratch);
    for (;;) {
      std::vector<SentenceDecoding*> at_work;
      for (const auto& sentence : sentences) {
        if (!sentence->over()) at_work.push_back(sentence.get());
      }
      if (at_work.empty()) break;
      decoder.Step(at_work, scratch);
    }
    for (size_t i = 0; i < sentences.size(); ++i) {
      found[first + i] = sentences[i]->search().Found();
      EXPECT_EQ(sentences[i]->cached_words(), 0u);
    }
  }
  return found;
}

std::string Kernels(size_t index) { return kernels::SupportedFloatKernels()[index]->name; }

class Seq2SeqGolden : public ::testing::TestWithParam<std::tuple<TinyKind, size_t>> {
 protected:
  void Expect(const std::string& name) {
    const auto [kind, index] = GetParam();
    const auto network = MakeTinyNetwork(kind, {*kernels::SupportedFloatKernels()[index]});
    const std::vector<Case> cases = MakeCases(kind, name);
    ASSERT_EQ(cases.size(), 300u);
    const auto found = Decode(*network, cases, 16);
    for (size_t i = 0; i < cases.size(); ++i) {
      std::vector<std::vector<int32_t>> words;
      for (const Hypothesis& hypothesis : found[i]) words.push_back(hypothesis.words);
      EXPECT_EQ(words, cases[i].expected) << "case " << i;
      for (size_t k = 0; k < std::min(cases[i].scores.size(), found[i].size()); ++k) {
        EXPECT_NEAR(found[i][k].score, cases[i].scores[k],
                    1e-3F + 1e-4F * std::abs(cases[i].scores[k]))
            << "case " << i;
      }
    }
  }
};

TEST_P(Seq2SeqGolden, GreedySearchFindsTheSameWords) { Expect("greedy"); }
TEST_P(Seq2SeqGolden, ABeamOfFourFindsTheSameWords) { Expect("beam"); }
TEST_P(Seq2SeqGolden, EveryOptionGivesTheSameHypothesesAndScores) { Expect("variant"); }

INSTANTIATE_TEST_SUITE_P(
    All, Seq2SeqGolden,
    ::testing::Combine(::testing::Values(TinyKind::kMarian, TinyKind::kM2m100),
                       ::testing::Range(size_t{0}, kernels::SupportedFloatKernels().size())),
    [](const auto& info) {
      return std::string(std::get<0>(info.param) == TinyKind::kMarian ? "marian_" : "m2m100_") +
             Kernels(std::get<1>(info.param));
    });

}  // namespace
}  // namespace millrace::models
