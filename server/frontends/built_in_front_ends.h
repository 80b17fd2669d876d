#pragma once

#include <span>

#include "server/frontends/front_end.h"

namespace millrace::server {

// The front ends of frontends.inc that this build has, in its order. The list lives as long as the
// process. Needs libtorch.
std::span<const FrontEnd* const> BuiltInFrontEnds();

}  // namespace millrace::server
