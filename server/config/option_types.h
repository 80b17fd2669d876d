#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "models/core/strings.h"
#include "server/config/options.h"
#include "server/config/server_config.h"
#include "server/config/values.h"

// The types of options. Each function makes what follows from the type of a value: what is allowed,
// and how the field is set from a text and written as one. Row adds the rest.
namespace millrace::option_types {

// Returns the option with its name, heading and help.
Option Row(const char* name, const char* group, const char* placeholder, Option option,
           std::string help);

// Makes an option of what is allowed, of how a text is read, nullopt if it is not allowed, and of
// how a value is written.
template <class T, class Parse, class Format>
Option Value(T ServerConfig::*field, std::string allowed, Parse parse, Format format) {
  Option row;
  row.allowed = std::move(allowed);
  row.set = [=](ServerConfig& config, const std::string& text) {
    std::optional<T> value = parse(text);
    if (!value) return false;
    config.*field = *std::move(value);
    return true;
  };
  row.get = [=](const ServerConfig& config) -> std::string { return format(config.*field); };
  return row;
}

template <class T>
std::optional<T> Within(std::optional<T> value, T low, T high) {
  return value && *value >= low && *value <= high ? value : std::nullopt;
}

// An integer of low..high.
template <class T>
Option Number(T ServerConfig::*field, int64_t low, int64_t high) {
  Option row = Value(
      field, StrCat(low, "..", high),
      [=](const std::string& text) { return Within(ParseInteger(text), low, high); },
      [](T value) { return StrCat(value); });
  row.literal = Option::Literal::kNumber;
  return row;
}

// A number of bytes, low..high.
Option Bytes(uint64_t ServerConfig::*field, uint64_t low, uint64_t high);

// A time of low..high.
Option Time(std::chrono::milliseconds ServerConfig::*field, std::chrono::milliseconds low,
            std::chrono::milliseconds high);

Option Bool(bool ServerConfig::*field);

// One of a few words, each with its value.
template <class T>
Option Choice(T ServerConfig::*field, std::vector<std::pair<std::string, T>> choices) {
  Option row;
  row.allowed = absl::StrJoin(choices, ", ",
                              [](std::string* out, const auto& choice) { *out += choice.first; });
  for (const auto& choice : choices) row.choices.push_back(choice.first);
  row.set = [=](ServerConfig& config, const std::string& text) {
    for (const auto& [name, value] : choices) {
      if (name != text) continue;
      config.*field = value;
      return true;
    }
    return false;
  };
  row.get = [=](const ServerConfig& config) {
    for (const auto& [name, value] : choices) {
      if (value == config.*field) return name;
    }
    return std::string();
  };
  return row;
}

Option Path(std::filesystem::path ServerConfig::*field);

// Folders of models: see models::ParseModelSources.
Option Models(std::string ServerConfig::*field);

// Names that `millrace pull` takes, with commas between them. The field is empty if there are none.
Option PublishedModels(std::vector<std::string> ServerConfig::*field);

// auto, the name of a device, or cards by number, such as cuda:0,cuda:1.
Option Devices(std::optional<runtime::DeviceType> ServerConfig::*device,
               std::vector<int> ServerConfig::*numbers);

enum class AddressKind { kRequired, kOptional };

// host:port or unix:path. The field of an optional address is empty if it is off.
Option Address(std::string ServerConfig::*field, AddressKind kind);

// The optional address of a front end whose protocol, of that name, has neither TLS nor keys:
// beyond this machine it needs --insecure and, where keys are required, the option `anonymous`.
Option PlainAddress(const char* option, std::string ServerConfig::*field,
                    const std::string& protocol, const char* anonymous_option,
                    bool ServerConfig::*anonymous);

// Allows an empty value, or up to 64 characters of a version.
Option Version(std::string ServerConfig::*field);

// Pairs of names. The field is an empty map for auto, and nullopt if it is off.
Option Aliases(std::optional<std::map<std::string, std::string>> ServerConfig::*field);

// Names for a Host header.
Option HostNames(std::vector<std::string> ServerConfig::*field);
// Origins of web pages. The field is empty if it is off.
Option OriginList(std::vector<std::string> ServerConfig::*field);

// The URL of a collector of traces, auto or off.
Option TraceEndpoint(std::string ServerConfig::*field);

// A number of 0..1. The field is nullopt for auto.
Option Ratio(std::optional<double> ServerConfig::*field);

// Allows an empty value, or up to 255 printable characters of ASCII.
Option ServiceName(std::string ServerConfig::*field);

}  // namespace millrace::option_types
