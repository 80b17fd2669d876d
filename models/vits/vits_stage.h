#pragma once

#include <vector>

#include "models/vits/vits_weights.h"

namespace millrace::vits {

// A residual block of the generator.
struct VitsBlock {
  std::vector<VitsConv> convs;    // dilated
  std::vector<VitsConv> seconds;  // undilated, one after each; empty in "resblock 2" voices
};

// A stage of the generator: an upsampling, and blocks whose mean is taken.
struct VitsStage {
  VitsConv up;
  std::vector<VitsBlock> blocks;
};

// A coupling layer of the flow.
struct VitsCoupling {
  VitsConv pre, post;
  // Each layer has one of both.
  std::vector<VitsConv> gates, outputs;
  VitsConv speaker;  // all layers' gates; unused for one speaker
};

}  // namespace millrace::vits
