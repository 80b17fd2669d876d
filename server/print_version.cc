#include "server/print_version.h"

#include <cstdio>

#include "models/kernels/target.h"
#include "server/config/front_ends.h"
#include "server/control/version.h"

namespace millrace {

void PrintVersion(const runtime::Provenance& libtorch) {
  std::printf(
      "millrace %s\nlibtorch %s (%s) from %s\ncompiled against libtorch %s\n"
      "front ends: %s\nkernels for the CPU: %s\n",
      kVersion, libtorch.libtorch_version.c_str(), libtorch.libtorch_git_revision.c_str(),
      libtorch.libtorch_path.c_str(), libtorch.compiled_against.c_str(), BuiltFrontEnds().c_str(),
      kernels::ToString(kernels::BestInstructionSet()));
  if (libtorch.mps_patch_level != 0)
    std::printf("patch level of libtorch's MPS backend: %d\n", libtorch.mps_patch_level);
}

}  // namespace millrace
