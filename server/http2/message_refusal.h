#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace millrace::server {

// A short message that the guard puts in place of one that it refuses, because gRPC would keep all
// of that one before it looks at its size. It begins with bytes that are drawn at random for each
// process, so no message of a client is taken for one.
struct MessageRefusal {
  enum class Reason : uint8_t {
    kTooLarge,       // for the server
    kTooManyAtOnce,  // see MessageBytes
    kCompressed,     // gRPC would unpack all of it before it looks at its size
  };
  static constexpr size_t kBytes = 21;
  using Bytes = std::array<uint8_t, kBytes>;

  Reason reason = Reason::kTooLarge;
  uint32_t size = 0;  // the refused message's size, as far as it is known

  Bytes Encode() const;
  // Returns nullopt for any other message. bytes: the first kBytes of a message.
  static std::optional<MessageRefusal> Decode(std::span<const uint8_t, kBytes> bytes);
  // Returns false if a message of that size cannot be one, which is quick.
  static bool MayHaveSize(size_t size) { return (size & 0xff) == kBytes; }
};

}  // namespace millrace::server
