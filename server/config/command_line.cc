#include "server/config/command_line.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/config/clients_cli.h"
#include "server/config/command_reference.h"
#include "server/config/edit_distance.h"
#include "server/config/front_ends.h"
#include "server/config/options.h"
#include "server/config/sources.h"

extern char** environ;

namespace millrace {
namespace {

constexpr char kServeFooter[] =
    "\nEach option is also an environment variable and a key of the TOML file of --config:\n"
    "--queue-size 64, MILLRACE_QUEUE_SIZE=64, queue_size = 64. A flag wins over a variable, a "
    "variable over the file, and of a flag that is given twice the last value holds.\n"
    "--print-config shows every value and where it came from.\n"
    "Front ends of this build: ";

EarlyExit UsageError(absl::string_view message, const std::string& command, bool json_log = false) {
  if (json_log) return {kExitUsage, "", std::string(message), true};
  const std::string help =
      command.empty() ? "millrace --help" : StrCat("millrace ", command, " --help");
  return {kExitUsage, "", StrCat("millrace: ", message, "\nTry `", help, "`.\n")};
}

// Serve and check take the same options.
struct ServeFlags {
  std::string config_file;
  bool print_config = false;
  std::vector<std::pair<const Option*, CLI::Option*>> options;
};

void AddServeOptions(CLI::App& command, ServeFlags& flags) {
  command.add_option("--config", flags.config_file, "TOML file; unknown keys in it are refused")
      ->type_name("FILE");
  const ServerConfig defaults;
  for (const Option& option : ServeOptions()) {
    std::string value = option.get(defaults);
    if (option.literal == Option::Literal::kBool) value = value == "true" ? "on" : "";
    const std::string help =
        value.empty() ? option.help : StrCat(option.help, " (default: ", value, ")");
    CLI::Option* added = command.add_option(FlagOf(option.name))
                             ->description(help)
                             // CLI11 shows no options without a group.
                             ->group(option.is_built ? option.group : "")
                             ->type_name(option.placeholder);
    added->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    // --insecure alone means true.
    if (option.literal == Option::Literal::kBool) added->expected(0, 1);
    flags.options.emplace_back(&option, added);
  }
  command.footer(StrCat(kServeFooter, BuiltFrontEnds()));
}

GivenValues GivenFlags(const ServeFlags& flags) {
  GivenValues values;
  for (const auto& [option, parsed] : flags.options) {
    if (parsed->count() == 0) continue;
    const std::string flag = FlagOf(option->name);
    std::string value = parsed->results().back();
    if (value.empty() && option->literal == Option::Literal::kBool) value = "true";
    std::string origin = StrCat("flag ", flag);
    if (parsed->count() > 1) absl::StrAppend(&origin, ", the last of ", parsed->count());
    values[option->name] = {std::move(value), flag, std::move(origin)};
  }
  return values;
}

// Returns the name of the configuration file; empty if there is none.
std::string ConfigFile(const ServeFlags& flags, const Environment& environment) {
  if (!flags.config_file.empty()) return flags.config_file;
  const auto variable = environment.find("MILLRACE_CONFIG");
  return variable == environment.end() ? "" : variable->second;
}

absl::Status Resolve(const ServeFlags& flags, const Environment& environment, ServerConfig& config,
                     Origins& origins) {
  for (const Option& option : ServeOptions()) origins[option.name] = "default";
  MILLRACE_ASSIGN_OR_RETURN(const GivenValues variables, ReadEnvironment(environment));
  if (const std::string file = ConfigFile(flags, environment); !file.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(const GivenValues values, ReadTomlFile(file));
    MILLRACE_RETURN_IF_ERROR(Apply(values, config, origins));
  }
  MILLRACE_RETURN_IF_ERROR(Apply(variables, config, origins));
  MILLRACE_RETURN_IF_ERROR(Apply(GivenFlags(flags), config, origins));
  return Validate(config);
}

// Returns true if the log should be JSON, as far as the flags and the environment tell before the
// arguments are valid.
bool AsksForJson(const ServeFlags& flags, const Environment& environment) {
  const GivenValues given = GivenFlags(flags);
  if (const auto flag = given.find("log-format"); flag != given.end())
    return flag->second.value == "json";
  const auto variable = environment.find(VariableOf("log-format"));
  return variable != environment.end() && variable->second == "json";
}

// Returns the number of executors, which decides what program serves. 0 if the configuration is
// wrong, which that program reports, or is in a file that can be read only once.
int ExecutorsOf(const ServeFlags& flags, const Environment& environment) {
  const std::string file = ConfigFile(flags, environment);
  std::error_code ignored;
  if (!file.empty() && !std::filesystem::is_regular_file(file, ignored)) return 0;
  ServerConfig config;
  Origins unused;
  return Resolve(flags, environment, config, unused).ok() ? config.executors : 0;
}

// Returns what CLI11 says, in our words where its own would name a type.
std::string WordsOf(const CLI::ParseError& error) {
  const std::string message = absl::StrReplaceAll(error.what(), {{"\n", " "}});
  const size_t required = message.find(": 1 required ");
  if (required != message.npos && message.ends_with(" missing"))
    return StrCat(message.substr(0, required), ": needs a value");
  if (const size_t most = message.find(": At Most 1 required but received "); most != message.npos)
    return StrCat(message.substr(0, most), ": is given more than once");
  return absl::StrReplaceAll(message, {{" requires ", ": needs "}, {" excludes ", ": excludes "}});
}

// Reports an argument that no option took, with the flag that may have been meant.
EarlyExit UnexpectedArgument(const CLI::App& command, const std::string& argument, bool json_log) {
  const std::string word = argument.substr(0, argument.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    // An argument without a flag has a name for the help alone.
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* subcommand : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(subcommand->get_name());
  }
  const std::string shown = word.empty() ? "''" : word;
  // An option that is known and was not taken for one stands behind two dashes.
  const bool is_late = std::ranges::find(names, word) != names.end();
  const bool is_option = word.starts_with("-") && !is_late;
  const char* kind =
      is_option ? "unknown option "
                : (command.get_parent() == nullptr ? "unknown command " : "unexpected argument ");
  const std::string& name = command.get_name();
  const bool takes_text = name == "translate" || name == "synthesize";
  std::string hint = is_late ? "; options stand before --" : Suggestion(word, names);
  if (takes_text && !is_option && !is_late) hint += "; put the text in quotes";
  if (takes_text && is_option && word.find(' ') != word.npos)
    hint += "; a text that begins with - stands behind --";
  return UsageError(StrCat(kind, shown, hint),
                    command.get_parent() == nullptr ? "" : command.get_name(), json_log);
}

std::string QuoteToml(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr char kDigits[] = "0123456789abcdef";
      quoted += {'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// Leaves out what an option excludes: a message says so to those who give both.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = CLI::Formatter::make_option_opts(option);
    return text.substr(0, text.find(" Excludes:"));
  }
};

// All commands with their options. CLI11 keeps pointers to the members.
struct Grammar {
  Grammar() {
    app.formatter(std::make_shared<HelpFormatter>());
    app.get_formatter()->column_width(40);
    app.set_help_flag("-h,--help", "Print this help");
    app.set_help_all_flag("");
    app.require_subcommand(0, 1);
    app.allow_extras();
    app.add_flag("-V,--version", version, "Print the version");
    serve = app.add_subcommand("serve", "Serve the models of a repository");
    check =
        app.add_subcommand("check", "Check the options and the models of `serve` without serving");
    serve->add_flag("--print-config", serve_flags.print_config,
                    "Print the effective configuration as TOML and exit");
    AddServeOptions(*serve, serve_flags);
    AddServeOptions(*check, check_flags);
    clients.emplace(app);
    for (CLI::App* subcommand : app.get_subcommands({})) subcommand->allow_extras();
  }

  CLI::App app{"Inference server for speech and translation models", "millrace"};
  bool version = false;
  ServeFlags serve_flags;
  ServeFlags check_flags;
  CLI::App* serve;
  CLI::App* check;
  std::optional<ClientCommands> clients;
};

// Returns the words that an option allows; none where it allows more than a few.
std::vector<std::string> Choices(const std::string& command, CLI::Option& option) {
  if (command == "serve" || command == "check") {
    const Option* row = FindOption(option.get_name().substr(2));
    return row == nullptr ? std::vector<std::string>() : row->choices;
  }
  return ClientCommands::Choices(option);
}

OptionReference Describe(const std::string& command, CLI::Option& option) {
  OptionReference described;
  for (const std::string& name : option.get_snames()) described.flags.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) described.flags.push_back("--" + name);
  if (option.get_items_expected_max() > 0) described.placeholder = option.get_type_name();
  described.value_may_be_missing = option.get_items_expected_min() == 0;
  described.help = option.get_description();
  described.group = option.get_group();
  described.choices = Choices(command, option);
  return described;
}

// The program that reads the command line.
enum class Reader { kClient, kServer };

std::variant<Command, EarlyExit> Parse(std::span<const std::string> arguments,
                                       const Environment& environment, Reader reader) {
  Grammar grammar;
  CLI::App& app = grammar.app;
  const bool& version = grammar.version;
  const ServeFlags& serve_flags = grammar.serve_flags;
  const ServeFlags& check_flags = grammar.check_flags;
  const CLI::App& serve = *grammar.serve;
  const CLI::App& check = *grammar.check;
  const ClientCommands& clients = *grammar.clients;

  // CLI11 would take the next argument as its value, and --insecure= as --insecure.
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1)
      return UsageError(StrCat(argument, " needs a value"), "");
  }
  // CLI11 takes the arguments in reverse order. `help serve` is `serve --help`.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  if (!reversed.empty() && reversed.back() == "help") {
    reversed.pop_back();
    reversed.insert(reversed.begin(), "--help");
  }
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    const std::vector<CLI::App*> given = app.get_subcommands();
    if (error.get_exit_code() != 0) {
      // A misspelt option leaves its value over, which CLI11 may complain of instead.
      if (!given.empty()) {
        for (const std::string& left : given[0]->remaining()) {
          if (left.starts_with("-") && left != "-" && left != "--")
            return UnexpectedArgument(*given[0], left, false);
        }
      }
      return UsageError(WordsOf(error), given.empty() ? "" : given[0]->get_name());
    }
    if (given.empty() && !app.remaining().empty())
      return UnexpectedArgument(app, app.remaining()[0], false);
    std::ostringstream out;
    app.exit(error, out, out);
    return EarlyExit{kExitOk, out.str(), ""};
  }
  if (version) return Command(VersionCommand{});
  const std::vector<CLI::App*> given = app.get_subcommands();
  for (const CLI::App* command : {given.empty() ? &app : given[0], &app}) {
    std::vector<std::string> remaining = command->remaining();
    std::erase(remaining, "--");  // CLI11 leaves it here after it has ended the options
    if (!remaining.empty()) {
      return UnexpectedArgument(*command, remaining[0],
                                command == &serve && AsksForJson(serve_flags, environment));
    }
  }
  if (given.empty()) return EarlyExit{kExitUsage, "", app.help()};

  const CLI::App& command = *given[0];
  if (&command == &serve) {
    ServeCommand result;
    result.print_config = serve_flags.print_config;
    if (reader == Reader::kClient && !result.print_config) {
      if (AsksForJson(serve_flags, environment)) result.config.log_format = LogFormat::kJson;
      result.config.executors = ExecutorsOf(serve_flags, environment);
      return Command(std::move(result));
    }
    absl::Status status = Resolve(serve_flags, environment, result.config, result.origins);
    if (!status.ok()) {
      return UsageError(
          status.message(), "serve",
          AsksForJson(serve_flags, environment) || result.config.log_format == LogFormat::kJson);
    }
    return Command(std::move(result));
  }
  if (&command == &check) {
    CheckCommand result;
    if (reader == Reader::kClient) return Command(std::move(result));
    Origins unused;
    absl::Status status = Resolve(check_flags, environment, result.config, unused);
    if (!status.ok()) return UsageError(status.message(), "check");
    return Command(std::move(result));
  }
  absl::StatusOr<Command> result = clients.Parsed(command, environment);
  if (!result.ok()) return UsageError(result.status().message(), command.get_name());
  return *std::move(result);
}

}  // namespace

Environment ProcessEnvironment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals != text.npos) environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::variant<Command, EarlyExit> ParseCommandLine(std::span<const std::string> arguments,
                                                  const Environment& environment) {
  return Parse(arguments, environment, Reader::kServer);
}

std::variant<Command, EarlyExit> ParseClientCommandLine(std::span<const std::string> arguments,
                                                        const Environment& environment) {
  return Parse(arguments, environment, Reader::kClient);
}

std::vector<CommandReference> DescribeCommandLine() {
  Grammar grammar;
  std::vector<CommandReference> commands;
  for (CLI::App* app : grammar.app.get_subcommands({})) {
    CommandReference command{app->get_name(), app->get_description(), {}};
    for (CLI::Option* option : app->get_options({})) {
      if (option->get_group().empty()) continue;
      command.options.push_back(Describe(command.name, *option));
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

std::string PrintConfig(const ServerConfig& config, const Origins& origins) {
  std::string out;
  std::string group;
  for (const Option& option : ServeOptions()) {
    if (!option.is_built) continue;
    if (option.group != group) {
      absl::StrAppend(&out, group.empty() ? "" : "\n", "# ", option.group, "\n");
      group = option.group;
    }
    const std::string value = option.get(config);
    const auto origin = origins.find(option.name);
    absl::StrAppend(&out, KeyOf(option.name), " = ",
                    option.literal == Option::Literal::kText ? QuoteToml(value) : value, "  # ",
                    origin == origins.end()
                        ? "default"
                        : absl::StrReplaceAll(origin->second, {{"\n", " "}, {"\r", " "}}),
                    "\n");
  }
  return out;
}

}  // namespace millrace
