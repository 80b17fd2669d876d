#include "mps_runtime/forward_mode.h"

#include <array>

namespace millrace::runtime {
namespace {

constexpr std::array<std::string_view, 3> kModeNames = {"parallel", "encode-lock",
                                                        "serial"};  // by ForwardMode

}  // namespace

std::string_view ToString(ForwardMode mode) { return kModeNames[static_cast<size_t>(mode)]; }

}  // namespace millrace::runtime
