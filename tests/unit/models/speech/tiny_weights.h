#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fakes/write_safetensors.h"

namespace millrace::speech {

// The random weights of a small voice, in the making.
class TinyWeights {
 public:
  using Shape = std::vector<int64_t>;
  // Damage to a file, by the names of tensors.
  struct Damage {
    const std::map<std::string, Shape>& shapes;
    const std::map<std::string, float>& values;
  };

  // damage: what it refers to must outlive this.
  TinyWeights(uint32_t seed, Damage damage) : damage_(damage), random_(seed) {}

  void Add(const std::string& name, const Shape& fitting, float deviation = 0.3F, float mean = 0) {
    const auto other = damage_.shapes.find(name);
    const Shape& shape = other == damage_.shapes.end() ? fitting : other->second;
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    std::normal_distribution<float> normal(mean, deviation);
    const size_t begin = data_.size();
    for (int64_t i = 0; i < count; ++i) data_.push_back(normal(random_));
    if (const auto value = damage_.values.find(name); value != damage_.values.end())
      std::fill(data_.begin() + static_cast<std::ptrdiff_t>(begin), data_.end(), value->second);
    header_[name] = {
        {"dtype", "F32"}, {"shape", shape}, {"data_offsets", {4 * begin, 4 * data_.size()}}};
  }
  void Write(const std::filesystem::path& file,
             const std::map<std::string, std::string>& metadata) {
    header_["__metadata__"] = metadata;
    testing::WriteSafetensors(
        file, header_.dump(),
        std::string_view(reinterpret_cast<const char*>(data_.data()), 4 * data_.size()));
  }

 private:
  const Damage damage_;
  std::mt19937 random_;
  nlohmann::json header_;
  std::vector<float> data_;
};

}  // namespace millrace::speech
