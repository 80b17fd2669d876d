#include "server/config/command_line.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/server/config/command_line_fixture.h"

namespace millrace {
namespace {

class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  ~ConfigFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_ = ::testing::TempDir() + "millrace_cli_" +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                            ".toml";
};

// Every subset of the four sources: the strongest one present wins and is named as the origin.
TEST(PrecedenceTest, FlagThenVariableThenFileThenDefault) {
  const ConfigFile file("queue_size = 10\n");
  for (int present = 0; present < 8; ++present) {
    Arguments arguments = {"serve"};
    Environment environment;
    size_t expected = 256;
    std::string origin = "default";
    if (present & 1) {
      arguments.insert(arguments.end(), {"--config", file.path()});
      expected = 10;
      origin = "file " + file.path() + ":1";
    }
    if (present & 2) {
      environment["MILLRACE_QUEUE_SIZE"] = "20";
      expected = 20;
      origin = "env MILLRACE_QUEUE_SIZE";
    }
    if (present & 4) {
      arguments.insert(arguments.end(), {"--queue-size", "30"});
      expected = 30;
      origin = "flag --queue-size";
    }
    const ServeCommand command = Parse<ServeCommand>(arguments, environment);
    EXPECT_EQ(command.config.queue_size, expected) << present;
    EXPECT_EQ(command.origins.at("queue-size"), origin) << present;
  }
}

TEST(PrecedenceTest, TheLastOfAFlagHoldsAndIsSaidToBe) {
  const ServeCommand command =
      Parse<ServeCommand>({"serve", "--queue-size", "30", "--queue-size", "40"}, {});
  EXPECT_EQ(command.config.queue_size, 40U);
  EXPECT_EQ(command.origins.at("queue-size"), "flag --queue-size, the last of 2");
}

TEST(PrecedenceTest, FileMayComeFromTheEnvironment) {
  const ConfigFile file("workers = 7\n");
  EXPECT_EQ(Parse<ServeCommand>({"serve"}, {{"MILLRACE_CONFIG", file.path()}}).config.workers, 7);
}

TEST(PrintConfigTest, ReadBackGivesTheSame) {
  const ServeCommand first = Parse<ServeCommand>(
      {"serve", "--print-config", "--models", "a \"b\"\\c", "--http-address", "off",
       "--drain-delay", "1500ms", "--insecure", "--reflection", "off", "--device", "cpu",
       "--max-message-bytes", "3MiB", "--log-format", "json"});
  EXPECT_TRUE(first.print_config);
  const ConfigFile file(PrintConfig(first.config, first.origins));
  EXPECT_EQ(Parse<ServeCommand>({"serve", "--config", file.path()}).config, first.config);
}

TEST(PrintConfigTest, NamesTheOriginOfEachValue) {
  const ServeCommand command =
      Parse<ServeCommand>({"serve", "--workers", "3"}, {{"MILLRACE_LOG_LEVEL", "debug"}});
  const std::string text = PrintConfig(command.config, command.origins);
  EXPECT_TRUE(Has(text, "workers = 3  # flag --workers\n")) << text;
  EXPECT_TRUE(Has(text, "log_level = \"debug\"  # env MILLRACE_LOG_LEVEL\n")) << text;
  EXPECT_TRUE(Has(text, "queue_size = 256  # default\n")) << text;
}

TEST(FlagsTest, BooleanTakesAValueOrNone) {
  EXPECT_TRUE(Parse<ServeCommand>({"serve", "--insecure"}).config.insecure);
  EXPECT_TRUE(Parse<ServeCommand>({"serve", "--insecure", "--workers", "2"}).config.insecure);
  EXPECT_FALSE(Parse<ServeCommand>({"serve", "--insecure=false"}).config.insecure);
  EXPECT_FALSE(Parse<ServeCommand>({"serve", "--reflection", "off"}).config.reflection);
}

TEST(FlagsTest, EmptyAddressIsNotServed) {
  EXPECT_EQ(Parse<ServeCommand>({"serve", "--http-address", ""}).config.http_address, "");
  EXPECT_EQ(Parse<ServeCommand>({"serve", "--metrics-address", "off"}).config.metrics_address, "");
}

TEST(FlagsTest, LastOneWins) {
  EXPECT_EQ(Parse<ServeCommand>({"serve", "--workers", "2", "--workers", "5"}).config.workers, 5);
}

TEST(FlagsTest, UnknownIsRefusedByNameWithTheNearest) {
  const EarlyExit exit = Refused({"serve", "--quue-size", "4"});
  EXPECT_EQ(exit.status, kExitUsage);
  EXPECT_TRUE(Has(exit.err, "unknown option --quue-size, did you mean --queue-size?")) << exit.err;
  EXPECT_TRUE(exit.out.empty());
  EXPECT_TRUE(Has(Refused({"serve", "--quue-size=4"}).err, "did you mean --queue-size?"));
  // Options with a short name are among the suggestions.
  EXPECT_TRUE(Has(Refused({"synthesize", "a", "--outptu", "b"}).err, "did you mean --output?"));
  EXPECT_TRUE(Has(Refused({"--verison"}).err, "did you mean --version?"));
  // An argument without a flag is none that could be meant.
  EXPECT_TRUE(Has(Refused({"translate", "Hi", "--text"}).err, "unknown option --text\n"));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"serve", "--models"}, {"translate", "Hi", "--target"}}) {
    EXPECT_TRUE(Has(Refused(command).err, command.back() + ": needs a value\n")) << command.back();
  }
  EXPECT_TRUE(Has(Refused({"serve", "extra"}).err, "unexpected argument extra"));
}

TEST(FlagsTest, WhatFollowsTwoDashesIsNoOption) {
  EXPECT_EQ(Parse<TranslateCommand>({"translate", "--model", "m", "--", "--insecure"}).text,
            "--insecure");
  EXPECT_EQ(Parse<SynthesizeCommand>({"synthesize", "-o", "x.wav", "--", "-h"}).text, "-h");
  EXPECT_EQ(Parse<TranslateCommand>({"translate", "a", "--"}).text, "a");
  EXPECT_TRUE(Has(Refused({"translate", "--", "a", "b"}).err, "unexpected argument b"));
  EXPECT_TRUE(Has(Refused({"translate", "--", "a", "--model", "m"}).err,
                  "unexpected argument --model; options stand before --\n"));
  EXPECT_TRUE(Has(Refused({"translate", "--insecure or not"}).err,
                  "unknown option --insecure or not; a text that begins with - stands behind --"));
}

TEST(FlagsTest, BadValueNamesOptionValueAndAllowed) {
  const EarlyExit exit = Refused({"serve", "--workers", "99"});
  EXPECT_EQ(exit.status, kExitUsage);
  EXPECT_TRUE(Has(exit.err, "--workers: '99' is not allowed, allowed: 0..31")) << exit.err;
  EXPECT_TRUE(
      Has(Refused({"serve"}, {{"MILLRACE_MODE", "fast"}}).err,
          "MILLRACE_MODE: 'fast' is not allowed, allowed: auto, parallel, encode-lock, serial"));
}

TEST(FlagsTest, AnEmptyValueIsNeitherTheNextArgumentNorTrue) {
  EXPECT_TRUE(Has(Refused({"serve", "--insecure="}).err, "--insecure= needs a value"));
  EXPECT_TRUE(Has(Refused({"serve", "--workers=", "2"}).err, "--workers= needs a value"));
  EXPECT_TRUE(Has(Refused({"synthesize", "--voice=", "Hi"}).err, "--voice= needs a value"));
  EXPECT_EQ(Parse<TranslateCommand>({"translate", "--", "--a="}).text, "--a=");
}

TEST(FlagsTest, MissingValueIsRefused) {
  const EarlyExit exit = Refused({"serve", "--workers"});
  EXPECT_EQ(exit.status, kExitUsage);
  EXPECT_TRUE(Has(exit.err, "--workers")) << exit.err;
}

TEST(FlagsTest, ExposedAddressIsRefused) {
  EXPECT_TRUE(Has(Refused({"serve", "--grpc-address", "0.0.0.0:8001"}).err, "--insecure"));
  EXPECT_EQ(Parse<ServeCommand>({"serve", "--grpc-address", "0.0.0.0:8001", "--insecure"})
                .config.grpc_address,
            "0.0.0.0:8001");
}

TEST(CommandsTest, CheckTakesTheOptionsOfServe) {
  EXPECT_EQ(Parse<CheckCommand>({"check", "--models", "m", "--workers", "4"}).config.workers, 4);
}

TEST(CommandsTest, UnknownIsRefusedWithTheNearest) {
  const EarlyExit exit = Refused({"serv"});
  EXPECT_EQ(exit.status, kExitUsage);
  EXPECT_TRUE(Has(exit.err, "unknown command serv, did you mean serve?")) << exit.err;
}

TEST(CommandsTest, NoneShowsTheHelpAsAUsageError) {
  const EarlyExit exit = Refused({});
  EXPECT_EQ(exit.status, kExitUsage);
  for (const char* command : {"serve", "check", "models", "translate", "synthesize", "bench-null",
                              "trace", "hash-key", "selftest", "usage", "version"}) {
    EXPECT_TRUE(Has(exit.err, command)) << command;
  }
}

TEST(CommandsTest, HelpGoesToStandardOutput) {
  const EarlyExit exit = Refused({"serve", "--help"});
  EXPECT_EQ(exit.status, kExitOk);
  EXPECT_TRUE(exit.err.empty());
  EXPECT_TRUE(Has(exit.out, "--queue-size N")) << exit.out;
  EXPECT_TRUE(Has(exit.out, "(default: 256)"));
  EXPECT_EQ(Refused({"--help"}).status, kExitOk);
}

TEST(CommandsTest, Selftest) {
  const SelftestCommand command =
      Parse<SelftestCommand>({"selftest", "--json", "--filter", "Stress", "--device", "cuda"});
  EXPECT_TRUE(command.json);
  EXPECT_FALSE(command.list);
  EXPECT_EQ(command.filter, "Stress");
  EXPECT_EQ(command.device, runtime::DeviceType::kCuda);
  EXPECT_EQ(command.require_patch_level, 0);
}

TEST(CommandsTest, SelftestMayRequireAKnownPatchLevel) {
  EXPECT_EQ(Parse<SelftestCommand>({"selftest", "--require-patch-level", "1"}).require_patch_level,
            1);
  for (const char* const level : {"-1", "2", "one"}) {
    const EarlyExit exit = Refused({"selftest", "--require-patch-level", level});
    EXPECT_EQ(exit.status, kExitUsage);
    EXPECT_TRUE(Has(exit.err, "--require-patch-level") && Has(exit.err, level)) << exit.err;
  }
}

TEST(CommandsTest, SelftestTakesTheDeviceFromTheEnvironmentWhenNoFlagNamesOne) {
  const Environment environment = {{"MILLRACE_DEVICE", "mps"}};
  EXPECT_EQ(Parse<SelftestCommand>({"selftest"}, environment).device, runtime::DeviceType::kMps);
  EXPECT_EQ(Parse<SelftestCommand>({"selftest", "--device", "cpu"}, environment).device,
            runtime::DeviceType::kCpu);
  EXPECT_EQ(Parse<SelftestCommand>({"selftest", "--device", "auto"}, environment).device,
            std::nullopt);
  for (const EarlyExit& exit : {Refused({"selftest", "--device", "gpu"}),
                                Refused({"selftest"}, {{"MILLRACE_DEVICE", "gpu"}})}) {
    EXPECT_EQ(exit.status, kExitUsage);
    EXPECT_TRUE(Has(exit.err, ": 'gpu' is not allowed, allowed: auto, cpu, cuda, mps")) << exit.err;
  }
}

// The file would be a pipe at worst, and the server program is to read it.
TEST(ClientProgramTest, LeavesTheConfigurationToTheServerProgram) {
  for (const char* command : {"serve", "check"}) {
    const auto parsed =
        ParseClientCommandLine(Arguments{command, "--config", "/nowhere/millrace.toml"}, {});
    EXPECT_TRUE(std::holds_alternative<Command>(parsed)) << command;
    EXPECT_EQ(Refused({command, "--config", "/nowhere/millrace.toml"}).status, kExitUsage);
  }
}

TEST(ClientProgramTest, ReadsTheConfigurationThatItPrints) {
  const Arguments print = {"serve", "--print-config", "--config"};
  const ConfigFile file("workers = 3\n");
  Arguments arguments = print;
  arguments.push_back(file.path());
  auto parsed = ParseClientCommandLine(arguments, {});
  ASSERT_TRUE(std::holds_alternative<Command>(parsed));
  const auto& command = std::get<ServeCommand>(std::get<Command>(parsed));
  EXPECT_TRUE(command.print_config);
  EXPECT_EQ(command.config.workers, 3);
  arguments.back() = "/nowhere/millrace.toml";
  parsed = ParseClientCommandLine(arguments, {});
  ASSERT_TRUE(std::holds_alternative<EarlyExit>(parsed));
  EXPECT_TRUE(Has(std::get<EarlyExit>(parsed).err, "/nowhere/millrace.toml"));
}

TEST(ClientProgramTest, RefusesWhatHasTheWrongForm) {
  for (const Arguments& arguments :
       {Arguments{"serve", "--wrokers", "2"}, Arguments{"check", "x"}, Arguments{"srve"},
        Arguments{"calibrate", "--repeats", "0"}, Arguments{"selftest", "--device", "gpu"}}) {
    const auto parsed = ParseClientCommandLine(arguments, {});
    ASSERT_TRUE(std::holds_alternative<EarlyExit>(parsed)) << arguments[0];
    EXPECT_EQ(std::get<EarlyExit>(parsed).status, kExitUsage);
    EXPECT_EQ(std::get<EarlyExit>(parsed).err, Refused(arguments).err);
  }
}

TEST(ClientProgramTest, KnowsHowServeIsToLog) {
  const auto format = [](const Arguments& arguments, const Environment& environment = {}) {
    return std::get<ServeCommand>(std::get<Command>(ParseClientCommandLine(arguments, environment)))
        .config.log_format;
  };
  EXPECT_EQ(format({"serve"}), LogFormat::kText);
  EXPECT_EQ(format({"serve", "--log-format", "json"}), LogFormat::kJson);
  EXPECT_EQ(format({"serve"}, {{"MILLRACE_LOG_FORMAT", "json"}}), LogFormat::kJson);
}

TEST(ClientProgramTest, KnowsTheExecutorsOfServeWhereTheyCanBeReadTwice) {
  const auto executors = [](const Arguments& arguments, const Environment& environment = {}) {
    return std::get<ServeCommand>(std::get<Command>(ParseClientCommandLine(arguments, environment)))
        .config.executors;
  };
  EXPECT_EQ(executors({"serve"}), 0);
  EXPECT_EQ(executors({"serve", "--executors", "2"}), 2);
  EXPECT_EQ(executors({"serve"}, {{"MILLRACE_EXECUTORS", "3"}}), 3);
  const ConfigFile file("executors = 4\n");
  EXPECT_EQ(executors({"serve", "--config", file.path()}), 4);
  EXPECT_EQ(executors({"serve"}, {{"MILLRACE_CONFIG", file.path()}}), 4);
  // The program that serves reads these.
  EXPECT_EQ(executors({"serve", "--executors", "1", "--config", "/dev/null"}), 0);
  EXPECT_EQ(executors({"serve", "--executors", "many"}), 0);
}

TEST(CommandsTest, Version) {
  Parse<VersionCommand>({"version"});
  Parse<VersionCommand>({"--version"});
  Parse<VersionCommand>({"-V"});
}

TEST(CommandsTest, HelpIsACommandToo) {
  const auto help = [](const Arguments& arguments) {
    const EarlyExit exit = Refused(arguments);
    EXPECT_EQ(exit.status, kExitOk) << exit.err;
    return exit.out;
  };
  EXPECT_EQ(help({"help"}), help({"--help"}));
  EXPECT_TRUE(Has(help({"help", "translate"}), "--detect ")) << help({"help", "translate"});
  EXPECT_FALSE(Has(help({"help", "translate"}), "Excludes"));
  EXPECT_EQ(help({"help", "load"}), help({"load", "--help"}));
  EXPECT_NE(help({"help", "load"}), help({"--help"}));
  for (const Arguments& arguments : {Arguments{"help", "transalte"}, {"transalte", "--help"}}) {
    const EarlyExit exit = Refused(arguments);
    EXPECT_EQ(exit.status, kExitUsage);
    EXPECT_TRUE(Has(exit.err, "unknown command transalte, did you mean translate?")) << exit.err;
  }
}

TEST(CommandsTest, Translate) {
  const TranslateCommand command =
      Parse<TranslateCommand>({"translate", "Good morning", "--model", "bergamot-en-pt",
                               "--address", "host:1", "--target", "pt", "--timeout", "5s"});
  EXPECT_EQ(command.text, "Good morning");
  EXPECT_EQ(command.model, "bergamot-en-pt");
  EXPECT_EQ(command.target_language, "pt");
  EXPECT_EQ(command.client.address, "host:1");
  EXPECT_EQ(command.client.timeout, std::chrono::seconds(5));
  EXPECT_EQ(command.beam_size, 0);
  EXPECT_EQ(Refused({"translate"}).status, kExitUsage);
  EXPECT_EQ(Refused({"translate", "a", "--beam-size", "17"}).status, kExitUsage);
  EXPECT_EQ(Refused({"translate", "a", "--format", "pdf"}).status, kExitUsage);
  const TranslateCommand options = Parse<TranslateCommand>(
      {"translate", "a", "--beam-size", "5", "--alternatives", "3", "--format", "html"});
  EXPECT_EQ(options.beam_size, 5);
  EXPECT_EQ(options.alternatives, 3);
  EXPECT_EQ(options.format, "html");
  EXPECT_TRUE(Parse<TranslateCommand>({"translate", "a", "--detect"}).detect);
  EXPECT_TRUE(Parse<TranslateCommand>({"translate", "--list-languages"}).list_languages);
  EXPECT_EQ(Refused({"translate", "a", "--list-languages"}).status, kExitUsage);
}

TEST(CommandsTest, OptionsOfTranslationsWithoutOneAreRefused) {
  const std::pair<const char*, const char*> options[] = {
      {"--model", "m"},    {"--source", "en"},   {"--target", "pt"},     {"--format", "text"},
      {"--glossary", "t"}, {"--beam-size", "2"}, {"--alternatives", "2"}};
  for (const auto& [option, value] : options) {
    const std::string excludes = std::string(option) + ": excludes ";
    EXPECT_TRUE(
        Has(Refused({"translate", "a", "--detect", option, value}).err, excludes + "--detect"))
        << option;
    EXPECT_TRUE(Has(Refused({"translate", "--list-languages", option, value}).err,
                    excludes + "--list-languages"))
        << option;
  }
}

TEST(CommandsTest, SynthesizeReadsADashAsText) {
  const SynthesizeCommand command =
      Parse<SynthesizeCommand>({"synthesize", "-", "-o", "-", "--speed", "1.5"});
  EXPECT_EQ(command.text, "-");
  EXPECT_EQ(command.output, "-");
  EXPECT_EQ(command.speed, 1.5F);
  EXPECT_EQ(Refused({"synthesize", "x", "--speed", "9"}).status, kExitUsage);
  EXPECT_EQ(Refused({"synthesize", "x", "--format", "aac"}).status, kExitUsage);
  EXPECT_EQ(Refused({"synthesize", "x", "--sample-rate", "7999"}).status, kExitUsage);
  const SynthesizeCommand opus =
      Parse<SynthesizeCommand>({"synthesize", "x", "--format", "opus", "--sample-rate", "48000"});
  EXPECT_EQ(opus.format, "opus");
  EXPECT_EQ(opus.sample_rate, 48000U);
}

TEST(CommandsTest, OptionsThatWouldHaveNoEffectAreRefused) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"synthesize", "x", "--play", "--format", "mp3"}, "--format: needs --output"},
      {{"synthesize", "x", "--play", "--sample-rate", "8000"}, "--sample-rate: needs --output"},
      {{"synthesize", "x", "--phonemes", "--text-format", "ssml"}, "excludes --phonemes"},
      {{"models", "--models", "m", "--address", "a:1"}, "--models: excludes --address"},
      {{"models", "--models", "m", "--tls-ca", "ca"}, "--models: excludes --tls-ca"},
      {{"models", "--models", "m", "--voices"}, "--models: excludes --voices"},
      {{"models", "--available", "--address", "a:1"}, "--available: excludes --address"},
  };
  for (const auto& [arguments, words] : cases) {
    const EarlyExit exit = Refused(arguments);
    EXPECT_EQ(exit.status, kExitUsage);
    EXPECT_TRUE(Has(exit.err, words)) << exit.err;
  }
  EXPECT_EQ(
      Parse<SynthesizeCommand>({"synthesize", "x", "--play", "-o", "y", "--format", "mp3"}).format,
      "mp3");
}

TEST(CommandsTest, SynthesizeWritesWhatItPlaysOnlyIfAsked) {
  EXPECT_EQ(Parse<SynthesizeCommand>({"synthesize", "x"}).output, "out.wav");
  const SynthesizeCommand played = Parse<SynthesizeCommand>({"synthesize", "x", "--play"});
  EXPECT_TRUE(played.play);
  EXPECT_EQ(played.output, "");
  EXPECT_EQ(Parse<SynthesizeCommand>({"synthesize", "x", "--play", "-o", "-"}).output, "-");
}

TEST(CommandsTest, AWrongValueIsNamedWithWhatIsAllowed) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"calibrate", "--repeats", "0"}, "--repeats: '0' is not allowed, allowed: 1..10000"},
      {{"calibrate", "--max-threads", "many"},
       "--max-threads: 'many' is not allowed, allowed: 1..31"},
      {{"calibrate", "--watchdog", "2h"}, "--watchdog: '2h' is not allowed, allowed: up to 1h"},
      {{"translate", "x", "--beam-size", "17"}, "--beam-size: '17' is not allowed, allowed: 1..16"},
      {{"translate", "x", "--alternatives", "1.5"},
       "--alternatives: '1.5' is not allowed, allowed: 1..15"},
      {{"translate", "x", "--format", "xml"},
       "--format: 'xml' is not allowed, allowed: text, html, markdown"},
      {{"synthesize", "x", "--speed", "nan"}, "--speed: 'nan' is not allowed, allowed: 0.25..4"},
      {{"synthesize", "x", "--sample-rate", "7999"},
       "--sample-rate: '7999' is not allowed, allowed: 8000..48000"},
      {{"synthesize", "x", "--text-format", ""},
       "--text-format: '' is not allowed, allowed: text, tags, ssml"},
      {{"bench-null", "--concurrency", "4097"},
       "--concurrency: '4097' is not allowed, allowed: 1..4096"},
      {{"trace", "--seconds", "0"}, "--seconds: '0' is not allowed, allowed: 1..3600"},
      {{"hash-key", "alice", "--role", "king"},
       "--role: 'king' is not allowed, allowed: user, admin"},
      {{"selftest", "--require-patch-level", "9"},
       "--require-patch-level: '9' is not allowed, allowed: 0..1"},
      {{"completion", "tcsh"}, "shell: 'tcsh' is not allowed, allowed: bash, zsh, fish"},
      {{"pull", "x", "--precision", "int4"},
       "--precision: 'int4' is not allowed, allowed: float32, bfloat16, int8, auto"},
      {{"models", "--address", "localhost:99999"},
       "--address: 'localhost:99999' is not allowed, allowed: host:port"},
      {{"load", "null", "--address", "http://localhost:8001"},
       "--address: 'http://localhost:8001'"},
      {{"usage", "--address", "localhost"}, "--address: 'localhost' is not allowed"},
      {{"unload", "null", "--address", "localhost:0"}, "port 1..65535"},
      {{"models", "--address", ":8001"}, "--address: ':8001' is not allowed, allowed: host:port"},
      {{"models", "--address", "unix:@a"}, "does not begin with @"},
      {{"synthesize", "x", "-o", ""}, "--output: '' is not allowed, allowed: a name"},
      {{"synthesize", "x", "--timestamps", ""}, "--timestamps: '' is not allowed"},
      {{"synthesize", "--file", ""}, "--file: '' is not allowed"},
      {{"translate", "x", "--glossary", ""}, "--glossary: '' is not allowed"},
      {{"trace", "-o", ""}, "--output: '' is not allowed"},
      {{"hash-key", "x", "--append", ""}, "--append: '' is not allowed"},
      {{"models", "--models", ""}, "--models: '' is not allowed"},
      {{"models", "--tls-ca", ""}, "--tls-ca: '' is not allowed"},
      {{"add", "a", "b"}, "path: is given more than once"},
      {{"translate", "--file", "a", "--file", "b"}, "--file: is given more than once"},
      {{"models", "--api-key", "a\nb"}, "--api-key: has a character that no header can carry"},
      {{"models", "--api-key", "\u00e9"}, "--api-key: has a character that no header can carry"},
      {{"convicted", "x"}, "crash: needs --clear"},
      {{""}, "unknown command ''"},
  };
  for (const auto& [arguments, words] : cases) {
    const EarlyExit exit = Refused(arguments);
    EXPECT_TRUE(Has(exit.err, words)) << exit.err;
  }
}

TEST(CommandsTest, AMisspeltOptionIsNamedWhateverItsValueIsTakenFor) {
  EXPECT_TRUE(
      Has(Refused({"translate", "--file", "a.txt", "-o", "b.txt"}).err, "unknown option -o"));
  EXPECT_TRUE(Has(Refused({"translate", "--flie", "a.txt", "--list-languages"}).err,
                  "unknown option --flie, did you mean --file?"));
}

TEST(CommandsTest, BenchNull) {
  const BenchNullCommand command = Parse<BenchNullCommand>(
      {"bench-null", "--concurrency", "8", "--duration", "250ms", "--warmup", "0"});
  EXPECT_EQ(command.concurrency, 8);
  EXPECT_EQ(command.duration, std::chrono::milliseconds(250));
  EXPECT_EQ(command.warmup, std::chrono::milliseconds(0));
  EXPECT_TRUE(Has(Refused({"bench-null", "--duration", "5"}).err, "'5' is not allowed"));
}

TEST(CommandsTest, Trace) {
  const TraceCommand defaults = Parse<TraceCommand>({"trace"});
  EXPECT_EQ(defaults.output, "trace.json");
  EXPECT_EQ(defaults.seconds, 5);
  const TraceCommand command =
      Parse<TraceCommand>({"trace", "-o", "-", "--seconds", "30", "--address", "a:1"});
  EXPECT_EQ(command.output, "-");
  EXPECT_EQ(command.seconds, 30);
  EXPECT_EQ(command.client.address, "a:1");
  EXPECT_EQ(Refused({"trace", "--seconds", "0"}).status, kExitUsage);
}

TEST(CommandsTest, ClientsReadTheirVariablesUnlessAFlagIsGiven) {
  const Environment environment = {{"MILLRACE_ADDRESS", "env:1"}, {"MILLRACE_API_KEY", "secret"}};
  EXPECT_EQ(Parse<ModelsCommand>({"models"}, environment).client.address, "env:1");
  EXPECT_EQ(Parse<ModelsCommand>({"models"}, environment).client.api_key, "secret");
  EXPECT_EQ(Parse<UsageCommand>({"usage"}, environment).client.api_key, "secret");
  EXPECT_EQ(Parse<ModelsCommand>({"models", "--address", "flag:1"}, environment).client.address,
            "flag:1");
}

}  // namespace
}  // namespace millrace
