#include "server/config/option_types.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "models/core/errors.h"
#include "models/repository/model_sources.h"
#include "mps_runtime/device_traits.h"
#include "server/config/exposed_address.h"
#include "server/net/address_policy.h"
#include "server/tracing/endpoint.h"

namespace millrace::option_types {
namespace {

constexpr char kNotServed[] = "off";

// Returns a text as it is.
std::string AsIs(const std::string& text) { return text; }

// A text that is kept as it is if it is valid.
template <typename IsValid>
Option Text(std::string ServerConfig::*field, std::string allowed, IsValid is_valid) {
  return Value(
      field, std::move(allowed),
      [=](const std::string& text) { return is_valid(text) ? std::optional(text) : std::nullopt; },
      AsIs);
}

using Names = std::vector<std::string>;

// A list that is empty if it is off. parse: returns nullopt for a text that is not allowed.
template <typename Parse>
Option List(Names ServerConfig::*field, std::string allowed, Parse parse) {
  return Value(
      field, std::move(allowed),
      [=](const std::string& text) -> std::optional<Names> {
        return text.empty() || text == kNotServed ? Names() : parse(text);
      },
      [](const Names& list) {
        return list.empty() ? std::string(kNotServed) : absl::StrJoin(list, ",");
      });
}

}  // namespace

Option Row(const char* name, const char* group, const char* placeholder, Option option,
           std::string help) {
  option.name = name;
  option.group = group;
  option.placeholder = placeholder;
  option.help = std::move(help);
  return option;
}

Option Bytes(uint64_t ServerConfig::*field, uint64_t low, uint64_t high) {
  return Value(
      field, StrCat(FormatBytes(low), "..", FormatBytes(high), ", such as 16MiB"),
      [=](const std::string& text) { return Within(ParseBytes(text), low, high); }, FormatBytes);
}

Option Time(std::chrono::milliseconds ServerConfig::*field, std::chrono::milliseconds low,
            std::chrono::milliseconds high) {
  return Value(
      field, StrCat(FormatDuration(low), "..", FormatDuration(high), ", such as 250ms, 5s or 2m"),
      [=](const std::string& text) { return Within(ParseDuration(text), low, high); },
      FormatDuration);
}

Option Bool(bool ServerConfig::*field) {
  Option row = Value(field, "true, false, on or off", ParseBool,
                     [](bool value) { return value ? "true" : "false"; });
  row.literal = Option::Literal::kBool;
  row.choices = {"true", "false"};
  return row;
}

Option Path(std::filesystem::path ServerConfig::*field) {
  return Value(
      field, "a path",
      [](const std::string& text) -> std::optional<std::filesystem::path> {
        if (text.find('\0') != text.npos) return std::nullopt;
        return text;
      },
      [](const std::filesystem::path& path) { return path.string(); });
}

Option Models(std::string ServerConfig::*field) {
  return Text(
      field,
      "folders with commas between them, each perhaps with the name of its only model, such as "
      "/srv/models or /srv/models,voice=/mnt/models",
      [](const std::string& text) { return models::ParseModelSources(text).ok(); });
}

Option Devices(std::optional<runtime::DeviceType> ServerConfig::*device,
               std::vector<int> ServerConfig::*numbers) {
  Option row;
  using runtime::DeviceType;
  constexpr char kAuto[] = "auto";
  constexpr char kCard[] = "cuda:";
  constexpr int kMostNumber = 63;
  row.choices = {kAuto};
  for (const runtime::DeviceTraits& traits : runtime::kDeviceTraits)
    row.choices.emplace_back(traits.name);
  row.allowed = StrCat(absl::StrJoin(row.choices, ", "), " or cards such as cuda:0,cuda:1");
  row.set = [=](ServerConfig& config, const std::string& text) {
    std::optional<DeviceType> found = runtime::ParseDeviceType(text);
    std::vector<int> cards;
    if (!found && text != kAuto) {
      for (const absl::string_view part : absl::StrSplit(text, ',')) {
        absl::string_view digits = part;
        int number = 0;
        if (!absl::ConsumePrefix(&digits, kCard) || !absl::SimpleAtoi(digits, &number) ||
            number < 0 || number > kMostNumber || StrCat(kCard, number) != part ||
            std::ranges::count(cards, number) > 0) {
          return false;
        }
        cards.push_back(number);
      }
      found = DeviceType::kCuda;
    }
    config.*device = found;
    config.*numbers = std::move(cards);
    return true;
  };
  row.get = [=](const ServerConfig& config) -> std::string {
    if (!(config.*device)) return kAuto;
    if ((config.*numbers).empty()) return std::string(runtime::ToString(*(config.*device)));
    return absl::StrJoin(config.*numbers, ",", [&](std::string* out, int number) {
      absl::StrAppend(out, kCard, number);
    });
  };
  return row;
}

Option PublishedModels(std::vector<std::string> ServerConfig::*field) {
  return Value(
      field, "names with commas between them, such as piper/en_US-lessac-medium,firefox/en-de",
      [](const std::string& text) -> std::optional<Names> {
        Names names;
        for (const absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
          const absl::string_view name = absl::StripAsciiWhitespace(part);
          // A name with a dash at its beginning would be an option of the program that fetches it.
          if (name.size() > 256 || name[0] == '-' ||
              !std::all_of(name.begin(), name.end(),
                           [](unsigned char c) { return absl::ascii_isgraph(c); })) {
            return std::nullopt;
          }
          names.emplace_back(name);
        }
        return names;
      },
      [](const Names& names) { return absl::StrJoin(names, ","); });
}

Option Address(std::string ServerConfig::*field, AddressKind kind) {
  const bool optional = kind == AddressKind::kOptional;
  return Value(
      field,
      StrCat("host:port or [v6]:port, port 0..65535 (0: a free one), or ", SocketAddressRule(),
             optional ? ", or off" : ""),
      [=](const std::string& text) -> std::optional<std::string> {
        if (optional && (text.empty() || text == kNotServed)) return "";
        return ParseListenAddress(text).ok() ? std::optional(text) : std::nullopt;
      },
      [](const std::string& address) { return address.empty() ? kNotServed : address; });
}

Option PlainAddress(const char* option, std::string ServerConfig::*field,
                    const std::string& protocol, const char* anonymous_option,
                    bool ServerConfig::*anonymous) {
  Option row = Address(field, AddressKind::kOptional);
  row.check = [=](const ServerConfig& config) -> absl::Status {
    const std::string& address = config.*field;
    if (!IsExposed(address)) return absl::OkStatus();
    if (!config.api_keys.empty() && !(config.*anonymous)) {
      return InvalidArgument(
          "--", option, ": ", address,
          " can be reached from other machines without the key that --api-keys asks for, because ",
          protocol, " has none; use 127.0.0.1, or accept it with --", anonymous_option);
    }
    if (config.insecure) return absl::OkStatus();
    return ReachableWithoutTls(
        option, address,
        StrCat("use 127.0.0.1, or accept it with --insecure: ", protocol, " has no TLS"));
  };
  return row;
}

Option Version(std::string ServerConfig::*field) {
  return Text(field, "the beginning of a version, such as 2.15", [](const std::string& text) {
    return text.size() <= 64 && std::ranges::all_of(text, [](unsigned char c) {
             return absl::ascii_isalnum(c) || c == '.' || c == '+' || c == '-';
           });
  });
}

Option Aliases(std::optional<std::map<std::string, std::string>> ServerConfig::*field) {
  using Pairs = std::map<std::string, std::string>;
  static constexpr char kAuto[] = "auto";
  static constexpr char kNone[] = "off";
  return Value(
      field, "auto, off, or pairs such as alloy=joe,nova=jane",
      [](const std::string& text) -> std::optional<std::optional<Pairs>> {
        if (text == kNone) return std::optional<Pairs>();
        std::optional<Pairs> pairs = text == kAuto ? Pairs() : ParsePairs(text);
        if (!pairs) return std::nullopt;
        return pairs;
      },
      [](const std::optional<Pairs>& pairs) -> std::string {
        if (!pairs) return kNone;
        return pairs->empty() ? kAuto : FormatPairs(*pairs);
      });
}

Option HostNames(std::vector<std::string> ServerConfig::*field) {
  return List(field, "off, *, or names such as tts.example.org,.example.net",
              [](const std::string& text) -> std::optional<std::vector<std::string>> {
                std::vector<std::string> names = absl::StrSplit(text, ',');
                for (const std::string& name : names) {
                  const bool is_name =
                      name.find_first_not_of('.') != name.npos &&
                      std::ranges::all_of(name, [](unsigned char c) {
                        return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_';
                      });
                  if (!is_name && (name != "*" || names.size() > 1)) return std::nullopt;
                }
                return names;
              });
}

Option OriginList(std::vector<std::string> ServerConfig::*field) {
  return List(field, "off, *, or origins such as https://chat.example.org,http://localhost:3000",
              [](const std::string& text) { return ParseOrigins(text); });
}

Option TraceEndpoint(std::string ServerConfig::*field) {
  return Text(field, "auto, off, or a URL such as http://localhost:4317 or https://collector:4318",
              [](const std::string& text) {
                return text == "auto" || text == kNotServed || tracing::ParseEndpoint(text).ok();
              });
}

Option Ratio(std::optional<double> ServerConfig::*field) {
  static constexpr char kAuto[] = "auto";
  return Value(
      field, "auto, or 0..1, such as 0.01",
      [](const std::string& text) -> std::optional<std::optional<double>> {
        double value = 0;
        if (text == kAuto) return std::optional<double>();
        if (!absl::SimpleAtod(text, &value) || !(value >= 0 && value <= 1)) return std::nullopt;
        return value;
      },
      [](std::optional<double> value) { return value ? StrCat(*value) : kAuto; });
}

Option ServiceName(std::string ServerConfig::*field) {
  return Text(field, "at most 255 printable characters of ASCII", [](const std::string& text) {
    return text.size() <= 255 &&
           std::ranges::all_of(text, [](unsigned char c) { return absl::ascii_isprint(c); });
  });
}

}  // namespace millrace::option_types
