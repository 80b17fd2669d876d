#include "server/config/clients_cli.h"

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "models/core/strings.h"
#include "models/repository/model_sources.h"
#include "mps_runtime/device_traits.h"
#include "mps_runtime/provenance.h"
#include "server/config/values.h"

namespace millrace {

// The options of pull, add and remove, and of `models --available`, as they are parsed.
struct PackageValues {
  std::vector<std::string> names;  // names of models, or the path that is added
  std::string folder = "var/models";
  std::string as, precision, source, target, license, filter;
  bool license_ok = false, force = false, json = false;
};

namespace {

using Device = std::optional<runtime::DeviceType>;  // none: the best that is available

CLI::Validator DurationFrom(std::chrono::milliseconds low) {
  return CLI::Validator(
      [low](std::string& text) {
        const auto value = ParseDuration(text);
        if (value && *value >= low) return std::string();
        return StrCat("'", text, "' is not allowed, allowed: ", FormatDuration(low),
                      " or more, such as 250ms, 5s or 2m");
      },
      "");
}

CLI::Validator DurationUpTo(std::chrono::milliseconds high) {
  return CLI::Validator(
      [high](std::string& text) {
        const auto value = ParseDuration(text);
        if (!value || *value <= high) return std::string();
        return StrCat("'", text, "' is not allowed, allowed: up to ", FormatDuration(high));
      },
      "");
}

// Removes CLI11's own words from a check's help, because the option's text says what is allowed.
CLI::Validator Quiet(CLI::Validator check) { return check.description(""); }

// Allows some words. The check's name lists them for Choices.
CLI::Validator OneOf(const std::vector<std::string>& words) {
  return Quiet(CLI::IsMember(words)).name(absl::StrJoin(words, "|"));
}

// CLI::Range writes six decimals.
CLI::Validator Between(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        double value = 0;
        if (absl::SimpleAtod(text, &value) && value >= low && value <= high) return std::string();
        return StrCat("Value ", text, " not in range ", low, " to ", high);
      },
      "");
}

// Sets the placeholder that the help shows where CLI11 would print the type.
CLI::Option* Named(CLI::Option* option, const char* placeholder) {
  return option->type_name(placeholder);
}

// Adds the option that names a file in place of the text. It stands before others in the command
// line or behind them.
void AddFile(CLI::App& command, CLI::Option& text, std::filesystem::path& file,
             const std::string& help) {
  CLI::Option* const option = Named(command.add_option_function<std::string>(
                                        "--file",
                                        [&file, &text](const std::string& name) {
                                          file = name;
                                          text.required(false);
                                        },
                                        help),
                                    "FILE");
  option->trigger_on_parse()->excludes(&text);
}

// Adds what a package is made with, wherever its files come from.
void AddPackageOptions(CLI::App& command, PackageValues& values) {
  Named(command.add_option("--as", values.as, "Name of the model in the repository"), "NAME");
  Named(command.add_option("--precision", values.precision,
                           "Of Marian, M2M-100 and NLLB-200: float32, bfloat16, int8 or auto"),
        "NAME")
      ->check(OneOf({"float32", "bfloat16", "int8", "auto"}));
  Named(command.add_option("--source", values.source,
                           "Of a translator: the language of requests that name none"),
        "LANG");
  Named(command.add_option("--target", values.target,
                           "Of a translator: the language into which those are translated"),
        "LANG");
  command.add_flag("--force", values.force, "Replace a model of the same name");
}

void AddFolderAndJson(CLI::App& command, PackageValues& values) {
  Named(command.add_option("--models", values.folder, "Model repository (default: var/models)"),
        "DIR");
  command.add_flag("--json", values.json, "Print a JSON object a line");
}

// Returns the command line of the program millrace-models.
std::vector<std::string> ProgramArguments(const char* command, const PackageValues& values,
                                          const std::filesystem::path& folder) {
  std::vector<std::string> arguments = {command, StrCat("--models=", folder.string())};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) arguments.push_back(StrCat(flag, "=", value));
  };
  add("--as", values.as);
  add("--precision", values.precision);
  add("--source", values.source);
  add("--target", values.target);
  add("--license", values.license);
  if (values.license_ok) arguments.emplace_back("--license-ok");
  if (values.force) arguments.emplace_back("--force");
  if (values.json) arguments.emplace_back("--json");
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), values.names.begin(), values.names.end());
  return arguments;
}

}  // namespace

// Option values as they are parsed; durations are text until they are checked.
struct ClientCommands::Values {
  ClientOptions client;
  std::string timeout;
  ModelsCommand models;
  PackageValues packages;
  LoadCommand load;
  UnloadCommand unload;
  UsageCommand usage;
  ConvictedCommand convicted;
  CrashesCommand crashes;
  TranslateCommand translate;
  SynthesizeCommand synthesize;
  BenchNullCommand bench;
  std::string bench_duration = "5s";
  std::string bench_warmup = "1s";
  TraceCommand trace;
  HashKeyCommand hash_key;
  CompletionCommand completion;
  SelftestCommand selftest;
  std::string selftest_device = "auto";
  CalibrateCommand calibrate;
  std::string calibrate_device = "auto";
  std::string watchdog = "2m";

  // Commands whose work may be long have no deadline.
  enum class Deadline : uint8_t { kMinute, kNone };
  void AddClientOptions(CLI::App& command, Deadline deadline = Deadline::kMinute) {
    const std::string group = "Connection";
    Named(command.add_option(
              "--address", client.address,
              "The server's gRPC address, host:port or unix:path (default: 127.0.0.1:8001)"),
          "ADDR")
        ->group(group);
    Named(command.add_option("--api-key", client.api_key,
                             "API key; better in MILLRACE_API_KEY, where `ps` does not show it"),
          "KEY")
        ->group(group);
    Named(command.add_option("--tls-ca", client.tls_ca, "Use TLS and trust this PEM certificate"),
          "FILE")
        ->group(group);
    Named(
        command.add_option("--tls-cert", client.tls_cert, "PEM certificate to show to the server"),
        "FILE")
        ->group(group);
    Named(command.add_option("--tls-key", client.tls_key, "PEM private key of it"), "FILE")
        ->group(group);
    Named(command.add_option("--timeout", timeout,
                             deadline == Deadline::kNone ? "Deadline of a call (default: none)"
                                                         : "Deadline of a call (default: 1m)"),
          "TIME")
        ->check(DurationFrom(std::chrono::milliseconds(1)))
        ->group(group);
  }
};

ClientCommands::ClientCommands(CLI::App& app) : values_(std::make_unique<Values>()) {
  Values& v = *values_;

  CLI::App& calibrate = *app.add_subcommand(
      "calibrate", "Measure how many forwards at once this machine survives, for `serve`");
  Named(calibrate.add_option("--models", v.calibrate.models,
                             "Model repository (default: var/models)"),
        "DIR");
  Named(calibrate.add_option("--model", v.calibrate.only,
                             "Only this model of it, and the operators; may be repeated"),
        "NAME")
      ->take_all()
      ->allow_extra_args(false);
  Named(calibrate.add_option("--device", v.calibrate_device,
                             "auto, cpu, cuda or mps (default: auto)"),
        "NAME");
  Named(calibrate.add_option(
            "--repeats", v.calibrate.repeats,
            "Runs that a number of threads must survive, 1..10000 (default: 60, which miss a "
            "crash of 5 % a run in 5 of 100 calibrations; 135 in 1 of 1000)"),
        "N")
      ->check(Quiet(CLI::Range(1, 10'000)));
  Named(calibrate.add_option("--max-threads", v.calibrate.max_threads,
                             "Most threads at once to try, 1..31 (default: as many as the device "
                             "can make use of, which on the CPU is its cores)"),
        "N")
      ->check(Quiet(CLI::Range(1, runtime::kWorkerSlots)));
  Named(calibrate.add_option("--watchdog", v.watchdog,
                             "A run that takes longer hangs, 1s..1h (default: 2m)"),
        "TIME")
      ->check(DurationFrom(std::chrono::seconds(1)))
      ->check(DurationUpTo(std::chrono::hours(1)));
  Named(calibrate.add_option("-o,--output", v.calibrate.output,
                             "Profile to write (default: safety-profile.json in the folder of "
                             "--models); what is done so far is kept beside it"),
        "FILE");
  calibrate.add_flag("--operators-only", v.calibrate.operators_only, "Leave the models out");

  CLI::App& models =
      *app.add_subcommand("models", "List the models of a running server, or of a folder");
  Named(models.add_option("--models", v.models.models,
                          "List this model repository instead of asking a server"),
        "DIR");
  models.add_flag("--voices", v.models.voices, "List the voices, with their languages and models");
  models.add_flag("--json", v.models.json, "Print JSON");
  Named(models.add_option("--available", v.packages.filter,
                          "List the models that `millrace pull` can fetch instead, or those with "
                          "this in their name or languages"),
        "FILTER")
      ->expected(0, 1);
  v.AddClientOptions(models);

  CLI::App& pull = *app.add_subcommand(
      "pull", "Fetch published models by name into a repository; a running server serves them");
  Named(pull.add_option("name", v.packages.names,
                        "Such as piper/en_US-lessac-medium, firefox/en-de, firefox/de (both "
                        "directions), kokoro-82m, opus-mt-en-de, hf:OWNER/REPOSITORY[@REVISION]; "
                        "`millrace models --available` lists them"),
        "NAME")
      ->required();
  pull.add_flag("--license-ok", v.packages.license_ok,
                "Accept a licence that allows no commercial use");
  AddPackageOptions(pull, v.packages);
  AddFolderAndJson(pull, v.packages);
  v.AddClientOptions(pull, Values::Deadline::kNone);

  CLI::App& add = *app.add_subcommand(
      "add", "Add a model whose files are there to a repository; a running server serves it");
  Named(add.add_option("path", v.packages.names,
                       "Folder, zip or tar file, or the .onnx file of a voice"),
        "PATH")
      ->required()
      ->expected(1);
  Named(add.add_option("--license", v.packages.license,
                       "SPDX expression of the weights' licence (default: NOASSERTION)"),
        "SPDX");
  AddPackageOptions(add, v.packages);
  AddFolderAndJson(add, v.packages);
  v.AddClientOptions(add, Values::Deadline::kNone);

  CLI::App& remove = *app.add_subcommand(
      "remove", "Remove models from a repository, and from the server that serves it");
  Named(remove.add_option("name", v.packages.names,
                          "Name of the model's folder, or the name that it was pulled by"),
        "MODEL")
      ->required();
  AddFolderAndJson(remove, v.packages);
  v.AddClientOptions(remove, Values::Deadline::kNone);

  CLI::App& load = *app.add_subcommand(
      "load", "Load a model of a running server's repository, or its new latest version");
  Named(load.add_option("model", v.load.model, "Name of the model's folder"), "MODEL")->required();
  v.AddClientOptions(load, Values::Deadline::kNone);

  CLI::App& unload =
      *app.add_subcommand("unload", "Take a model of a running server out of service");
  Named(unload.add_option("model", v.unload.model, "Name of the model"), "MODEL")->required();
  v.AddClientOptions(unload, Values::Deadline::kNone);

  CLI::App& usage = *app.add_subcommand(
      "usage",
      "Show what each API key has used of a running server, and what is left of its limits");
  usage.add_flag("--json", v.usage.json, "Print JSON");
  v.AddClientOptions(usage);

  CLI::App& convicted = *app.add_subcommand(
      "convicted",
      "List the requests that a running server refuses because they have ended executors, or let "
      "them in again");
  CLI::Option* const clear = convicted.add_flag("--clear", v.convicted.clear,
                                                "Let all of them in again, or that of CRASH");
  Named(convicted.add_option("crash", v.convicted.crash,
                             "With --clear: let only the request of this crash in again"),
        "CRASH")
      ->needs(clear);
  convicted.add_flag("--json", v.convicted.json, "Print JSON");
  v.AddClientOptions(convicted);

  CLI::App& crashes = *app.add_subcommand(
      "crashes", "Show the reports that a server has written into its --crash-directory");
  Named(crashes.add_option("id", v.crashes.id,
                           "Show this one whole: an id of the list, or the name of a file"),
        "ID");
  Named(crashes.add_option("--crash-directory", v.crashes.folder,
                           "The server's folder of reports (default: MILLRACE_CRASH_DIRECTORY)"),
        "DIR");
  crashes.add_flag("--json", v.crashes.json, "Print JSON");

  CLI::App& translate = *app.add_subcommand("translate", "Translate a text with a running server");
  CLI::Option* text =
      Named(translate.add_option("text", v.translate.text, "Text, or - for standard input"), "TEXT")
          ->required();
  AddFile(
      translate, *text, v.translate.file,
      "Translate this file: a text, or a document such as .docx, .odt, .srt, .po or .json, which "
      "is printed with its texts translated");
  translate.add_flag("--json", v.translate.json, "Print JSON");
  Named(translate.add_option("--model", v.translate.model,
                             "Model; without it the one that fits the languages"),
        "NAME");
  Named(translate.add_option("--source", v.translate.source_language,
                             "Language of the text, such as en; auto has it detected"),
        "LANG");
  Named(translate.add_option("--target", v.translate.target_language,
                             "Language to translate to, such as pt"),
        "LANG");
  Named(translate.add_option(
            "--format", v.translate.format,
            "What the text is: text, html or markdown (default: as the file's name ends, "
            "else text)"),
        "FORMAT")
      ->check(OneOf({"text", "html", "markdown"}));
  Named(translate.add_option_function<std::string>(
            "--glossary", [&v](const std::string& name) { v.translate.glossary = name; },
            "Translate the terms of this file as it says: on each line a term, a tab and its "
            "translation"),
        "FILE");
  Named(translate.add_option("--beam-size", v.translate.beam_size,
                             "Hypotheses that the search keeps, 1..16 (default: the model's)"),
        "N")
      ->check(Quiet(CLI::Range(1, 16)));
  Named(translate.add_option("--alternatives", v.translate.alternatives,
                             "Print so many other translations too, 1..15, each line with its "
                             "score"),
        "N")
      ->check(Quiet(CLI::Range(1, 15)));
  CLI::Option* detect =
      translate.add_flag("--detect", v.translate.detect, "Only tell the language of the text");
  translate
      .add_flag_callback(
          "--list-languages",
          [&v, text] {
            v.translate.list_languages = true;
            text->required(false);
          },
          "List what the server translates into what")
      ->trigger_on_parse()
      ->excludes(text)
      ->excludes(detect);
  v.AddClientOptions(translate, Values::Deadline::kNone);

  CLI::App& synthesize =
      *app.add_subcommand("synthesize", "Speak a text with a running server, into a file");
  CLI::Option* spoken = Named(
      synthesize.add_option("text", v.synthesize.text, "Text, or - for standard input"), "TEXT");
  spoken->required();
  AddFile(synthesize, *spoken, v.synthesize.file, "Take the text from this file");
  const CLI::Option* const output =
      Named(synthesize.add_option("-o,--output", v.synthesize.output,
                                  "File, or - for standard output (default: out.wav)"),
            "FILE");
  synthesize.add_flag("--play", v.synthesize.play,
                      "Play the speech while it comes, through aplay, ffplay, play (SoX) or mpv, "
                      "and write it only if -o is given");
  synthesize.final_callback([&v, output] {
    if (v.synthesize.play && output->empty()) v.synthesize.output.clear();
  });
  Named(synthesize.add_option(
            "--format", v.synthesize.format,
            "wav, flac, mp3, opus (in Ogg) or pcm (16 bit, little-endian, no "
            "header); without it as the file's name ends: .wav, .flac, .mp3, .opus or .ogg, "
            ".pcm or .raw; wav where it has no ending"),
        "FORMAT")
      ->check(OneOf({"wav", "flac", "mp3", "opus", "pcm"}));
  Named(synthesize.add_option("--sample-rate", v.synthesize.sample_rate,
                              "Hertz, 8000..48000; without it the voice's own"),
        "HZ")
      ->check(Quiet(CLI::Range(8000, 48000)));
  Named(synthesize.add_option(
            "--model", v.synthesize.model,
            "Model, or tts-1 and the like; without it the one that suits text and voice"),
        "NAME");
  Named(synthesize.add_option(
            "--voice", v.synthesize.voice,
            "Voice, a mix such as a:0.3+b:0.7, or alloy and the like; without it the model's "
            "for the language"),
        "NAME");
  Named(synthesize.add_option("--speed", v.synthesize.speed,
                              "0.25..4; 2 speaks twice as fast (default: 1)"),
        "X")
      ->check(Between(0.25, 4));
  Named(synthesize.add_option("--language", v.synthesize.language,
                              "Of the text, such as ja or pt-BR; `millrace models` lists them "
                              "(default: the text's where no model is named, else the model's)"),
        "LANG");
  Named(synthesize.add_option("--text-format", v.synthesize.text_format,
                              "text, tags (plain text with [pause:1.5s] and such) or ssml "
                              "(default: text)"),
        "FORMAT")
      ->check(OneOf({"text", "tags", "ssml"}));
  synthesize.add_flag("--phonemes", v.synthesize.phonemes,
                      "The text is phonemes, in the model's own symbols");
  Named(synthesize.add_option("--timestamps", v.synthesize.timestamps,
                              "Also write when each word is heard: WebVTT if the file ends in "
                              ".vtt, with the phonemes as JSON if in .json"),
        "FILE");
  v.AddClientOptions(synthesize, Values::Deadline::kNone);

  CLI::App& bench =
      *app.add_subcommand("bench-null", "Measure a running server with its null model");
  Named(bench.add_option("--model", v.bench.model,
                         "Generic model with INPUT0 FP32[64] (default: null)"),
        "NAME");
  Named(bench.add_option("--concurrency", v.bench.concurrency,
                         "Calls at once, 1..4096 (default: 32)"),
        "N")
      ->check(Quiet(CLI::Range(1, 4096)));
  Named(bench.add_option("--duration", v.bench_duration, "How long to measure (default: 5s)"),
        "TIME")
      ->check(DurationFrom(std::chrono::milliseconds(100)));
  Named(bench.add_option("--warmup", v.bench_warmup, "How long to run before (default: 1s)"),
        "TIME")
      ->check(DurationFrom(std::chrono::milliseconds(0)));
  v.AddClientOptions(bench);

  CLI::App& trace = *app.add_subcommand(
      "trace", "Record what the workers of a running server do, for Chrome's trace viewer");
  Named(trace.add_option("-o,--output", v.trace.output,
                         "File, or - for standard output (default: trace.json)"),
        "FILE");
  Named(trace.add_option("--seconds", v.trace.seconds, "How long, 1..3600 (default: 5)"), "N")
      ->check(Quiet(CLI::Range(1, 3600)));
  v.AddClientOptions(trace);

  CLI::App& hash_key = *app.add_subcommand("hash-key", "Make a line for the file of --api-keys");
  Named(hash_key.add_option("name", v.hash_key.name, "Whose key it is"), "NAME")->required();
  Named(hash_key.add_option("--role", v.hash_key.role,
                            "user, or admin for AdminService (default: user)"),
        "ROLE")
      ->check(OneOf({"user", "admin"}));
  hash_key.add_flag(
      "--stdin", v.hash_key.from_stdin,
      "Read the key from standard input; without it a new one is made and shown once");
  Named(hash_key.add_option("--append", v.hash_key.append,
                            "Add the line to this file instead of printing it; one that is not "
                            "there is made, for its owner's eyes only"),
        "FILE");

  CLI::App& selftest = *app.add_subcommand(
      "selftest",
      "Test this machine's device and libtorch; for a bug report, attach what it prints");
  Named(
      selftest.add_option("--device", v.selftest_device,
                          "auto, cpu, cuda or mps; auto is the best that is there (default: auto)"),
      "NAME");
  Named(selftest.add_option("--filter", v.selftest.filter, "Only tests with this in their name"),
        "TEXT");
  selftest.add_flag("--json", v.selftest.json, "Print one JSON document at the end");
  selftest.add_flag("--list", v.selftest.list,
                    "Print the tests and what each shows, without running them");
  Named(selftest.add_option("--require-patch-level", v.selftest.require_patch_level,
                            "Fail unless libtorch's MPS backend is patched to at least this level "
                            "(deploy/libtorch), 0 or 1 (default: 0)"),
        "N")
      ->check(Quiet(CLI::Range(0, runtime::kMaxMpsPatchLevel)));

  CLI::App& completion = *app.add_subcommand(
      "completion", "Print the completions of a shell, for example for `source <(...)` in bash");
  Named(completion.add_option("shell", v.completion.shell, "bash, zsh or fish"), "SHELL")
      ->required()
      ->check(OneOf({"bash", "zsh", "fish"}));

  app.add_subcommand("version", "Print the version");
}

ClientCommands::~ClientCommands() = default;

std::vector<std::string> ClientCommands::Choices(CLI::Option& option) {
  if (option.get_name() == "--device") return {"auto", "cpu", "cuda", "mps"};
  try {
    const std::string& words = option.get_validator(0)->get_name();
    if (!words.empty()) return absl::StrSplit(words, '|');
  } catch (const CLI::OptionNotFound&) {
    // It has no check.
  }
  return {};
}

absl::StatusOr<Command> ClientCommands::Parsed(const CLI::App& subcommand,
                                               const Environment& environment) const {
  const std::string name = subcommand.get_name();
  if (name == "version") return VersionCommand{};
  if (name == "hash-key") return values_->hash_key;
  if (name == "completion") return values_->completion;
  const auto device_of = [&](std::string device) -> absl::StatusOr<Device> {
    const char* origin = "--device";
    const auto variable = environment.find("MILLRACE_DEVICE");
    if (subcommand.count("--device") == 0 && variable != environment.end() &&
        !variable->second.empty()) {
      device = variable->second;
      origin = "MILLRACE_DEVICE";
    }
    const Device parsed = runtime::ParseDeviceType(device);
    if (!parsed && device != "auto") {
      return absl::InvalidArgumentError(StrCat(
          origin, ": '", device, "' is not allowed, allowed: auto, ", runtime::DeviceNames(", ")));
    }
    return parsed;
  };
  if (name == "selftest") {
    SelftestCommand selftest = values_->selftest;
    const absl::StatusOr<Device> device = device_of(values_->selftest_device);
    if (!device.ok()) return device.status();
    selftest.device = *device;
    return selftest;
  }
  const auto from_environment = [&](const char* flag, const char* variable, auto& field) {
    const auto found = environment.find(std::string_view(variable));
    if (subcommand.count(flag) == 0 && found != environment.end() && !found->second.empty())
      field = found->second;
  };
  if (name == "calibrate") {
    CalibrateCommand calibrate = values_->calibrate;
    const absl::StatusOr<Device> device = device_of(values_->calibrate_device);
    if (!device.ok()) return device.status();
    calibrate.device = *device;
    calibrate.watchdog = ParseDuration(values_->watchdog).value_or(calibrate.watchdog);
    // Serve's variables, so that both commands mean the same repository and file.
    from_environment("--models", "MILLRACE_MODELS", calibrate.models);
    from_environment("--output", "MILLRACE_SAFETY_PROFILE", calibrate.output);
    if (calibrate.output.empty()) calibrate.output = DefaultSafetyProfile(calibrate.models);
    if (calibrate.operators_only && !calibrate.only.empty()) {
      return absl::InvalidArgumentError("--operators-only and --model: only one can be given");
    }
    return calibrate;
  }

  if (name == "crashes") {
    CrashesCommand crashes = values_->crashes;
    from_environment("--crash-directory", "MILLRACE_CRASH_DIRECTORY", crashes.folder);
    if (crashes.folder.empty())
      return absl::InvalidArgumentError("--crash-directory: name the server's folder of reports");
    return crashes;
  }

  ClientOptions client = values_->client;
  client.timeout = ParseDuration(values_->timeout);
  const bool may_be_long = name == "translate" || name == "synthesize" || name == "load" ||
                           name == "unload" || name == "pull" || name == "add" || name == "remove";
  if (!client.timeout && !may_be_long) client.timeout = std::chrono::minutes(1);
  from_environment("--address", "MILLRACE_ADDRESS", client.address);
  from_environment("--api-key", "MILLRACE_API_KEY", client.api_key);
  from_environment("--tls-ca", "MILLRACE_TLS_CA", client.tls_ca);
  if (client.tls_cert.empty() != client.tls_key.empty()) {
    return absl::InvalidArgumentError("--tls-cert and --tls-key: one needs the other");
  }
  if (!client.tls_cert.empty() && client.tls_ca.empty()) {
    return absl::InvalidArgumentError("--tls-cert: needs --tls-ca too");
  }
  const auto with_client = [&](auto command) -> Command {
    command.client = client;
    return command;
  };
  const bool available = name == "models" && subcommand.count("--available") > 0;
  if (available || name == "pull" || name == "add" || name == "remove") {
    PackageValues values = values_->packages;
    if (available) {
      if (subcommand.count("--models") > 0) values.folder = values_->models.models.string();
      values.json = values_->models.json;
      if (!values.filter.empty()) values.names = {values.filter};
    }
    const char* origin = "--models";
    if (const auto variable = environment.find("MILLRACE_MODELS");
        subcommand.count("--models") == 0 && variable != environment.end() &&
        !variable->second.empty()) {
      values.folder = variable->second;
      origin = "MILLRACE_MODELS";
    }
    const auto folder = models::FolderForNewModels(values.folder);
    if (!folder.ok())
      return absl::InvalidArgumentError(StrCat(origin, ": ", folder.status().message()));
    using Kind = PackageCommand::Kind;
    const Kind kind = available        ? Kind::kAvailable
                      : name == "pull" ? Kind::kPull
                      : name == "add"  ? Kind::kAdd
                                       : Kind::kRemove;
    return PackageCommand{
        .kind = kind,
        .client = client,
        .names_server =
            subcommand.count("--address") > 0 || (environment.contains("MILLRACE_ADDRESS") &&
                                                  !environment.at("MILLRACE_ADDRESS").empty()),
        .models = *folder,
        .arguments = ProgramArguments(available ? "available" : name.c_str(), values, *folder),
        .json = values.json};
  }
  if (name == "models") return with_client(values_->models);
  if (name == "load") return with_client(values_->load);
  if (name == "unload") return with_client(values_->unload);
  if (name == "usage") return with_client(values_->usage);
  if (name == "convicted") return with_client(values_->convicted);
  if (name == "translate") return with_client(values_->translate);
  if (name == "synthesize") return with_client(values_->synthesize);
  if (name == "trace") return with_client(values_->trace);
  BenchNullCommand bench = values_->bench;
  bench.duration = ParseDuration(values_->bench_duration).value_or(bench.duration);
  bench.warmup = ParseDuration(values_->bench_warmup).value_or(bench.warmup);
  return with_client(bench);
}

}  // namespace millrace
