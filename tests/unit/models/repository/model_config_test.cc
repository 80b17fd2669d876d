#include "models/repository/model_config.h"

#include <gtest/gtest.h>

#include "models/bergamot/bergamot_kind.h"
#include "models/kokoro/kokoro_kind.h"
#include "models/seq2seq/seq2seq_kind.h"
#include "models/torchscript/torchscript_kind.h"
#include "models/vits/vits_kind.h"

namespace millrace::models {
namespace {

constexpr char kNull[] = R"(license: "Apache-2.0"
batching { max_batch: 32 linger_us: 200 queue_size: 512 }
torchscript {
  file: "model.pt"
  inputs { name: "INPUT0" datatype: "FP32" shape: 64 }
  outputs { name: "OUTPUT0" datatype: "FP32" shape: [64] }
  stack: true
}
)";

std::string Error(const std::string& text) {
  const auto config = ParseModelConfig(text, "model.pbtxt");
  return config.ok() ? "accepted" : std::string(config.status().message());
}

// Returns the settings in the section of the config's kind.
template <typename Config>
const Config& Settings(const ModelConfig& config) {
  return dynamic_cast<const Config&>(*config.settings);
}

// The names that the config gives its files.
std::vector<std::string> FileNames(const ModelConfig& config) {
  std::vector<std::string> names;
  for (const PackageFile& file : config.settings->files()) names.push_back(file.name);
  return names;
}

TEST(ModelConfigTest, TorchScript) {
  const auto config = ParseModelConfig(kNull, "model.pbtxt");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->license, "Apache-2.0");
  EXPECT_EQ(config->batching.max_batch, 32U);
  EXPECT_EQ(config->batching.linger, std::chrono::microseconds(200));
  EXPECT_EQ(config->batching.queue_size, 512U);
  const auto& torchscript = Settings<torchscript::TorchScriptConfig>(*config);
  EXPECT_EQ(torchscript.file, "model.pt");
  EXPECT_TRUE(torchscript.stack);
  ASSERT_EQ(torchscript.inputs.size(), 1U);
  EXPECT_EQ(torchscript.inputs[0].name, "INPUT0");
  EXPECT_EQ(torchscript.inputs[0].type, DataType::kFp32);
  EXPECT_EQ(torchscript.inputs[0].shape, std::vector<int64_t>{64});
  EXPECT_EQ(config->kind->name, "torchscript");

  const ModelInfo info = MakeModelInfo(*config, "null", 3);
  EXPECT_EQ(info.name, "null");
  EXPECT_EQ(info.version, 3);
  EXPECT_EQ(info.task(), Task::kInfer);
  EXPECT_EQ(info.infer().outputs[0].name, "OUTPUT0");
}

TEST(ModelConfigTest, VitsAndItsFiles) {
  const auto config = ParseModelConfig(
      R"(vits { file: "m.pt" voice_file: "v.json" language: "en-US" voice: "joe" })",
      "model.pbtxt");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(FileNames(*config), (std::vector<std::string>{"m.pt", "v.json"}));
  const ModelInfo info = MakeModelInfo(*config, "joe", 1);
  EXPECT_EQ(info.task(), Task::kSynthesis);
  EXPECT_EQ(info.speech().voices, std::vector<std::string>{"joe"});
  EXPECT_EQ(info.batching.max_batch, 1U);
}

TEST(ModelConfigTest, Seq2SeqAndItsDefaults) {
  const std::string required =
      "file: 'm' config_file: 'c' pieces_file: 'p' words_file: 'w' source_language: 'en' "
      "target_language: 'de' ";
  auto config = ParseModelConfig("seq2seq { " + required + "}", "model.pbtxt");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(FileNames(*config), (std::vector<std::string>{"m", "c", "p", "w"}));
  EXPECT_EQ(config->kind->name, "seq2seq");
  config = ParseModelConfig(
      "seq2seq { " + required + "target_words_file: 't' target_pieces_file: 'q' }", "model.pbtxt");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(FileNames(*config), (std::vector<std::string>{"m", "c", "p", "w", "t", "q"}));
  for (const std::string field : {"target_words_file", "target_pieces_file"}) {
    EXPECT_NE(Error("seq2seq { " + required + field + ": '../t' }")
                  .find("seq2seq." + field + ": '../t' may not leave the model's folder"),
              std::string::npos);
  }
  EXPECT_EQ(Settings<seq2seq::Seq2SeqModelConfig>(*config).search.beam_size, 4);
  EXPECT_EQ(Settings<seq2seq::Seq2SeqModelConfig>(*config).search.length_penalty, 1.0F);
  EXPECT_EQ(MakeModelInfo(*config, "m", 1).translation().target_language, "de");
  config = ParseModelConfig("seq2seq { " + required + "beam_size: 1 length_penalty: 0 }", "m");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(Settings<seq2seq::Seq2SeqModelConfig>(*config).search.beam_size, 1);
  EXPECT_EQ(Settings<seq2seq::Seq2SeqModelConfig>(*config).search.length_penalty, 0.0F);
  EXPECT_EQ(Settings<seq2seq::Seq2SeqModelConfig>(*config).precision, kernels::Precision::kFloat32);
  config = ParseModelConfig("seq2seq { " + required + "precision: PRECISION_INT8 }", "m");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(Settings<seq2seq::Seq2SeqModelConfig>(*config).precision, kernels::Precision::kInt8);
  config = ParseModelConfig("seq2seq { " + required + "precision: PRECISION_AUTO }", "m");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(Settings<seq2seq::Seq2SeqModelConfig>(*config).precision, std::nullopt);
  EXPECT_NE(Error("seq2seq { " + required + "precision: 5 }")
                .find("seq2seq.precision: 5 is unknown, allowed are PRECISION_FLOAT32"),
            std::string::npos);
  const std::string error = Error("seq2seq { " + required + "beam_size: 17 length_penalty: 11 }");
  EXPECT_NE(error.find("seq2seq.beam_size: 17 is out of range, allowed 1..16"), std::string::npos)
      << error;
  EXPECT_NE(error.find("seq2seq.length_penalty: 11 is out of range"), std::string::npos) << error;
}

// One that suits the model may be chosen only where the operator has not said one.
TEST(ModelConfigTest, ABatchOfOneIsNotTheSameAsNone) {
  const std::string voice =
      R"(vits { file: "m.pt" voice_file: "v.json" language: "en-US" voice: "joe" })";
  const auto none = ParseModelConfig(voice, "model.pbtxt");
  const auto some = ParseModelConfig(voice + "batching { linger_us: 5 }", "model.pbtxt");
  const auto one = ParseModelConfig(voice + "batching { max_batch: 1 }", "model.pbtxt");
  ASSERT_TRUE(none.ok() && some.ok() && one.ok());
  EXPECT_EQ(none->batching.max_batch, 0U);
  EXPECT_EQ(some->batching.max_batch, 0U);
  EXPECT_EQ(one->batching.max_batch, 1U);
}

TEST(ModelConfigTest, BergamotDefaults) {
  const auto config = ParseModelConfig(
      R"(bergamot { file: "m" vocabulary_file: "v" source_language: "en" target_language: "pt" })",
      "model.pbtxt");
  ASSERT_TRUE(config.ok()) << config.status();
  const auto& bergamot = Settings<bergamot::BergamotConfig>(*config);
  EXPECT_EQ(bergamot.max_length_factor, 2.5F);
  EXPECT_EQ(bergamot.max_source_tokens, 80);
  EXPECT_EQ(MakeModelInfo(*config, "m", 1).translation().target_language, "pt");
}

TEST(ModelConfigTest, Kokoro) {
  const auto config = ParseModelConfig(
      R"(kokoro { file: "m" config_file: "c" lexicon_file: "l" language: "en-GB" voice: "anna" })",
      "model.pbtxt");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->kind->name, "kokoro");
  EXPECT_EQ(FileNames(*config), (std::vector<std::string>{"m", "c", "l"}));
  const ModelInfo info = MakeModelInfo(*config, "m", 1);
  EXPECT_EQ(info.task(), Task::kSynthesis);
  EXPECT_EQ(info.speech().language, "en-GB");
  EXPECT_EQ(info.speech().voices, (std::vector<std::string>{"anna"}));
}

TEST(ModelConfigTest, KokoroSpeaksALanguageOfEspeakByDefault) {
  const auto config = ParseModelConfig(
      R"(kokoro { file: "m" config_file: "c" lexicon_file: "l" language: "pt-BR" })",
      "model.pbtxt");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(MakeModelInfo(*config, "m", 1).speech().language, "pt-BR");
}

TEST(ModelConfigTest, KokorosVoicesSayWhatTheyWereMadeFor) {
  const std::string begin =
      "kokoro { file: 'm' config_file: 'c' lexicon_file: 'l' language: 'en-US'\n";
  const auto config = ParseModelConfig(
      begin +
          "voices { name: 'jm' language: 'ja' } voices { name: 'jf' language: 'ja' "
          "default_for: 'ja' } }",
      "x");
  ASSERT_TRUE(config.ok()) << config.status();
  const auto& voices = Settings<kokoro::KokoroConfig>(*config).voices;
  EXPECT_EQ(voices,
            (std::vector<kokoro::KokoroVoiceConfig>{{"jm", "ja", {}}, {"jf", "ja", {"ja"}}}));
  const std::string error = Error(begin +
                                  "voices { name: 'a' default_for: 'ja' }\n"
                                  "voices { name: 'a' language: 'ja' default_for: ['ja', ''] } }");
  EXPECT_NE(error.find("kokoro.voices[0].language: is missing"), std::string::npos) << error;
  EXPECT_NE(error.find("kokoro.voices[1].name: 'a' is used twice"), std::string::npos) << error;
  EXPECT_NE(error.find("default_for[0]: 'ja' has two voices"), std::string::npos) << error;
  EXPECT_NE(error.find("default_for[1]: '' is no language"), std::string::npos) << error;
}

TEST(ModelConfigTest, VoicesAreInFloat32OrInt8) {
  const std::string kokoro =
      "kokoro { file: 'm' config_file: 'c' lexicon_file: 'l' language: 'en-US' ";
  const std::string vits = "vits { file: 'm' voice_file: 'v' language: 'en-US' voice: 'joe' ";
  for (const auto& [text, asked] :
       {std::pair{"", std::optional(kernels::Precision::kFloat32)},
        std::pair{"precision: PRECISION_FLOAT32", std::optional(kernels::Precision::kFloat32)},
        std::pair{"precision: PRECISION_INT8", std::optional(kernels::Precision::kInt8)},
        std::pair{"precision: PRECISION_AUTO", std::optional<kernels::Precision>()}}) {
    const auto of_kokoro = ParseModelConfig(kokoro + text + " int8_distance_db: 0.5 }", "x");
    ASSERT_TRUE(of_kokoro.ok()) << of_kokoro.status();
    EXPECT_EQ(Settings<kokoro::KokoroConfig>(*of_kokoro).precision.asked, asked) << text;
    EXPECT_EQ(Settings<kokoro::KokoroConfig>(*of_kokoro).precision.int8_distance_db, 0.5F);
    const auto of_vits = ParseModelConfig(vits + text + " }", "x");
    ASSERT_TRUE(of_vits.ok()) << of_vits.status();
    EXPECT_EQ(Settings<vits::VitsConfig>(*of_vits).precision.asked, asked) << text;
    EXPECT_EQ(Settings<vits::VitsConfig>(*of_vits).precision.int8_distance_db, 0);
  }
  for (const auto& [section, begin] : {std::pair{"kokoro", kokoro}, std::pair{"vits", vits}}) {
    for (const std::string name : {"PRECISION_BFLOAT16", "77"}) {
      const std::string error = Error(begin + "precision: " + name + " }");
      EXPECT_NE(error.find(std::string(section) + ".precision: " + name +
                           " is not for voices, allowed are PRECISION_FLOAT32, PRECISION_INT8 and "
                           "PRECISION_AUTO"),
                std::string::npos)
          << error;
    }
    for (const std::string distance : {"-1", "nan", "inf", "100.5"}) {
      const std::string error = Error(begin + "int8_distance_db: " + distance + " }");
      EXPECT_NE(error.find(std::string(section) + ".int8_distance_db: " + distance +
                           " is out of range, allowed 0..100"),
                std::string::npos)
          << error;
    }
  }
}

TEST(ModelConfigTest, KokoroNamesEachWrongField) {
  const std::string error =
      Error("kokoro { file: '../m'\n language: 'fr'\n voice: '" + std::string(129, 'x') + "' }");
  EXPECT_NE(error.find("model.pbtxt:1:10: kokoro.file: '../m' may not leave"), std::string::npos)
      << error;
  EXPECT_NE(error.find("kokoro.config_file: is missing"), std::string::npos) << error;
  EXPECT_NE(error.find("kokoro.lexicon_file: is missing"), std::string::npos) << error;
  EXPECT_NE(error.find("model.pbtxt:2:2: kokoro.language: 'fr' is unknown, allowed en-US, en-GB, "
                       "es, fr-FR, hi, it, pt-BR"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("kokoro.voice: has 129 characters, allowed 0..128"), std::string::npos)
      << error;
}

TEST(ModelConfigTest, TypoFailsWithLineColumnAndField) {
  const std::string error = Error("license: \"MIT\"\nbatching {\n  max_bacth: 4\n}\n");
  EXPECT_EQ(error.substr(0, 17), "model.pbtxt:3:12:") << error;
  EXPECT_NE(error.find("max_bacth"), std::string::npos) << error;
}

TEST(ModelConfigTest, SyntaxErrorHasLineAndColumn) {
  EXPECT_EQ(Error("license: \"MIT\"\nbatching { max_batch: }\n").substr(0, 14), "model.pbtxt:2:");
  EXPECT_EQ(Error("license: \"unfinished\n").substr(0, 14), "model.pbtxt:1:");
}

TEST(ModelConfigTest, OutOfRangeHasItsPlaceValueAndRange) {
  const std::string text =
      "torchscript { file: 'm' inputs { name: 'a' datatype: 'FP32' }\n"
      " outputs { name: 'b' datatype: 'FP32' } }\nbatching {\n  max_batch: 5000 }\n";
  EXPECT_EQ(Error(text),
            "model.pbtxt:4:3: batching.max_batch: 5000 is out of range, allowed 0..1024");
}

TEST(ModelConfigTest, EveryMistakeIsReported) {
  const std::string error = Error(
      "bergamot { file: 'm' vocabulary_file: 'v'\n source_language: 'en'\n max_source_tokens: "
      "7\n}");
  EXPECT_NE(error.find("bergamot.target_language: is missing"), std::string::npos) << error;
  EXPECT_NE(error.find("model.pbtxt:3:2: bergamot.max_source_tokens: 7 is out of range"),
            std::string::npos)
      << error;
}

TEST(ModelConfigTest, KindIsRequiredAndSingle) {
  EXPECT_NE(Error("license: 'MIT'").find("exactly one of torchscript, vits, bergamot"),
            std::string::npos);
  EXPECT_NE(Error("vits { } bergamot { }").find("model.pbtxt:1:"), std::string::npos);
}

TEST(ModelConfigTest, MessagesHaveNoBytesThatATerminalOrAClientCannotTake) {
  EXPECT_EQ(Error("torchscript { file: \"../\xFF\" }"),
            "model.pbtxt: is not valid UTF-8, as a model.pbtxt is");
  const std::string error = Error("torchscript { file: \"../\\033[2J\\n\" }");
  EXPECT_NE(error.find("'../?[2J?'"), error.npos) << error;
  EXPECT_EQ(error.find('\033'), error.npos) << error;
}

TEST(ModelConfigTest, FileNamesMayNotLeaveTheFolder) {
  for (const char* name : {"../secret", "/etc/passwd", "a/b", "..", ".", "", "a\\\\b", "a\\000b"}) {
    const std::string error = Error(
        std::string("vits { voice_file: 'v' language: 'en' voice: 'x' file: '") + name + "' }");
    EXPECT_NE(error.find("vits.file: "), std::string::npos) << name << ": " << error;
  }
}

TEST(ModelConfigTest, WarmupSizesStandForAnySize) {
  const auto parse = [](const std::string& shape, const std::string& sizes) {
    return ParseModelConfig(
        "torchscript { file: 'm' outputs { name: 'b' datatype: 'FP32' }\n"
        "inputs { name: 'a' datatype: 'FP32' shape: " +
            shape + " }\n" + sizes + "}",
        "model.pbtxt");
  };
  const auto config = parse("[1, -1]", "warmup_sizes: [16, 65536]");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(Settings<torchscript::TorchScriptConfig>(*config).warmup_sizes,
            (std::vector<int64_t>{16, 65536}));
  const auto error = [&](const std::string& shape, const std::string& sizes) {
    return std::string(parse(shape, sizes).status().message());
  };
  EXPECT_NE(error("-1", "warmup_sizes: [16, 0]")
                .find("torchscript.warmup_sizes[1]: 0 is out of range, allowed 1..65536"),
            std::string::npos);
  EXPECT_NE(error("-1", "warmup_sizes: 65537").find("65537 is out of range"), std::string::npos);
  EXPECT_NE(error("[1, 4]", "warmup_sizes: 16").find("but there is none"), std::string::npos);
  std::string many;
  for (int i = 0; i < 65; ++i) many += "warmup_sizes: 1 ";
  EXPECT_NE(error("-1", many).find("has 65 entries, allowed 0..64"), std::string::npos);
}

TEST(ModelConfigTest, TensorsAreChecked) {
  const auto with = [](const std::string& inputs) {
    return Error("torchscript { file: 'm' stack: true outputs { name: 'b' datatype: 'FP32' }\n" +
                 inputs + "}");
  };
  EXPECT_NE(with("").find("torchscript.inputs: has 0 entries"), std::string::npos);
  EXPECT_NE(with("inputs { name: 'a' datatype: 'FLOAT' shape: 1 }")
                .find("torchscript.inputs[0].datatype: 'FLOAT' is unknown"),
            std::string::npos);
  EXPECT_NE(with("inputs { name: 'a' datatype: 'BYTES' shape: 1 }").find("datatype"),
            std::string::npos);
  EXPECT_NE(with("inputs { name: 'a' datatype: 'FP32' shape: [4, -2] }")
                .find("inputs[0].shape[1]: -2 is out of range"),
            std::string::npos);
  EXPECT_NE(with("inputs { name: 'a' datatype: 'FP32' shape: -1 }").find("needs fixed shapes"),
            std::string::npos);
  const std::string twice =
      with("inputs { name: 'a' datatype: 'FP32' }\ninputs { name: 'a' datatype: 'FP32' }");
  EXPECT_NE(twice.find("model.pbtxt:3:10: torchscript.inputs[1].name: 'a' is used twice"),
            std::string::npos)
      << twice;
}

TEST(ModelConfigTest, ShapesThatNoMessageCouldHoldAreRefused) {
  const auto with = [](const std::string& inputs, const std::string& rest = "") {
    return Error("torchscript { file: 'm' outputs { name: 'b' datatype: 'FP32' }\n" + inputs +
                 rest + "}");
  };
  EXPECT_EQ(with("inputs { name: 'a' datatype: 'FP32' shape: 100000000000 }"),
            "model.pbtxt:2:37: torchscript.inputs[0].shape: [100000000000] of FP32 is larger than "
            "the 268435456 bytes that are allowed");
  // The product counts, and it must not overflow.
  for (const char* shape : {"[65536, 65536]", "[-1, 8589934592]", "[4294967296, 4294967296, 2]",
                            "[9223372036854775807, 9223372036854775807]"}) {
    EXPECT_NE(with(std::string("inputs { name: 'a' datatype: 'INT8' shape: ") + shape + " }")
                  .find("torchscript.inputs[0].shape: "),
              std::string::npos)
        << shape;
  }
  EXPECT_EQ(with("inputs { name: 'a' datatype: 'FP32' shape: [1024, 256, 256] }"), "accepted");
  EXPECT_EQ(with("inputs { name: 'a' datatype: 'FP32' shape: [0, 9223372036854775807] }"),
            "accepted");
  EXPECT_NE(Error("torchscript { file: 'm' inputs { name: 'b' datatype: 'FP32' }\n"
                  "outputs { name: 'a' datatype: 'FP32' shape: 100000000000 } }")
                .find("torchscript.outputs[0].shape: [100000000000] of FP32 is larger"),
            std::string::npos);
}

TEST(ModelConfigTest, InputsOfTheWarmUpAreBoundedTogether) {
  const auto with = [](const std::string& inputs) {
    return Error("torchscript { file: 'm' outputs { name: 'b' datatype: 'FP32' }\n" + inputs + "}");
  };
  const std::string any = "inputs { name: 'a' datatype: 'FP32' shape: [-1, -1] }\n";
  EXPECT_EQ(with(any + "warmup_sizes: 4096"), "accepted");
  EXPECT_NE(with(any + "warmup_sizes: 65536")
                .find("torchscript.inputs: are larger than the 268435456 bytes that are allowed "
                      "together, with 'a' of [-1, -1] and 65536 in place of each -1"),
            std::string::npos);
  EXPECT_NE(with(any + "warmup_sizes: [8192, 16384]").find("torchscript.inputs: are larger"),
            std::string::npos);
  const std::string half = " datatype: 'UINT8' shape: 134217728 }\n";
  EXPECT_EQ(with("inputs { name: 'a'" + half + "inputs { name: 'c'" + half), "accepted");
  EXPECT_NE(with("inputs { name: 'a'" + half + "inputs { name: 'c'" + half +
                 "inputs { name: 'd' datatype: 'UINT8' shape: 1 }")
                .find("torchscript.inputs: are larger"),
            std::string::npos);
}

TEST(ModelConfigTest, TheLengthFactorHasTheRangeOfTheModel) {
  const auto with = [](const std::string& factor) {
    return std::string(
               "bergamot { file: 'm' vocabulary_file: 'v' source_language: 'a' target_language: "
               "'b' "
               "max_length_factor: ") +
           factor + " }";
  };
  EXPECT_TRUE(ParseModelConfig(with("16"), "model.pbtxt").ok());
  const std::string error = Error(with("16.5"));
  EXPECT_NE(error.find("max_length_factor: 16.5 is out of range, allowed 0.5..16"),
            std::string::npos)
      << error;
}

TEST(ModelConfigTest, NotANumberIsOutOfRange) {
  const std::string error = Error(
      "bergamot { file: 'm' vocabulary_file: 'v' source_language: 'a' target_language: 'b' "
      "max_length_factor: nan }");
  EXPECT_NE(error.find("max_length_factor: nan is out of range"), std::string::npos) << error;
}

TEST(ModelConfigTest, MissingFileIsNamed) {
  const auto config = ReadModelConfig("no/such/model.pbtxt");
  EXPECT_EQ(config.status().message(),
            "no/such/model.pbtxt: cannot be read: No such file or directory");
}

TEST(ModelConfigTest, SaysWhereThePackageIsFrom) {
  const std::string origin =
      R"(origin { name: "firefox/en-de" revision: "3.0" date: "2026-11-24" files { name: "m.bin" }} )";
  const auto config = ParseModelConfig(origin + kNull, "model.pbtxt");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->origin.name, "firefox/en-de");
  EXPECT_EQ(config->origin.revision, "3.0");
  EXPECT_EQ(config->origin.date, "2026-11-24");
  EXPECT_EQ(ParseModelConfig(kNull, "model.pbtxt")->origin.name, "");
  EXPECT_NE(Error("origin { name: \"" + std::string(257, 'x') + "\" } " + kNull)
                .find("origin.name: has 257 characters, allowed 0..256"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace::models
