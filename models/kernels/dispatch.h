#pragma once

#include <initializer_list>
#include <vector>

#include "models/kernels/target.h"

namespace millrace::kernels {

// Returns the sets that this process can run, in their order, which is best first. `Kernels` is a
// struct with a member `target`. Files that are compiled for newer processors than the rest must
// not include this.
template <typename Kernels>
std::vector<const Kernels*> Runnable(std::initializer_list<const Kernels*> sets) {
  std::vector<const Kernels*> runnable;
  for (const Kernels* set : sets) {
    if (CanRun(set->target)) runnable.push_back(set);
  }
  return runnable;
}

}  // namespace millrace::kernels
