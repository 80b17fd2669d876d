#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json_fwd.hpp"

namespace millrace::server {

// Adds a name to those of members that have no effect, of which their sender is told. Only as many
// are kept as are told.
void AddIgnored(std::string name, std::vector<std::string>& ignored);
// Adds the members of an object that are none of the known ones, nor null. prefix: what stands
// before their names, such as "voice.".
void AddIgnored(const nlohmann::json& object, std::initializer_list<std::string_view> known,
                std::string_view prefix, std::vector<std::string>& ignored);

// Returns "ignored members: " and the names, with what could harm a header replaced; at most 16 are
// named. kind: what they are the names of.
std::string IgnoredMembers(std::span<const std::string> names, std::string_view kind = "members");
// Returns the same as the value of a Warning header (RFC 7234, 5.5); empty if there are none.
std::string IgnoredMembersWarning(std::span<const std::string> names,
                                  std::string_view kind = "members");

}  // namespace millrace::server
