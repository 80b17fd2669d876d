#include "server/config/clients_cli.h"

#include <algorithm>

#include "CLI/CLI.hpp"
#include "models/core/errors.h"
#include "mps_runtime/device_traits.h"
#include "mps_runtime/provenance.h"
#include "server/config/cli_checks.h"
#include "server/config/package_cli.h"
#include "server/config/values.h"
#include "server/net/address_policy.h"

namespace millrace {

namespace {

using Device = std::optional<runtime::DeviceType>;  // none: the best that is available

// The heading of the options that name a server.
constexpr char kConnection[] = "Connection";

absl::Status CheckServerAddress(const std::string& address) {
  const absl::StatusOr<ListenAddress> parsed = ParseListenAddress(address);
  const bool names_host = !address.starts_with(':') && !address.starts_with('*');
  if (parsed.ok() && (!parsed->socket_file.empty() || (names_host && parsed->tcp.port != 0)))
    return absl::OkStatus();
  return InvalidArgument("--address: '", address,
                         "' is not allowed, allowed: host:port or [v6]:port, port 1..65535, or ",
                         SocketAddressRule());
}

// Adds the option that names a file in place of the text. It stands before others in the command
// line or behind them.
void AddFile(CLI::App& command, CLI::Option& text, std::filesystem::path& file,
             const std::string& help) {
  CLI::Option* const option = Named(command.add_option_function<std::string>(
                                        "--file",
                                        [&file, &text](const std::string& name) {
                                          if (!file.empty())
                                            throw CLI::ArgumentMismatch::AtMost("--file", 1, 2);
                                          file = name;
                                          text.required(false);
                                        },
                                        help),
                                    "FILE");
  option->trigger_on_parse()->excludes(&text);
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
    const std::string group = kConnection;
    AddOption(command, "--address", client.address, "ADDR",
              "The server's gRPC address, host:port or unix:path (default: 127.0.0.1:8001)")
        ->group(group);
    AddOption(command, "--api-key", client.api_key, "KEY",
              "API key; better in MILLRACE_API_KEY, where `ps` does not show it")
        ->group(group);
    AddOption(command, "--tls-ca", client.tls_ca, "FILE", "Use TLS and trust this PEM certificate")
        ->group(group);
    AddOption(command, "--tls-cert", client.tls_cert, "FILE",
              "PEM certificate to show to the server")
        ->group(group);
    AddOption(command, "--tls-key", client.tls_key, "FILE", "PEM private key of it")->group(group);
    AddOption(command, "--timeout", timeout, "TIME",
              deadline == Deadline::kNone ? "Deadline of a call (default: none)"
                                          : "Deadline of a call (default: 1m)")
        ->check(DurationFrom(std::chrono::milliseconds(1)))
        ->group(group);
  }
};

ClientCommands::ClientCommands(CLI::App& app) : values_(std::make_unique<Values>()) {
  Values& v = *values_;

  CLI::App& calibrate = *app.add_subcommand(
      "calibrate", "Measure how many forwards at once this machine survives, for `serve`");
  AddOption(calibrate, "--models", v.calibrate.models, "DIR",
            "Model repository (default: var/models)");
  AddOption(calibrate, "--model", v.calibrate.only, "NAME",
            "Only this model of it, and the operators; may be repeated")
      ->take_all()
      ->allow_extra_args(false);
  AddOption(calibrate, "--device", v.calibrate_device, "NAME",
            "auto, cpu, cuda or mps (default: auto)");
  AddOption(calibrate, "--repeats", v.calibrate.repeats, "N",
            "Runs that a number of threads must survive, 1..10000 (default: 60, which miss a "
            "crash of 5 % a run in 5 of 100 calibrations; 135 in 1 of 1000)")
      ->check(Between(1, 10'000));
  AddOption(calibrate, "--max-threads", v.calibrate.max_threads, "N",
            "Most threads at once to try, 1..31 (default: as many as the device "
            "can make use of, which on the CPU is its cores)")
      ->check(Between(1, runtime::kWorkerSlots));
  AddOption(calibrate, "--watchdog", v.watchdog, "TIME",
            "A run that takes longer hangs, 1s..1h (default: 2m)")
      ->check(DurationFrom(std::chrono::seconds(1)))
      ->check(DurationUpTo(std::chrono::hours(1)));
  AddOption(calibrate, "-o,--output", v.calibrate.output, "FILE",
            "Profile to write (default: safety-profile.json in the folder of "
            "--models); what is done so far is kept beside it");
  calibrate.add_flag("--operators-only", v.calibrate.operators_only, "Leave the models out");

  CLI::App& models =
      *app.add_subcommand("models", "List the models of a running server, or of a folder");
  CLI::Option* const folder = AddOption(models, "--models", v.models.models, "DIR",
                                        "List this model repository instead of asking a server");
  CLI::Option* const voices = models.add_flag("--voices", v.models.voices,
                                              "List the voices, with their languages and models");
  models.add_flag("--json", v.models.json, "Print JSON");
  CLI::Option* const available =
      AddOption(models, "--available", v.packages.filter, "FILTER",
                "List the models that `millrace pull` can fetch instead, or those with "
                "this in their name or languages")
          ->expected(0, 1);
  v.AddClientOptions(models);
  // No server is asked with these, and folders do not tell of voices.
  for (CLI::Option* const option : models.get_options()) {
    if (option->get_group() != kConnection && option != voices) continue;
    folder->excludes(option);
    available->excludes(option);
  }

  AddPackageCommands(app, v.packages, [&v](CLI::App& command) {
    v.AddClientOptions(command, Values::Deadline::kNone);
  });

  CLI::App& load = *app.add_subcommand(
      "load", "Load a model of a running server's repository, or its new latest version");
  AddOption(load, "model", v.load.model, "MODEL", "Name of the model's folder")->required();
  v.AddClientOptions(load, Values::Deadline::kNone);

  CLI::App& unload =
      *app.add_subcommand("unload", "Take a model of a running server out of service");
  AddOption(unload, "model", v.unload.model, "MODEL", "Name of the model")->required();
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
  AddOption(convicted, "crash", v.convicted.crash, "CRASH",
            "With --clear: let only the request of this crash in again")
      ->needs(clear);
  convicted.add_flag("--json", v.convicted.json, "Print JSON");
  v.AddClientOptions(convicted);

  CLI::App& crashes = *app.add_subcommand(
      "crashes", "Show the reports that a server has written into its --crash-directory");
  AddOption(crashes, "id", v.crashes.id, "ID",
            "Show this one whole: an id of the list, or the name of a file");
  AddOption(crashes, "--crash-directory", v.crashes.folder, "DIR",
            "The server's folder of reports (default: MILLRACE_CRASH_DIRECTORY)");
  crashes.add_flag("--json", v.crashes.json, "Print JSON");

  CLI::App& translate = *app.add_subcommand("translate", "Translate a text with a running server");
  CLI::Option* text =
      AddOption(translate, "text", v.translate.text, "TEXT", "Text, or - for standard input")
          ->required();
  AddFile(
      translate, *text, v.translate.file,
      "Translate this file: a text, or a document such as .docx, .odt, .srt, .po or .json, which "
      "is printed with its texts translated");
  translate.add_flag("--json", v.translate.json, "Print JSON");
  CLI::Option* const of_translations[] = {
      AddOption(translate, "--model", v.translate.model, "NAME",
                "Model; without it the one that fits the languages"),
      AddOption(translate, "--source", v.translate.source_language, "LANG",
                "Language of the text, such as en; auto has it detected (default: that of the "
                "model that --model names or that alone translates into --target)"),
      AddOption(translate, "--target", v.translate.target_language, "LANG",
                "Language to translate to, such as pt (default: that of the model that --model "
                "names or that alone translates from --source)"),
      AddOption(translate, "--format", v.translate.format, "FORMAT",
                "What the text is: text, html or markdown (default: as the file's name ends, "
                "else text)")
          ->check(OneOf({"text", "html", "markdown"})),
      Named(translate.add_option_function<std::string>(
                "--glossary", [&v](const std::string& name) { v.translate.glossary = name; },
                "Translate the terms of this file as it says: on each line a term, a tab and its "
                "translation"),
            "FILE"),
      AddOption(translate, "--beam-size", v.translate.beam_size, "N",
                "Hypotheses that the search keeps, 1..16 (default: the model's)")
          ->check(Between(1, 16)),
      AddOption(translate, "--alternatives", v.translate.alternatives, "N",
                "Print so many other translations too, 1..15, each line with its "
                "score")
          ->check(Between(1, 15)),
  };
  CLI::Option* detect =
      translate.add_flag("--detect", v.translate.detect, "Only tell the language of the text");
  CLI::Option* const list_languages = translate.add_flag_callback(
      "--list-languages",
      [&v, text] {
        v.translate.list_languages = true;
        text->required(false);
      },
      "List what the server translates into what");
  list_languages->trigger_on_parse()->excludes(text)->excludes(detect);
  // These would have no effect.
  for (CLI::Option* const option : of_translations) {
    detect->excludes(option);
    list_languages->excludes(option);
  }
  v.AddClientOptions(translate, Values::Deadline::kNone);

  CLI::App& synthesize =
      *app.add_subcommand("synthesize", "Speak a text with a running server, into a file");
  CLI::Option* spoken =
      AddOption(synthesize, "text", v.synthesize.text, "TEXT", "Text, or - for standard input");
  spoken->required();
  AddFile(synthesize, *spoken, v.synthesize.file, "Take the text from this file");
  const CLI::Option* const output =
      AddOption(synthesize, "-o,--output", v.synthesize.output, "FILE",
                "File, or - for standard output (default: out.wav)");
  synthesize.add_flag("--play", v.synthesize.play,
                      "Play the speech while it comes, through aplay, ffplay, play (SoX) or mpv, "
                      "and write it only if -o is given");
  const CLI::Option* const format =
      AddOption(synthesize, "--format", v.synthesize.format, "FORMAT",
                "wav, flac, mp3, opus (in Ogg) or pcm (16 bit, little-endian, no "
                "header); without it as the file's name ends: .wav, .flac, .mp3, .opus or .ogg, "
                ".pcm or .raw; wav where it has no ending")
          ->check(OneOf({"wav", "flac", "mp3", "opus", "pcm"}));
  const CLI::Option* const sample_rate =
      AddOption(synthesize, "--sample-rate", v.synthesize.sample_rate, "HZ",
                "Hertz, 8000..48000; without it the voice's own")
          ->check(Between(8000, 48000));
  synthesize.final_callback([&v, output, format, sample_rate] {
    if (!v.synthesize.play || !output->empty()) return;
    v.synthesize.output.clear();
    // The speech that is played is neither encoded nor resampled.
    for (const CLI::Option* option : {format, sample_rate}) {
      if (!option->empty()) throw CLI::RequiresError(option->get_name(), "--output");
    }
  });
  AddOption(synthesize, "--model", v.synthesize.model, "NAME",
            "Model, or tts-1 and the like; without it the one that suits text and voice");
  AddOption(synthesize, "--voice", v.synthesize.voice, "NAME",
            "Voice, a mix such as a:0.3+b:0.7, or alloy and the like; without it the model's "
            "for the language");
  AddOption(synthesize, "--speed", v.synthesize.speed, "X",
            "0.25..4; 2 speaks twice as fast (default: 1)")
      ->check(Between(0.25, 4.0));
  AddOption(synthesize, "--language", v.synthesize.language, "LANG",
            "Of the text, such as ja or pt-BR; `millrace models` lists them "
            "(default: the text's where no model is named, else the model's)");
  CLI::Option* const text_format =
      AddOption(synthesize, "--text-format", v.synthesize.text_format, "FORMAT",
                "text, tags (plain text with [pause:1.5s] and such) or ssml "
                "(default: text)")
          ->check(OneOf({"text", "tags", "ssml"}));
  synthesize
      .add_flag("--phonemes", v.synthesize.phonemes,
                "The text is phonemes, in the model's own symbols")
      ->excludes(text_format);
  AddOption(synthesize, "--timestamps", v.synthesize.timestamps, "FILE",
            "Also write when each word is heard: WebVTT if the file ends in "
            ".vtt, with the phonemes as JSON if in .json");
  v.AddClientOptions(synthesize, Values::Deadline::kNone);

  CLI::App& bench =
      *app.add_subcommand("bench-null", "Measure a running server with its null model");
  AddOption(bench, "--model", v.bench.model, "NAME",
            "Generic model with INPUT0 FP32[64] (default: null)");
  AddOption(bench, "--concurrency", v.bench.concurrency, "N",
            "Calls at once, 1..4096 (default: 32)")
      ->check(Between(1, 4096));
  AddOption(bench, "--duration", v.bench_duration, "TIME", "How long to measure (default: 5s)")
      ->check(DurationFrom(std::chrono::milliseconds(100)));
  AddOption(bench, "--warmup", v.bench_warmup, "TIME", "How long to run before (default: 1s)")
      ->check(DurationFrom(std::chrono::milliseconds(0)));
  v.AddClientOptions(bench);

  CLI::App& trace = *app.add_subcommand(
      "trace", "Record what the workers of a running server do, for Chrome's trace viewer");
  AddOption(trace, "-o,--output", v.trace.output, "FILE",
            "File, or - for standard output (default: trace.json)");
  AddOption(trace, "--seconds", v.trace.seconds, "N", "How long, 1..3600 (default: 5)")
      ->check(Between(1, 3600));
  v.AddClientOptions(trace);

  CLI::App& hash_key = *app.add_subcommand("hash-key", "Make a line for the file of --api-keys");
  AddOption(hash_key, "name", v.hash_key.name, "NAME", "Whose key it is")->required();
  AddOption(hash_key, "--role", v.hash_key.role, "ROLE",
            "user, or admin for AdminService (default: user)")
      ->check(OneOf({"user", "admin"}));
  hash_key.add_flag(
      "--stdin", v.hash_key.from_stdin,
      "Read the key from standard input; without it a new one is made and shown once");
  AddOption(hash_key, "--append", v.hash_key.append, "FILE",
            "Add the line to this file instead of printing it; one that is not "
            "there is made, for its owner's eyes only");

  CLI::App& selftest = *app.add_subcommand(
      "selftest",
      "Test this machine's device and libtorch; for a bug report, attach what it prints");
  AddOption(selftest, "--device", v.selftest_device, "NAME",
            "auto, cpu, cuda or mps; auto is the best that is there (default: auto)");
  AddOption(selftest, "--filter", v.selftest.filter, "TEXT", "Only tests with this in their name");
  selftest.add_flag("--json", v.selftest.json, "Print one JSON document at the end");
  selftest.add_flag("--list", v.selftest.list,
                    "Print the tests and what each shows, without running them");
  AddOption(selftest, "--require-patch-level", v.selftest.require_patch_level, "N",
            "Fail unless libtorch's MPS backend is patched to at least this level "
            "(deploy/libtorch), 0 or 1 (default: 0)")
      ->check(Between(0, runtime::kMaxMpsPatchLevel));

  CLI::App& completion = *app.add_subcommand(
      "completion", "Print the completions of a shell, for example for `source <(...)` in bash");
  AddOption(completion, "shell", v.completion.shell, "SHELL", "bash, zsh or fish")
      ->required()
      ->check(OneOf({"bash", "zsh", "fish"}));

  app.add_subcommand("version", "Print the version");
}

ClientCommands::~ClientCommands() = default;

std::vector<std::string> ClientCommands::Choices(CLI::Option& option) {
  if (option.get_name() == "--device") return {"auto", "cpu", "cuda", "mps"};
  return WordsOf(option);
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
      return InvalidArgument(origin, ": '", device, "' is not allowed, allowed: auto, ",
                             runtime::DeviceNames(", "));
    }
    return parsed;
  };
  if (name == "selftest") {
    SelftestCommand selftest = values_->selftest;
    MILLRACE_ASSIGN_OR_RETURN(selftest.device, device_of(values_->selftest_device));
    return selftest;
  }
  const auto from_environment = [&](const char* flag, const char* variable, auto& field) {
    const auto found = environment.find(std::string_view(variable));
    if (subcommand.count(flag) == 0 && found != environment.end() && !found->second.empty())
      field = found->second;
  };
  if (name == "calibrate") {
    CalibrateCommand calibrate = values_->calibrate;
    MILLRACE_ASSIGN_OR_RETURN(calibrate.device, device_of(values_->calibrate_device));
    calibrate.watchdog = ParseDuration(values_->watchdog).value_or(calibrate.watchdog);
    // Serve's variables, so that both commands mean the same repository and file.
    from_environment("--models", "MILLRACE_MODELS", calibrate.models);
    from_environment("--output", "MILLRACE_SAFETY_PROFILE", calibrate.output);
    if (calibrate.output.empty()) calibrate.output = DefaultSafetyProfile(calibrate.models);
    if (calibrate.operators_only && !calibrate.only.empty()) {
      return InvalidArgument("--operators-only and --model: only one can be given");
    }
    return calibrate;
  }

  if (name == "crashes") {
    CrashesCommand crashes = values_->crashes;
    from_environment("--crash-directory", "MILLRACE_CRASH_DIRECTORY", crashes.folder);
    if (crashes.folder.empty())
      return InvalidArgument("--crash-directory: name the server's folder of reports");
    return crashes;
  }

  ClientOptions client = values_->client;
  client.timeout = ParseDuration(values_->timeout);
  const bool may_be_long = name == "translate" || name == "synthesize" || name == "load" ||
                           name == "unload" || name == "pull" || name == "add" || name == "remove";
  if (!client.timeout && !may_be_long) client.timeout = std::chrono::minutes(1);
  from_environment("--address", "MILLRACE_ADDRESS", client.address);
  MILLRACE_RETURN_IF_ERROR(CheckServerAddress(client.address));
  from_environment("--api-key", "MILLRACE_API_KEY", client.api_key);
  if (!std::ranges::all_of(client.api_key, [](char c) { return c >= ' ' && c <= '~'; })) {
    return InvalidArgument(
        "--api-key: has a character that no header can carry, such as a line's end, allowed: those "
        "of ASCII that are printed");
  }
  from_environment("--tls-ca", "MILLRACE_TLS_CA", client.tls_ca);
  if (client.tls_cert.empty() != client.tls_key.empty()) {
    return InvalidArgument("--tls-cert and --tls-key: one needs the other");
  }
  if (!client.tls_cert.empty() && client.tls_ca.empty()) {
    return InvalidArgument("--tls-cert: needs --tls-ca too");
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
    return MakePackageCommand(std::move(values), subcommand, client, environment);
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
