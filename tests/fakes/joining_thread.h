#pragma once

#include "mps_runtime/base/joining_thread.h"

namespace millrace::testing {

using millrace::JoiningThread;

}  // namespace millrace::testing
