#include "server/limits/policy.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/config/edit_distance.h"
#include "server/config/toml.h"

namespace millrace::server {
namespace {

constexpr int64_t kMostPerMinute = 1'000'000'000;
constexpr int64_t kMostAtOnce = 65'536;
constexpr double kLeastWeight = 0.01;
constexpr double kMostWeight = 100;
constexpr size_t kMostTiers = 1000;
constexpr size_t kMostShown = 64;  // characters of a value in a message
constexpr size_t kMaxKeyName = 128;
constexpr size_t kMaxTierName = 64;

bool IsName(std::string_view name, size_t longest) {
  return !name.empty() && name.size() <= longest && std::ranges::all_of(name, [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-' || c == '@';
  });
}

// Returns a value as a message shows it.
std::string Shown(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    const std::string& value = text->get();
    return StrCat("'", value.substr(0, kMostShown), value.size() > kMostShown ? "..." : "", "'");
  }
  if (const auto* number = node.as_integer()) return StrCat(number->get());
  if (const auto* number = node.as_floating_point()) return StrCat(number->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  if (node.is_array()) return "a list";
  return node.is_table() ? "a table" : "this value";
}

// Reads a policy, and keeps the first error.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  absl::StatusOr<Policy> Read(const toml::table& table);

 private:
  using Members = std::vector<std::pair<std::string, std::function<void(const toml::node&)>>>;

  void Fail(const toml::node& at, std::string_view what) {
    if (!status_.ok()) return;
    status_ = InvalidArgument(file_, ":", at.source().begin.line, ": ", std::string(what));
  }
  void Refuse(const toml::node& node, std::string_view key, std::string_view allowed) {
    Fail(node, StrCat(std::string(key), ": ", Shown(node),
                      " is not allowed, allowed: ", std::string(allowed)));
  }
  // Calls what belongs to each key of a table; `prefix` is put before a key in messages.
  void ReadTable(const toml::table& table, const std::string& prefix, const Members& members);
  void ReadTiers(const toml::node& node);
  void ReadTier(const std::string& prefix, const toml::node& node, Tier& tier);
  void ReadKeys(const std::string& key, const toml::node& node, size_t tier);
  // Reads a whole number from 1 to `most`.
  void ReadCount(const std::string& key, const toml::node& node, int64_t most,
                 const std::function<void(int64_t)>& set);
  std::optional<size_t> FindTier(std::string_view key, const toml::node& node);

  const std::string& file_;
  absl::Status status_;
  Policy policy_;
};

void Reader::ReadTable(const toml::table& table, const std::string& prefix,
                       const Members& members) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto member = std::ranges::find(members, name, &Members::value_type::first);
    if (member != members.end()) {
      member->second(node);
      continue;
    }
    std::vector<std::string> known;
    for (const auto& [known_name, read] : members) known.push_back(known_name);
    const std::string suggestion = Suggestion(name, known);
    Fail(node,
         StrCat(prefix, name.substr(0, kMostShown), ": is not a known key",
                suggestion.empty() ? "; known are: " + absl::StrJoin(known, ", ") : suggestion));
  }
}

void Reader::ReadCount(const std::string& key, const toml::node& node, int64_t most,
                       const std::function<void(int64_t)>& set) {
  const auto* number = node.as_integer();
  if (number != nullptr && number->get() >= 1 && number->get() <= most) return set(number->get());
  Refuse(node, key, StrCat("a whole number, 1..", most, "; without the key there is no limit"));
}

void Reader::ReadKeys(const std::string& key, const toml::node& node, size_t tier) {
  const auto* names = node.as_array();
  if (names == nullptr) return Refuse(node, key, "a list of names, such as [\"alice\", \"bob\"]");
  for (const toml::node& entry : *names) {
    const auto* name = entry.as_string();
    if (name == nullptr || !IsName(name->get(), kMaxKeyName)) {
      return Refuse(entry, key, "names of API keys, 1..128 letters, digits, '.', '_', '-' and '@'");
    }
    const auto [place, is_new] = policy_.keys.emplace(name->get(), tier);
    if (!is_new) {
      return Fail(entry, StrCat(key, ": '", name->get(), "' is already in tier '",
                                policy_.tiers[place->second].name, "', allowed: each name once"));
    }
  }
}

void Reader::ReadTier(const std::string& prefix, const toml::node& node, Tier& tier) {
  const auto* table = node.as_table();
  if (table == nullptr) return Refuse(node, prefix, "a table");
  const size_t index = policy_.tiers.size();
  policy_.tiers.push_back(tier);  // for messages about names in it
  const std::string dot = prefix + ".";
  const auto per_minute = [&](const std::string& key, std::optional<double> Tier::*field) {
    return std::pair(key, std::function([=, this, &tier](const toml::node& value) {
                       ReadCount(dot + key, value, kMostPerMinute, [&](int64_t number) {
                         tier.*field = static_cast<double>(number);
                       });
                     }));
  };
  ReadTable(*table, dot,
            {per_minute("requests_per_minute", &Tier::requests_per_minute),
             per_minute("characters_per_minute", &Tier::characters_per_minute),
             per_minute("audio_seconds_per_minute", &Tier::audio_seconds_per_minute),
             {"concurrent_requests",
              [&](const toml::node& value) {
                ReadCount(dot + "concurrent_requests", value, kMostAtOnce, [&](int64_t number) {
                  tier.concurrent_requests = static_cast<size_t>(number);
                });
              }},
             {"weight",
              [&](const toml::node& value) {
                const std::optional<double> number = value.value<double>();
                if (!value.is_number() || !number || !(*number >= kLeastWeight) ||
                    !(*number <= kMostWeight))
                  return Refuse(value, dot + "weight", "a number, 0.01..100");
                tier.weight = *number;
              }},
             {"priority",
              [&](const toml::node& value) {
                const auto* text = value.as_string();
                const auto priority = text == nullptr ? std::nullopt : ParsePriority(text->get());
                if (!priority) return Refuse(value, dot + "priority", "low, normal, high");
                tier.priority = *priority;
              }},
             {"keys", [&](const toml::node& value) { ReadKeys(dot + "keys", value, index); }}});
  policy_.tiers[index] = tier;
}

void Reader::ReadTiers(const toml::node& node) {
  const auto* table = node.as_table();
  if (table == nullptr || table->empty())
    return Refuse(node, "tiers", "tables such as [tiers.standard], at least one");
  if (table->size() > kMostTiers)
    return Fail(node, StrCat("tiers: are ", table->size(), ", allowed: up to ", kMostTiers));
  for (const auto& [key, tier_node] : *table) {
    const std::string name(key.str());
    if (!IsName(name, kMaxTierName)) {
      return Fail(tier_node, StrCat("tiers: '", name.substr(0, kMostShown),
                                    "' is not allowed, allowed: names of 1..64 letters, "
                                    "digits, '.', '_', '-' and '@'"));
    }
    Tier tier;
    tier.name = name;
    ReadTier("tiers." + name, tier_node, tier);
  }
}

std::optional<size_t> Reader::FindTier(std::string_view key, const toml::node& node) {
  std::vector<std::string> names;
  for (const Tier& tier : policy_.tiers) names.push_back(tier.name);
  const auto* text = node.as_string();
  const auto found = text == nullptr ? names.end() : std::ranges::find(names, text->get());
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  Refuse(node, key,
         StrCat("the name of a tier", text == nullptr ? "" : Suggestion(text->get(), names)));
  return std::nullopt;
}

absl::StatusOr<Policy> Reader::Read(const toml::table& table) {
  // Tiers are read first, because the other keys name them.
  const toml::node* tiers = table.get("tiers");
  if (tiers != nullptr) ReadTiers(*tiers);
  std::optional<size_t> default_tier;
  std::optional<size_t> anonymous_tier;
  ReadTable(table, "",
            {{"tiers", [](const toml::node&) {}},
             {"default", [&](const toml::node& node) { default_tier = FindTier("default", node); }},
             {"anonymous",
              [&](const toml::node& node) { anonymous_tier = FindTier("anonymous", node); }}});
  if (!status_.ok()) return status_;
  if (tiers == nullptr)
    return InvalidArgument(file_, ": tiers: is missing, allowed: tables such as [tiers.standard]");
  if (!default_tier) {
    return InvalidArgument(
        file_, ": default: is missing, allowed: the name of a tier, for keys that none names");
  }
  policy_.default_tier = *default_tier;
  policy_.anonymous_tier = anonymous_tier.value_or(*default_tier);
  return std::move(policy_);
}

}  // namespace

const Tier& Policy::TierOf(std::string_view key) const {
  if (key.empty()) return tiers[anonymous_tier];
  const auto found = keys.find(key);
  return tiers[found == keys.end() ? default_tier : found->second];
}

absl::StatusOr<Policy> ParsePolicy(std::string_view text, const std::string& file) {
  const toml::parse_result table = toml::parse(text, file);
  if (!table) {
    const toml::source_position at = table.error().source().begin;
    return InvalidArgument(file, ":", at.line, ":", at.column, ": ",
                           std::string(table.error().description()));
  }
  return Reader(file).Read(table.table());
}

}  // namespace millrace::server
