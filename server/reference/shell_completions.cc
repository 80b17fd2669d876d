#include "server/reference/shell_completions.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "models/core/strings.h"

namespace millrace::reference {
namespace {

constexpr char kHead[] =
    "Completion of millrace. Written by millrace_reference from the tables of options.";

constexpr char kBashHead[] = R"(
# Offers the words of $1 that begin with what is being typed.
_millrace_words() {
  COMPREPLY=($(compgen -W "$1" -- "$current"))
}

# Offers files, or with -d folders. A name may hold spaces.
_millrace_paths() {
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$current"))
}

_millrace() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= word
  COMPREPLY=()
  # bash takes --flag=value apart at the equals sign.
  if [[ $current == "=" ]]; then
    current=
  elif [[ $previous == "=" && $COMP_CWORD -ge 2 ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word != -* ]]; then
      command=$word
      break
    fi
  done
)";

enum class Value { kNone, kWords, kFile, kFolder, kOther };

Value ValueOf(const OptionReference& option) {
  if (option.placeholder.empty()) return Value::kNone;
  if (!option.choices.empty()) return Value::kWords;
  if (option.placeholder == "FILE") return Value::kFile;
  if (option.placeholder == "DIR") return Value::kFolder;
  return Value::kOther;
}

// Returns the part of a help text that says what the option is, which fits a line of a menu.
std::string Brief(const std::string& help) {
  size_t end = help.size();
  for (const char* stop : {"; ", " (default: ", ". ", ": "}) end = std::min(end, help.find(stop));
  return help.substr(0, end);
}

std::string QuoteForBash(const std::string& text) {
  return StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::string QuoteForFish(const std::string& text) {
  return StrCat("'", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}}), "'");
}

// Returns a text as zsh's _arguments takes it between brackets or colons.
std::string EscapeForZsh(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}, {"'", "'\\''"}});
}

std::string ZshAction(const OptionReference& option) {
  const std::string name = EscapeForZsh(option.placeholder);
  switch (ValueOf(option)) {
    case Value::kNone:
      return "";
    case Value::kWords:
      return StrCat(":", name, ":(", absl::StrJoin(option.choices, " "), ")");
    case Value::kFile:
      return StrCat(":", name, ":_files");
    case Value::kFolder:
      return StrCat(":", name, ":_files -/");
    case Value::kOther:
      return StrCat(":", name, ": ");
  }
  return "";
}

std::string ZshOption(const OptionReference& option) {
  const std::string help = StrCat("[", EscapeForZsh(Brief(option.help)), "]");
  if (option.flags.empty()) return StrCat("'1", ZshAction(option), "'");
  const std::string optional = option.value_may_be_missing ? ":" : "";
  const std::string rest =
      StrCat(help, option.placeholder.empty() ? "" : optional, ZshAction(option));
  const auto with_value = [&](const std::string& flag) {
    return option.placeholder.empty() || !flag.starts_with("--") ? flag : flag + "=";
  };
  if (option.flags.size() == 1) return StrCat("'", with_value(option.flags[0]), rest, "'");
  return StrCat(
      "'(", absl::StrJoin(option.flags, " "), ")'{",
      absl::StrJoin(option.flags, ",",
                    [&](std::string* out, const std::string& flag) { *out += with_value(flag); }),
      "}'", rest, "'");
}

}  // namespace

std::string BashCompletion(const std::vector<CommandReference>& commands) {
  std::string out = StrCat("# ", kHead, "\n", kBashHead, "  case $command in\n");
  std::vector<std::string> names;
  for (const CommandReference& command : commands) {
    names.push_back(command.name);
    std::vector<std::string> flags;
    std::map<std::string, std::vector<std::string>> flags_of;  // by what is offered behind them
    for (const OptionReference& option : command.options) {
      flags.insert(flags.end(), option.flags.begin(), option.flags.end());
      const Value value = ValueOf(option);
      if (value == Value::kNone || option.value_may_be_missing || option.flags.empty()) continue;
      const std::string offer =
          value == Value::kWords
              ? StrCat("_millrace_words ", QuoteForBash(absl::StrJoin(option.choices, " ")), "; ")
          : value == Value::kFile   ? "_millrace_paths -f; "
          : value == Value::kFolder ? "_millrace_paths -d; "
                                    : "";
      std::vector<std::string>& same = flags_of[offer];
      same.insert(same.end(), option.flags.begin(), option.flags.end());
    }
    absl::StrAppend(&out, "    ", command.name, ")\n      case $previous in\n");
    for (const auto& [offer, behind] : flags_of)
      absl::StrAppend(&out, "        ", absl::StrJoin(behind, "|"), ") ", offer, "return ;;\n");
    absl::StrAppend(&out, "      esac\n      _millrace_words ",
                    QuoteForBash(absl::StrJoin(flags, " ")), " ;;\n");
  }
  absl::StrAppend(&out, "    '') _millrace_words ",
                  QuoteForBash(absl::StrJoin(names, " ") + " --help --version"), " ;;\n",
                  "  esac\n}\n\ncomplete -F _millrace millrace\n");
  return out;
}

std::string ZshCompletion(const std::vector<CommandReference>& commands) {
  std::string out = StrCat("#compdef millrace\n# ", kHead, R"(

_millrace() {
  local context state line
  typeset -A opt_args
  _arguments -C '(-h --help)'{-h,--help}'[Print this help]' '--version[Print the version]' '1:command:->command' '*::arguments:->arguments'
  case $state in
    command)
      local -a commands=(
)");
  for (const CommandReference& command : commands) {
    absl::StrAppend(&out, "        '", command.name, ":", EscapeForZsh(Brief(command.summary)),
                    "'\n");
  }
  out += R"(      )
      _describe command commands ;;
    arguments)
      case $line[1] in
)";
  for (const CommandReference& command : commands) {
    absl::StrAppend(&out, "        ", command.name, ")\n          _arguments");
    for (const OptionReference& option : command.options)
      absl::StrAppend(&out, " \\\n            ", ZshOption(option));
    out += " ;;\n";
  }
  out += R"(      esac ;;
  esac
}

if [ "$funcstack[1]" = _millrace ]; then
  _millrace "$@"
else
  compdef _millrace millrace
fi
)";
  return out;
}

std::string FishCompletion(const std::vector<CommandReference>& commands) {
  std::string out = StrCat("# ", kHead, R"(
complete -c millrace -f
complete -c millrace -n __fish_use_subcommand -s h -l help -d 'Print this help'
complete -c millrace -n __fish_use_subcommand -l version -d 'Print the version'
)");
  for (const CommandReference& command : commands) {
    absl::StrAppend(&out, "complete -c millrace -n __fish_use_subcommand -a ", command.name, " -d ",
                    QuoteForFish(Brief(command.summary)), "\n");
  }
  for (const CommandReference& command : commands) {
    for (const OptionReference& option : command.options) {
      if (option.flags.empty()) continue;
      absl::StrAppend(&out, "complete -c millrace -n '__fish_seen_subcommand_from ", command.name,
                      "'");
      for (const std::string& flag : option.flags) {
        absl::StrAppend(&out, flag.starts_with("--") ? " -l " : " -s ",
                        flag.substr(flag.rfind('-', 1) + 1));
      }
      switch (ValueOf(option)) {
        case Value::kNone:
          break;
        case Value::kWords:
          absl::StrAppend(&out, option.value_may_be_missing ? " -f -a " : " -x -a ",
                          QuoteForFish(absl::StrJoin(option.choices, " ")));
          break;
        case Value::kFile:
          out += " -r -F";
          break;
        case Value::kFolder:
          out += " -x -a '(__fish_complete_directories)'";
          break;
        case Value::kOther:
          out += " -x";
          break;
      }
      absl::StrAppend(&out, " -d ", QuoteForFish(Brief(option.help)), "\n");
    }
  }
  return out;
}

}  // namespace millrace::reference
