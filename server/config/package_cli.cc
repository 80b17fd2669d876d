#include "server/config/package_cli.h"

#include <filesystem>

#include "CLI/CLI.hpp"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/repository/model_sources.h"
#include "server/config/cli_checks.h"

namespace millrace {
namespace {

// Adds what a package is made with, wherever its files come from.
void AddPackageOptions(CLI::App& command, PackageValues& values) {
  AddOption(command, "--as", values.as, "NAME", "Name of the model in the repository");
  AddOption(
      command, "--precision", values.precision, "NAME",
      "Of a voice: float32, int8 or auto; of Marian, M2M-100, NLLB-200 and Argos also bfloat16")
      ->check(OneOf({"float32", "bfloat16", "int8", "auto"}));
  AddOption(command, "--source", values.source, "LANG",
            "Of a translator: the language of requests that name none");
  AddOption(command, "--target", values.target, "LANG",
            "Of a translator: the language into which those are translated");
  command.add_flag("--force", values.force, "Replace a model of the same name");
}

void AddFolderAndJson(CLI::App& command, PackageValues& values) {
  AddOption(command, "--models", values.folder, "DIR", "Model repository (default: var/models)");
  command.add_flag("--json", values.json, "Print a JSON object a line");
}

// Returns the command line of the program millrace-models.
std::vector<std::string> ProgramArguments(const CLI::App& subcommand, const PackageValues& values,
                                          const std::filesystem::path& folder) {
  const std::string name = subcommand.get_name();
  std::vector<std::string> arguments = {name == "models" ? "available" : name,
                                        StrCat("--models=", folder.string())};
  const auto add = [&](const char* flag, const std::string& value) {
    const CLI::Option* option = subcommand.get_option_no_throw(flag);
    if (option != nullptr && !option->empty()) arguments.push_back(StrCat(flag, "=", value));
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

void AddPackageCommands(CLI::App& app, PackageValues& values,
                        const std::function<void(CLI::App&)>& add_client_options) {
  CLI::App& pull = *app.add_subcommand(
      "pull", "Fetch published models by name into a repository; a running server serves them");
  AddOption(pull, "name", values.names, "NAME",
            "Such as piper/en_US-lessac-medium, firefox/en-de, firefox/de (both "
            "directions), kokoro-82m, opus-mt-en-de, hf:OWNER/REPOSITORY[@REVISION]; "
            "`millrace models --available` lists them")
      ->required();
  pull.add_flag("--license-ok", values.license_ok,
                "Accept a licence that allows no commercial use");
  AddPackageOptions(pull, values);
  AddFolderAndJson(pull, values);
  add_client_options(pull);

  CLI::App& add = *app.add_subcommand(
      "add", "Add a model whose files are there to a repository; a running server serves it");
  AddOption(add, "path", values.names, "PATH",
            "Folder, zip or tar file, or the .onnx file of a voice")
      ->required()
      ->expected(1);
  AddOption(add, "--license", values.license, "SPDX",
            "SPDX expression of the weights' licence (default: NOASSERTION)");
  AddPackageOptions(add, values);
  AddFolderAndJson(add, values);
  add_client_options(add);

  CLI::App& remove = *app.add_subcommand(
      "remove", "Remove models from a repository, and from the server that serves it");
  AddOption(remove, "name", values.names, "MODEL",
            "Name of the model's folder, or the name that it was pulled by")
      ->required();
  AddFolderAndJson(remove, values);
  add_client_options(remove);
}

absl::StatusOr<Command> MakePackageCommand(PackageValues values, const CLI::App& subcommand,
                                           const ClientOptions& client,
                                           const Environment& environment) {
  const std::string& name = subcommand.get_name();
  const bool available = name == "models";
  const char* origin = "--models";
  if (const auto variable = environment.find("MILLRACE_MODELS");
      subcommand.count("--models") == 0 && variable != environment.end() &&
      !variable->second.empty()) {
    values.folder = variable->second;
    origin = "MILLRACE_MODELS";
  }
  const auto folder = models::FolderForNewModels(values.folder);
  if (!folder.ok()) return InvalidArgument(origin, ": ", folder.status().message());
  using Kind = PackageCommand::Kind;
  const Kind kind = available        ? Kind::kAvailable
                    : name == "pull" ? Kind::kPull
                    : name == "add"  ? Kind::kAdd
                                     : Kind::kRemove;
  return PackageCommand{.kind = kind,
                        .client = client,
                        .names_server = subcommand.count("--address") > 0 ||
                                        (environment.contains("MILLRACE_ADDRESS") &&
                                         !environment.at("MILLRACE_ADDRESS").empty()),
                        .models = *folder,
                        .arguments = ProgramArguments(subcommand, values, *folder),
                        .json = values.json};
}

}  // namespace millrace
