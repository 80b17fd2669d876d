#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::translation {

// A SentencePiece model. Immutable, so thread-safe.
//
// The library comes as a module of its own, loaded at run time: Debian's libsentencepiece carries
// an older Protobuf inside and exports its symbols, so that in one name space with the server's
// Protobuf each would call into the other.
class PieceModel {
 public:
  struct Piece {
    std::string text;
    size_t begin = 0;  // byte of the input where it starts
  };

  // Null with the reason when the module cannot be loaded or the file is not a SentencePiece model.
  static std::unique_ptr<const PieceModel> Load(const std::filesystem::path& path,
                                                std::string& error);
  virtual ~PieceModel() = default;

  virtual int size() const = 0;
  virtual int32_t IdOf(std::string_view piece) const = 0;
  virtual std::string TextOf(int32_t id) const = 0;
  virtual bool IsUnknown(int32_t id) const = 0;
  virtual std::vector<int32_t> Encode(std::string_view text) const = 0;
  // The same pieces with their places in the text; slower.
  virtual std::vector<Piece> EncodeWithPlaces(std::string_view text) const = 0;
  virtual std::string Decode(const std::vector<int32_t>& ids) const = 0;
};

}  // namespace millrace::translation
