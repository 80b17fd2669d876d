#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace millrace::testing {

// Writes a file of this header, which is JSON, and of the data behind it.
inline void WriteSafetensors(const std::filesystem::path& file, std::string header,
                             std::string_view data) {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof(length));
  out << header << data;
}

}  // namespace millrace::testing
