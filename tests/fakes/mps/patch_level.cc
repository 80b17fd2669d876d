// The function that deploy/libtorch/patch adds to libtorch.
#include "tests/fakes/mps/faults.h"

extern "C" int millrace_mps_patch_level() { return millrace::mps_standin::TheFaults().patch_level; }
