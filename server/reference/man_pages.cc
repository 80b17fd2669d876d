#include "server/reference/man_pages.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "models/core/strings.h"
#include "server/config/front_ends.h"
#include "server/config/options.h"
#include "server/reference/exit_status_text.h"
#include "server/reference/millrace_page_text.h"
#include "server/reference/roff.h"
#include "server/reference/serve_page_text.h"
#include "server/reference/toml_page_text.h"

namespace millrace::reference {
namespace {

constexpr char kConnection[] = "Connection";  // the heading of what all clients have

// Returns a page of this folder with these texts, and those that all pages have, in the place of
// their names.
std::string Filled(const char* page, const std::string& date,
                   std::vector<std::pair<std::string, std::string>> texts) {
  texts.push_back({"@DATE@", date});
  texts.push_back({"@VERSION@", MILLRACE_VERSION});
  texts.push_back({"@EXIT_STATUS@\n", kExitStatusText});
  return absl::StrReplaceAll(page, texts);
}

std::string Sentence(const std::string& text) {
  return StrCat(Roff(text), text.ends_with('.') ? "\n" : ".\n");
}

void AppendOption(const OptionReference& option, std::string& out) {
  std::vector<std::string> names;
  for (const std::string& flag : option.flags) names.push_back(InFont('B', flag));
  std::string tag = absl::StrJoin(names, ", ");
  if (!option.placeholder.empty()) {
    const std::string value = InFont('I', option.placeholder);
    absl::StrAppend(&tag, tag.empty() ? "" : " ",
                    option.value_may_be_missing ? StrCat("[", value, "]") : value);
  }
  absl::StrAppend(&out, ".TP\n", tag, "\n", Sentence(option.help));
}

const CommandReference* Find(const std::vector<CommandReference>& commands, const char* name) {
  for (const CommandReference& command : commands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

bool IsServe(const CommandReference& command) {
  return command.name == "serve" || command.name == "check";
}

}  // namespace

std::string MillracePage(const std::vector<CommandReference>& commands, const std::string& date) {
  std::string out;
  const CommandReference* with_connection = nullptr;
  for (const CommandReference& command : commands) {
    absl::StrAppend(&out, ".SS ", Quoted("millrace " + command.name), "\n",
                    Sentence(command.summary));
    if (IsServe(command)) {
      out += "See\n.BR millrace\\-serve (1).\n";
      continue;
    }
    for (const OptionReference& option : command.options) {
      if (option.group == kConnection) {
        with_connection = &command;
      } else {
        AppendOption(option, out);
      }
    }
  }
  std::string connection;
  for (const OptionReference& option : with_connection->options) {
    if (option.group == kConnection) AppendOption(option, connection);
  }
  return Filled(kMillracePageText, date, {{"@COMMANDS@\n", out}, {"@CONNECTION@\n", connection}});
}

std::string ServePage(const std::vector<CommandReference>& commands, const std::string& date) {
  std::string out;
  std::string group;
  for (const OptionReference& option : Find(commands, "serve")->options) {
    if (option.group != group && option.group != "Options")
      absl::StrAppend(&out, ".SS ", Quoted(option.group), "\n");
    group = option.group;
    AppendOption(option, out);
  }
  return Filled(kServePageText, date,
                {{"@FRONT_ENDS@\n", Sentence(BuiltFrontEnds())}, {"@OPTIONS@\n", out}});
}

std::string TomlPage(const std::string& date) {
  std::string out;
  const ServerConfig defaults;
  std::string group;
  for (const Option& option : ServeOptions()) {
    if (!option.is_built) continue;
    if (option.group != group) absl::StrAppend(&out, ".SS ", Quoted(option.group), "\n");
    group = option.group;
    const char* type = option.literal == Option::Literal::kNumber ? "number"
                       : option.literal == Option::Literal::kBool ? "boolean"
                                                                  : "string";
    const std::string value = option.get(defaults);
    absl::StrAppend(&out, ".TP\n", InFont('B', KeyOf(option.name)), " = ", InFont('I', type), "\n",
                    Sentence(option.help), "Allowed: ", Sentence(option.allowed),
                    value.empty() ? "It is unset by default.\n" : "Default: " + Sentence(value));
  }
  return Filled(kTomlPageText, date, {{"@KEYS@\n", out}});
}

}  // namespace millrace::reference
