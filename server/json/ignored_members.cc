#include "server/json/ignored_members.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"

namespace millrace::server {
namespace {

constexpr size_t kMaxNames = 16;
constexpr size_t kMaxNameBytes = 64;

std::string HeaderSafe(std::string_view name) {
  std::string safe(name.substr(0, kMaxNameBytes));
  std::ranges::replace_if(
      safe, [](unsigned char c) { return !absl::ascii_isgraph(c) || c == '"' || c == '\\'; }, '?');
  if (name.size() > kMaxNameBytes) safe += "...";
  return safe;
}

}  // namespace

void AddIgnored(std::string name, std::vector<std::string>& ignored) {
  if (ignored.size() < kMaxNames) ignored.push_back(std::move(name));
}

void AddIgnored(const nlohmann::json& object, std::initializer_list<std::string_view> known,
                std::string_view prefix, std::vector<std::string>& ignored) {
  for (const auto& [name, value] : object.items()) {
    if (!value.is_null() && std::ranges::find(known, name) == known.end())
      AddIgnored(StrCat(prefix, name), ignored);
  }
}

std::string IgnoredMembers(std::span<const std::string> names, std::string_view kind) {
  std::string told = StrCat("ignored ", kind, ": ");
  const size_t named = std::min(names.size(), kMaxNames);
  for (size_t i = 0; i < named; ++i) told += StrCat(i == 0 ? "" : ", ", HeaderSafe(names[i]));
  if (names.size() > named) told += StrCat(" and ", names.size() - named, " more");
  return told;
}

std::string IgnoredMembersWarning(std::span<const std::string> names, std::string_view kind) {
  return names.empty() ? "" : StrCat("299 millrace \"", IgnoredMembers(names, kind), "\"");
}

}  // namespace millrace::server
