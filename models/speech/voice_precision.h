#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "models/core/model_kind.h"
#include "models/kernels/precision.h"
#include "models/kernels/target.h"

namespace millrace::speech {

// The precision of a voice's network, as its model.pbtxt has it.
struct VoicePrecision {
  // The distance of sounds in int8 from those in float32 up to which AUTO takes int8. The published
  // int8 file of Kokoro, in onnxruntime, is 0.4 to 1 dB from float32.
  static constexpr float kGreatestInt8Distance = 0.5F;

  // float32 or int8; nullopt: AUTO.
  std::optional<kernels::Precision> asked = kernels::Precision::kFloat32;
  // The mean distance of the log-mel spectrograms, dB; 0: not measured.
  float int8_distance_db = 0;
};

// Returns "float32", "int8" or, for AUTO, "auto".
inline std::string NameOf(std::optional<kernels::Precision> precision) {
  if (!precision) return "auto";
  return *precision == kernels::Precision::kInt8 ? "int8" : "float32";
}

// Returns float32 or int8. AUTO is int8 where the processor gains by it and the distance was
// measured and is small, and never an error; the log says why. Returns an error if what was asked
// for cannot run here. gaining: the targets of the int8 kernels with which the kind speaks at least
// 1.2 times as fast as in float32.
absl::StatusOr<kernels::Precision> ChoosePrecision(const VoicePrecision& precision,
                                                   const models::LoadContext& context,
                                                   const std::string& model,
                                                   std::initializer_list<kernels::Target> gaining);

}  // namespace millrace::speech
