#pragma once

#include <initializer_list>
#include <vector>

#include "models/kernels/target.h"

namespace millrace::kernels {

// Those of `sets`, which are listed best first, that this process can run. `Kernels` has a member
// `target`. Not for files that are compiled for newer processors than the rest.
template <typename Kernels>
std::vector<const Kernels*> Runnable(std::initializer_list<const Kernels*> sets) {
  std::vector<const Kernels*> runnable;
  for (const Kernels* set : sets) {
    if (CanRun(set->target)) runnable.push_back(set);
  }
  return runnable;
}

}  // namespace millrace::kernels
