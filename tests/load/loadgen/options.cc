#include "tests/load/loadgen/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <fstream>
#include <iostream>
#include <map>
#include <system_error>

namespace millrace::loadgen {
namespace {

constexpr int kUsage = 2;
constexpr int kMostTargetTokens = 1024;

std::chrono::nanoseconds FromSeconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

// One text per line, empty lines left out.
std::vector<std::string> ReadTexts(const std::string& path) {
  std::vector<std::string> texts;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) texts.push_back(line);
  }
  return texts;
}

// One number per line for each of the texts; empty, and the reason printed, when the file is
// otherwise.
std::vector<int> ReadTargetTokens(const std::string& path, size_t texts) {
  std::vector<int> numbers;
  for (const std::string& line : ReadTexts(path)) {
    int number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc() || end != line.data() + line.size() || number < 1 ||
        number > kMostTargetTokens) {
      std::cerr << "--target-tokens: '" << line << "' in " << path << " is not a number, 1.."
                << kMostTargetTokens << "\n";
      return {};
    }
    numbers.push_back(number);
  }
  if (numbers.size() == texts) return numbers;
  std::cerr << "--target-tokens: " << path << " has " << numbers.size() << " numbers, --texts "
            << texts << " texts\n";
  return {};
}

}  // namespace

std::optional<Options> ParseOptions(int argc, char** argv, int* exit_code) {
  const std::map<std::string, Method> methods = {{"infer", Method::kInfer},
                                                 {"translate", Method::kTranslate},
                                                 {"synthesize", Method::kSynthesize},
                                                 {"stream-translate", Method::kStreamTranslate},
                                                 {"stream-synthesize", Method::kStreamSynthesize},
                                                 {"http-infer", Method::kHttpInfer},
                                                 {"http-translate", Method::kHttpTranslate},
                                                 {"http-synthesize", Method::kHttpSynthesize}};
  Options options;
  std::string texts_file;
  std::string target_tokens_file;
  double duration_s = 0;
  double deadline_ms = 30000;

  CLI::App app(
      "Load on one method of a Millrace server; the result is one JSON object on standard output.");
  app.add_option("--address", options.address, "host:port")->required();
  app.add_option("--method", options.method_name,
                 "infer, translate, stream-translate (partial), synthesize or stream-synthesize; "
                 "over HTTP http-infer (with binary data), http-translate or http-synthesize")
      ->required()
      ->check(CLI::IsMember(methods));
  app.add_option("--model", options.model, "name of the model")->required();
  app.add_option("--texts", texts_file, "file of inputs, one per line, used in turn")
      ->check(CLI::ExistingFile);
  auto* target_tokens = app.add_option("--target-tokens", target_tokens_file,
                                       "translate, stream-translate: file of how many tokens each "
                                       "text's translation is to have")
                            ->check(CLI::ExistingFile);
  app.add_option("--api-key", options.api_key, "API key to send");
  app.add_option("--source", options.source_language, "http-translate: language of the texts");
  app.add_option("--target", options.target_language, "http-translate: language to translate to");
  app.add_option("--voice", options.voice, "http-synthesize: voice of the model");
  app.add_option("--connections", options.connections,
                 "connections; over HTTP in a closed loop each call in flight has its own")
      ->check(CLI::Range(1, 64));
  auto* concurrency =
      app.add_option("--concurrency", options.concurrency, "closed loop: calls in flight")
          ->check(CLI::Range(1, 4096));
  app.add_option("--rate", options.rate, "open loop: calls a second")
      ->check(CLI::Range(0.01, 1e6))
      ->excludes(concurrency);
  app.add_option("--max-outstanding", options.max_outstanding,
                 "open loop: unanswered calls at most")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--duration-s", duration_s, "seconds")->check(CLI::Range(0.0, 86400.0));
  app.add_option("--count", options.count, "calls");
  app.add_option("--deadline-ms", deadline_ms, "deadline of each call")
      ->check(CLI::Range(1.0, 3.6e6));
  app.add_option("--seed", options.seed, "seed of the synthesis noise");
  app.add_option("--outputs", options.outputs_file,
                 "write each input's output as a line of JSON: index, bytes, hash, text");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error) == 0 ? 0 : kUsage;
    return std::nullopt;
  }

  *exit_code = kUsage;
  options.method = methods.at(options.method_name);
  if (!texts_file.empty()) options.texts = ReadTexts(texts_file);
  const bool infers = options.method == Method::kInfer || options.method == Method::kHttpInfer;
  if (!infers && options.texts.empty()) {
    std::cerr << "--texts: a file with at least one line is needed for " << options.method_name
              << "\n";
    return std::nullopt;
  }
  if (target_tokens->count() > 0) {
    if (options.method != Method::kTranslate && options.method != Method::kStreamTranslate) {
      std::cerr << "--target-tokens: only for translate and stream-translate\n";
      return std::nullopt;
    }
    options.target_tokens = ReadTargetTokens(target_tokens_file, options.texts.size());
    if (options.target_tokens.empty()) return std::nullopt;
  }
  if (options.method == Method::kHttpTranslate &&
      (options.source_language.empty() || options.target_language.empty())) {
    std::cerr << "--source, --target: both are needed for http-translate\n";
    return std::nullopt;
  }
  if (options.method == Method::kHttpSynthesize && options.voice.empty()) {
    std::cerr << "--voice: is needed for http-synthesize\n";
    return std::nullopt;
  }
  if (duration_s == 0 && options.count == 0) {
    std::cerr << "--duration-s or --count: one of them is needed\n";
    return std::nullopt;
  }
  options.duration = FromSeconds(duration_s);
  options.deadline = FromSeconds(deadline_ms / 1e3);
  *exit_code = 0;
  return options;
}

}  // namespace millrace::loadgen
