#pragma once

#include <cstdint>
#include <vector>

#include "models/kernels/precision.h"
#include "models/speech/packed_conv.h"
#include "models/vits/vits_weights.h"

namespace millrace::vits {

// The inverse flow of VITS for the CPU, on rows of channels. The exchanges of the two halves
// between its layers are folded into the order of the weights. Immutable, shared by all threads; a
// call's memory grows with the number of frames.
class Flow {
 public:
  // Errors are kept in weights.status(). `speakers` [n, channels] or undefined. precision: float32,
  // or int8 for all layers but those at both ends of a coupling.
  Flow(VitsWeights& weights, int64_t latent, const at::Tensor& speakers,
       kernels::Precision precision);

  // A row of latent values has two halves of half_width() floats; the second half of the channels
  // begins at half_width().
  int64_t half_width() const { return half_width_; }
  // Returns the number of frames at whose multiples a sentence may be cut into parts: a frame's
  // value does not depend on a cut that is at least reach() away.
  int64_t cut_step() const { return cut_step_; }
  // Returns the number of frames on each side that a transformed frame depends on, a multiple of
  // cut_step().
  int64_t reach() const;
  // A sentence or a part of one, of which the frames [begin, end) are wanted. They lie reach() or
  // more from where the part was cut off, at multiples of cut_step() or at the sentence's ends.
  struct Part {
    float* rows = nullptr;
    int64_t frames = 0;
    int64_t begin = 0;
    int64_t end = 0;
  };
  // Transforms the wanted rows in place; the others may have any values afterwards.
  void Run(const Part& part, int64_t speaker) const;

 private:
  struct Layer {
    speech::PackedConv gates;
    speech::PackedConv residual;  // not in the last layer
    speech::PackedConv skip;
  };
  struct Coupling {
    int64_t kept = 0;     // first channel of the half that conditions
    int64_t changed = 0;  // first channel of the half that is changed
    speech::PackedConv pre, post;
    std::vector<Layer> layers;
    VitsConv speaker;  // all layers' gates; unused for one speaker
  };

  // Returns the number of frames on each side that a layer's rows depend on, in whole tiles.
  int64_t Reach(const Layer& layer) const;
  Coupling Build(VitsWeights& weights, int flow, bool reversed, kernels::Precision precision);
  // Returns the biases of a coupling's gates, one row for each layer, with the speaker's
  // contribution.
  kernels::AlignedBuffer<float> SpeakerBias(const Coupling& coupling, int64_t speaker) const;

  const at::Tensor speakers_;
  const int64_t half_;  // channels
  const int64_t half_width_;
  int64_t hidden_ = 0;  // channels
  int64_t cut_step_ = 1;
  std::vector<Coupling> couplings_;  // in the order of inference
};

}  // namespace millrace::vits
