#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mps_runtime/stream.h"
#include "server/config/server_config.h"

namespace millrace {

// The origin of each value, by option name: "default", "flag --x", "env MILLRACE_X" or "file
// conf.toml:3".
using Origins = std::map<std::string, std::string, std::less<>>;

struct ServeCommand {
  ServerConfig config;
  Origins origins;
  bool print_config = false;
};

// `millrace check`, which takes the options of serve.
struct CheckCommand {
  ServerConfig config;
};

// `millrace calibrate`, which measures how many concurrent forwards this machine survives.
struct CalibrateCommand {
  std::filesystem::path models = "var/models";
  std::vector<std::string> only;              // names of models; empty: all of them
  std::optional<runtime::DeviceType> device;  // empty: the best that is available
  int repeats = 60;                           // 1..10000
  int max_threads = 0;                        // 1..31; 0: as many as the device can use
  std::chrono::milliseconds watchdog = std::chrono::minutes(2);  // for one run
  std::filesystem::path output;  // empty: where serve looks for the profile of these models
  bool operators_only = false;
};

// The address and credentials with which a client connects to a server.
struct ClientOptions {
  std::string address = "127.0.0.1:8001";
  std::string api_key;             // empty: none is sent
  std::filesystem::path tls_ca;    // set: TLS, trusting this certificate
  std::filesystem::path tls_cert;  // both set: mutual TLS
  std::filesystem::path tls_key;
  std::optional<std::chrono::milliseconds> timeout;  // a call's timeout; none: no deadline
};

struct ModelsCommand {
  ClientOptions client;
  std::filesystem::path models;  // set: list this folder instead of asking a server
  bool voices = false;           // list the voices instead
  bool json = false;
};

// `millrace pull`, `add` and `remove`, which change a repository by the program millrace-models and
// tell the server that serves it; and `millrace models --available`, which only lists.
struct PackageCommand {
  enum class Kind : uint8_t { kPull, kAdd, kRemove, kAvailable };

  Kind kind = Kind::kPull;
  ClientOptions client;
  bool names_server = false;  // a server was named, so one must be there
  std::filesystem::path models;
  std::vector<std::string> arguments;  // the program's
  bool json = false;
};

// `millrace load`, which has a server load a model of its repository.
struct LoadCommand {
  ClientOptions client;
  std::string model;
};

// `millrace unload`, which has a server take a model out of service.
struct UnloadCommand {
  ClientOptions client;
  std::string model;
};

// `millrace usage`, which asks a server what each API key has used.
struct UsageCommand {
  ClientOptions client;
  bool json = false;
};

// `millrace convicted`, which lists the requests that a server refuses because they have ended
// executors, and lets them in again.
struct ConvictedCommand {
  ClientOptions client;
  bool clear = false;
  std::string crash;  // clears the request of this one; empty: all
  bool json = false;
};

// `millrace crashes`, which shows the reports in a folder of --crash-directory.
struct CrashesCommand {
  std::filesystem::path folder;
  std::string id;  // shows the newest of this id or file name whole; empty: lists all
  bool json = false;
};

struct TranslateCommand {
  ClientOptions client;
  std::string text;  // "-": standard input
  std::string model;
  std::string source_language;
  std::string target_language;
  std::string format = {};      // text, html or markdown; empty: by the name of the file
  int beam_size = 0;            // 0: the model's
  int alternatives = 0;         // printed beside the translation
  bool detect = false;          // print the text's language instead
  bool list_languages = false;  // list the server's language pairs instead
  bool json = false;
  std::filesystem::path file = {};      // set: it holds the text
  std::filesystem::path glossary = {};  // set: lines of a source, a tab and its translation
};

struct SynthesizeCommand {
  ClientOptions client;
  std::string text;                // "-": standard input
  std::string output = "out.wav";  // "-": standard output; empty: none, but it is played
  bool play = false;               // through a program that plays sound
  std::string format;              // mp3, opus, flac, wav or pcm; empty: by the output's extension
  uint32_t sample_rate = 0;        // hertz; 0: the voice's own
  std::string model;
  std::string voice;
  float speed = 1.0F;
  std::string language;             // BCP 47; empty: the model's default
  std::string text_format;          // text, tags or ssml; empty: text
  bool phonemes = false;            // the text is phonemes in the model's symbols
  std::string timestamps;           // file that ends in .vtt or .json; empty: none
  std::filesystem::path file = {};  // set: it holds the text
};

struct BenchNullCommand {
  ClientOptions client;
  std::string model = "null";
  int concurrency = 32;  // 1..4096
  std::chrono::milliseconds duration = std::chrono::seconds(5);
  std::chrono::milliseconds warmup = std::chrono::seconds(1);
};

// `millrace trace`, which records the steps of a server's workers.
struct TraceCommand {
  ClientOptions client;
  std::string output = "trace.json";  // "-": standard output
  int seconds = 5;                    // 1..3600
};

// `millrace hash-key`, which makes a line for the file of --api-keys.
struct HashKeyCommand {
  std::string name;
  std::string role = "user";
  bool from_stdin = false;       // read the key; otherwise make a new one and show it
  std::filesystem::path append;  // file to add the line to; empty: print it
};

// `millrace selftest`, which tests the device and libtorch of this machine without a server.
struct SelftestCommand {
  std::optional<runtime::DeviceType> device;  // none: the best that is available
  std::string filter;                         // part of the names of the tests to run; empty: all
  bool json = false;
  bool list = false;            // print only the names of the tests
  int require_patch_level = 0;  // libtorch must have this much; see runtime::Provenance
};

// `millrace completion`, which prints the completions of a shell.
struct CompletionCommand {
  std::string shell;  // bash, zsh or fish
};

struct VersionCommand {};

using Command =
    std::variant<ServeCommand, CheckCommand, CalibrateCommand, ModelsCommand, PackageCommand,
                 LoadCommand, UnloadCommand, UsageCommand, ConvictedCommand, CrashesCommand,
                 TranslateCommand, SynthesizeCommand, BenchNullCommand, TraceCommand,
                 HashKeyCommand, SelftestCommand, CompletionCommand, VersionCommand>;

}  // namespace millrace
