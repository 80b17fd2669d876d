#include "server/config/sources.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <regex>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "mps_runtime/base/file.h"
#include "server/config/edit_distance.h"
#include "server/config/front_ends.h"
#include "server/config/options.h"
#include "server/config/toml.h"

namespace millrace {
namespace {

constexpr char kPrefix[] = "MILLRACE_";
constexpr size_t kMaxFileBytes = size_t{1} << 20;
// These variables are read elsewhere: the file's name, the clients' options, and the mirrors that
// models are fetched from.
constexpr const char* kOtherVariables[] = {"MILLRACE_CONFIG",
                                           "MILLRACE_ADDRESS",
                                           "MILLRACE_API_KEY",
                                           "MILLRACE_TLS_CA",
                                           "MILLRACE_FIREFOX_REGISTRY",
                                           "MILLRACE_FIREFOX_SETTINGS",
                                           "MILLRACE_FIREFOX_ATTACHMENTS",
                                           "MILLRACE_ARGOS_INDEX"};

// Returns a line of a file, which are counted from 1, without its end.
std::string_view LineOf(std::string_view text, size_t number) {
  for (; number > 1; --number) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find_first_of("\r\n"));
}

// Returns the beginning of a line in quotes, with a mark for what a terminal may not show.
std::string Quoted(std::string_view line) {
  std::string shown(line.substr(0, 80));
  std::ranges::replace_if(
      shown, [](char c) { return !absl::ascii_isprint(c); }, '?');
  return StrCat("'", shown, "'");
}

// Returns the option that a line gives a value; null if there is none.
const Option* OptionOf(std::string_view line) {
  for (const Option& option : ServeOptions()) {
    const std::string key = KeyOf(option.name);
    if (line.starts_with(key) &&
        line.substr(key.size()).find_first_not_of(" \t") == line.substr(key.size()).find('='))
      return &option;
  }
  return nullptr;
}

// Returns a TOML value as the text that its option reads, where a list has commas between its
// elements; nullopt for types that no option has.
std::optional<std::string> ToText(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return StrCat(number->get());
  if (const auto* boolean = node.as_boolean())
    return std::string(boolean->get() ? "true" : "false");
  if (const auto* list = node.as_array()) {
    std::vector<std::string> texts;
    for (const toml::node& element : *list) {
      const auto* text = element.as_string();
      if (text == nullptr || text->get().find(',') != std::string::npos) return std::nullopt;
      texts.push_back(text->get());
    }
    return absl::StrJoin(texts, ",");
  }
  return std::nullopt;
}

}  // namespace

bool IsKubernetesServiceVariable(std::string_view name, std::string_view value) {
  static const std::regex always(
      "MILLRACE_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|"
      "PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)");
  static const std::regex url("MILLRACE_([A-Z0-9_]+_)?PORT");
  const std::string text(name);
  return std::regex_match(text, always) ||
         (std::regex_match(text, url) && value.find("://") != value.npos);
}

absl::StatusOr<GivenValues> ReadEnvironment(const Environment& environment) {
  GivenValues values;
  std::map<std::string, std::string> known;
  for (const Option& option : ServeOptions()) known.emplace(VariableOf(option.name), option.name);
  for (const auto& [name, value] : environment) {
    if (!name.starts_with(kPrefix) || value.empty()) continue;
    if (const auto option = known.find(name); option != known.end()) {
      values[option->second] = {value, name, StrCat("env ", name)};
      continue;
    }
    if (std::find(std::begin(kOtherVariables), std::end(kOtherVariables), name) !=
            std::end(kOtherVariables) ||
        IsKubernetesServiceVariable(name, value)) {
      continue;
    }
    std::vector<std::string> names(std::begin(kOtherVariables), std::end(kOtherVariables));
    for (const auto& entry : known) names.push_back(entry.first);
    return InvalidArgument("unknown environment variable ", name, Suggestion(name, names));
  }
  return values;
}

absl::StatusOr<GivenValues> ReadTomlFile(const std::string& file) {
  // Opening a pipe waits for its writer: a shell may pass one, and signals still end the process
  // here.
  const FileDescriptor descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::optional<std::string> text;
  if (descriptor.get() >= 0) text = ReadToEnd(descriptor.get(), kMaxFileBytes);
  if (!text) {
    return InvalidArgument("--config: ", file, " cannot be read: ", std::strerror(errno));
  }
  if (text->size() > kMaxFileBytes) {
    return InvalidArgument("--config: ", file, " has more than ", kMaxFileBytes, " bytes");
  }
  return ParseToml(*text, file);
}

absl::StatusOr<GivenValues> ParseToml(std::string_view text, const std::string& file) {
  const toml::parse_result table = toml::parse(text, file);
  if (!table) {
    const toml::source_position at = table.error().source().begin;
    const std::string_view line = LineOf(text, at.line);
    const Option* const option = OptionOf(line);
    return InvalidArgument(
        file, ":", at.line, ":", at.column, ": ", std::string(table.error().description()), ", in ",
        Quoted(line),
        option == nullptr ? "" : ", allowed: ", option == nullptr ? "" : option->allowed);
  }
  GivenValues values;
  for (const auto& [key, node] : table.table()) {
    const std::string name(key.str());
    const std::string line = StrCat(file, ":", node.source().begin.line);
    const Option* option = nullptr;
    std::vector<std::string> keys;
    for (const Option& candidate : ServeOptions()) {
      keys.push_back(KeyOf(candidate.name));
      if (keys.back() == name) option = &candidate;
    }
    if (option == nullptr) {
      const bool is_table = node.is_table() || node.is_array_of_tables();
      return InvalidArgument(line, ": unknown ", is_table ? "table " : "key ", name,
                             Suggestion(name, keys),
                             is_table ? "; all keys stand outside of tables" : "");
    }
    const std::optional<std::string> value = ToText(node);
    if (!value) {
      return InvalidArgument(
          line, ": ", name, ": not a string, whole number, boolean or list of strings, in ",
          Quoted(LineOf(text, node.source().begin.line)), ", allowed: ", option->allowed);
    }
    values[option->name] = {*value, StrCat(line, ": ", name), StrCat("file ", line)};
  }
  return values;
}

absl::Status Apply(const GivenValues& values, ServerConfig& config, Origins& origins) {
  for (const auto& [name, given] : values) {
    const Option* option = FindOption(name);
    if (!option->is_built) {
      return InvalidArgument(given.place, ": this build has no front end '", option->front_end,
                             "', whose option it is; it has: ", BuiltFrontEnds());
    }
    // Paths would be read up to a NUL.
    if (given.value.find('\0') != std::string::npos || !option->set(config, given.value)) {
      return InvalidArgument(given.place, ": ", Quoted(given.value),
                             " is not allowed, allowed: ", option->allowed);
    }
    origins[name] = given.origin;
  }
  return absl::OkStatus();
}

}  // namespace millrace
