// Translations are those of transformers' generate(), word for word: seq2seq_golden_*.json, made by
// make_seq2seq_golden.py.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "models/seq2seq/sentence_decoder.h"
#include "tests/unit/models/seq2seq/tiny_seq2seq.h"

namespace millrace::seq2seq {
namespace {

using nlohmann::json;

json ReadGolden(TinyKind kind) {
  std::ifstream file(std::string(MILLRACE_SOURCE_DIR) +
                     "/tests/unit/models/seq2seq/seq2seq_golden_" + NameOf(kind) + ".json");
  return json::parse(file);
}

// Returns the options that transformers was given.
translation::SearchOptions OptionsOf(const json& asked) {
  translation::SearchOptions options;
  options.beam_size = asked.value("num_beams", 1);
  options.hypotheses = asked.value("num_return_sequences", 1);
  options.length_penalty = asked.value("length_penalty", 1.0F);
  options.no_repeat_ngram_size = asked.value("no_repeat_ngram_size", 0);
  options.repetition_penalty = asked.value("repetition_penalty", 1.0F);
  if (const auto early = asked.find("early_stopping"); early != asked.end()) {
    options.early_stopping = early->is_string() ? translation::EarlyStopping::kNever
                                                : translation::EarlyStopping::kAtBeams;
  }
  return options;
}

struct Case {
  std::vector<int32_t> source;
  translation::SearchOptions options;
  translation::SearchTask task;
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
  if (asked.contains("max_length")) made.task.max_tokens = asked["max_length"].get<size_t>() - 1;
  if (asked.contains("min_length")) made.task.min_tokens = asked["min_length"].get<size_t>() - 1;
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

std::vector<std::vector<translation::Hypothesis>> Decode(const Seq2SeqNetwork& network,
                                                         const std::vector<Case>& cases,
                                                         size_t together) {
  std::vector<std::vector<translation::Hypothesis>> found(cases.size());
  SentenceDecoder decoder(network);
  DecodingScratch scratch;
  for (size_t first = 0; first < cases.size(); first += together) {
    std::vector<SentenceDecoder::Entry> entries;
    for (size_t i = first; i < std::min(first + together, cases.size()); ++i)
      entries.push_back(
          {cases[i].source, translation::MakeSearch(cases[i].options, cases[i].task)});
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
      EXPECT_EQ(sentences[i]->cached_tokens(), 0u);
    }
  }
  return found;
}

std::string Kernels(size_t index) { return kernels::SupportedFloatKernels()[index]->name; }

class Seq2SeqGoldenTest : public ::testing::TestWithParam<std::tuple<TinyKind, size_t>> {
 protected:
  void Expect(const std::string& name) {
    const auto [kind, index] = GetParam();
    const auto network = MakeTinyNetwork(kind, {*kernels::SupportedFloatKernels()[index]});
    const std::vector<Case> cases = MakeCases(kind, name);
    ASSERT_EQ(cases.size(), 300u);
    const auto found = Decode(*network, cases, 16);
    for (size_t i = 0; i < cases.size(); ++i) {
      std::vector<std::vector<int32_t>> tokens;
      for (const translation::Hypothesis& hypothesis : found[i])
        tokens.push_back(hypothesis.tokens);
      EXPECT_EQ(tokens, cases[i].expected) << "case " << i;
      for (size_t k = 0; k < std::min(cases[i].scores.size(), found[i].size()); ++k) {
        EXPECT_NEAR(found[i][k].score, cases[i].scores[k],
                    1e-3F + 1e-4F * std::abs(cases[i].scores[k]))
            << "case " << i;
      }
    }
  }
};

TEST_P(Seq2SeqGoldenTest, GreedySearchFindsTheSameTokens) { Expect("greedy"); }
TEST_P(Seq2SeqGoldenTest, ABeamOfFourFindsTheSameTokens) { Expect("beam"); }
TEST_P(Seq2SeqGoldenTest, EveryOptionGivesTheSameHypothesesAndScores) { Expect("variant"); }

// Weights whose attention is spread, as that of trained networks is: where random weights choose
// one token of two, the least rounding can choose the other.
bergamot::TinyTensors SpreadAttention(TinyKind kind) {
  bergamot::TinyTensors tensors = MakeTinySeq2Seq(kind);
  for (auto& [name, tensor] : tensors) {
    if (!name.ends_with(".query.weight")) continue;
    std::vector<float> values(tensor.bytes.size() / sizeof(float));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    for (float& value : values) value *= 0.05F;
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  }
  return tensors;
}

// The scores of each token to come first, of each source behind the other.
std::vector<float> FirstScores(TinyKind kind, const std::vector<Case>& cases,
                               kernels::Precision precision) {
  const auto network =
      MakeTinyNetwork(kind, SpreadAttention(kind), kernels::LinearKernels::For(precision));
  std::vector<std::span<const int32_t>> sources;
  for (const Case& one : cases) sources.push_back(one.source);
  LayerScratch scratch;
  const auto memories = network->encoder().Encode(sources, scratch);
  const FloatDecoder& decoder = network->decoder();
  std::vector<float> slot(static_cast<size_t>(decoder.slot_floats()));
  std::vector<float> row(static_cast<size_t>(decoder.logits_stride()));
  std::vector<float> scores;
  for (const SourceMemory& memory : memories) {
    float* const path[] = {slot.data()};
    decoder.Step(std::vector<DecoderRow>{{TinyTask(kind).start, &memory, path}}, scratch,
                 row.data());
    scores.insert(scores.end(), row.begin(), row.begin() + network->tokens());
  }
  return scores;
}

// Root of the mean square, relative to that of the scores in float32.
double RelativeError(TinyKind kind, kernels::Precision precision) {
  const std::vector<Case> cases = MakeCases(kind, "greedy");
  const std::vector<float> exact = FirstScores(kind, cases, kernels::Precision::kFloat32);
  const std::vector<float> rounded = FirstScores(kind, cases, precision);
  double error = 0;
  double total = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    error += std::pow(rounded[i] - exact[i], 2);
    total += std::pow(exact[i], 2);
  }
  return std::sqrt(error / total);
}

// A product of rounded numbers is off by about 0.2 % in bfloat16 and 1 % in int8 (a step of 1/127
// of the greatest, over the root of 12, in both factors), and some 20 of them follow one another,
// whose errors add up as their squares: 4.5 times that, which norms may enlarge by half and more.
TEST(Seq2SeqPrecisionTest, RoundingMovesTheScoresByNoMoreThanItsSteps) {
  for (const TinyKind kind : {TinyKind::kMarian, TinyKind::kM2m100}) {
    EXPECT_LT(RelativeError(kind, kernels::Precision::kBfloat16), 0.03);
    EXPECT_LT(RelativeError(kind, kernels::Precision::kInt8), 0.09);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Seq2SeqGoldenTest,
    ::testing::Combine(::testing::Values(TinyKind::kMarian, TinyKind::kMarianTwo,
                                         TinyKind::kM2m100),
                       ::testing::Range(size_t{0}, kernels::SupportedFloatKernels().size())),
    [](const auto& info) {
      return NameOf(std::get<0>(info.param)) + "_" + Kernels(std::get<1>(info.param));
    });

}  // namespace
}  // namespace millrace::seq2seq
