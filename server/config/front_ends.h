#pragma once

#include <span>
#include <string>
#include <string_view>

namespace millrace {

// A front end of server/frontends/frontends.inc.
struct FrontEndName {
  std::string_view name;
  bool is_built = false;  // false: MILLRACE_FRONTENDS left it out of this build
};

// Returns all of them in the order of the list, which lives as long as the process. Needs none of
// them to be linked, so that the client program knows them too.
std::span<const FrontEndName> AllFrontEnds();

// Returns true for the name of one that this build has.
bool HasFrontEnd(std::string_view name);

// Returns the names of those that this build has, with commas between them.
std::string BuiltFrontEnds();

}  // namespace millrace
