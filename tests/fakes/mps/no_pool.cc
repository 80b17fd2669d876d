// A libtorch before 2.14: one stream.
#include "tests/fakes/mps/stream_state.h"

namespace millrace::mps_standin {

bool HasPool() { return false; }

}  // namespace millrace::mps_standin
