#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "mps_runtime/stream.h"

namespace millrace::runtime {

// The properties of a kind of device that are known before its backend was made. Models decide by
// them how to compute there.
struct DeviceTraits {
  std::string_view name;           // in options, profiles and messages
  std::string_view libtorch_name;  // the name of its tensors' device
  // Operators run on the host's cores.
  bool computes_on_host = false;
  // A forward leaves something that later ones of its shape use: a captured graph, or a compiled
  // kernel. So shapes are padded to buckets.
  bool keeps_shapes = false;
  // libtorch compiles each new shape and keeps it until the process exits.
  bool compiles_shapes = false;
  // Copies between host and device wait unless the host's memory is page-locked.
  bool pins_host_memory = false;
  // Matrix products are computed in float16.
  bool half_precision = false;
  // A forward of many requests takes little longer than one of few, and there is memory for their
  // caches: batches are large unless the operator says otherwise.
  bool large_batches = false;
  // aten::linear fails when several threads run it, so other operators take its place.
  bool replaces_linear = false;
};

inline constexpr std::array<DeviceTraits, 3> kDeviceTraits = {{
    // by DeviceType
    {.name = "cpu", .libtorch_name = "cpu", .computes_on_host = true},
    {.name = "cuda",
     .libtorch_name = "cuda",
     .keeps_shapes = true,
     .pins_host_memory = true,
     .half_precision = true,
     .large_batches = true},
    {.name = "mps",
     .libtorch_name = "mps",
     .keeps_shapes = true,
     .compiles_shapes = true,
     .replaces_linear = true},
}};

constexpr const DeviceTraits& TraitsOf(DeviceType device) {
  return kDeviceTraits[static_cast<size_t>(device)];
}

// Returns the names of all devices, for messages: "cpu, cuda or mps" if the last separator is " or
// ".
std::string DeviceNames(std::string_view last_separator);

}  // namespace millrace::runtime
