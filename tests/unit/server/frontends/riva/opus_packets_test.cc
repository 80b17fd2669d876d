#include "server/frontends/riva/opus_packets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "models/audio/audio_encoder.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;

// Returns a page with these segments; what a reader does not look at is zero.
std::string Page(const std::vector<std::string>& segments) {
  std::string page = "OggS" + std::string(22, '\0');
  page.push_back(static_cast<char>(segments.size()));
  for (const std::string& segment : segments) page.push_back(static_cast<char>(segment.size()));
  for (const std::string& segment : segments) page += segment;
  return page;
}

// Returns what a client makes of the packets.
std::vector<std::string> Read(std::string_view bytes) {
  std::vector<std::string> packets;
  while (bytes.size() >= 4) {
    size_t length = 0;
    for (size_t i = 4; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
    packets.emplace_back(bytes.substr(4, length));
    bytes.remove_prefix(std::min(4 + length, bytes.size()));
  }
  EXPECT_TRUE(bytes.empty());
  return packets;
}

// Returns the milliseconds of a packet that has one frame, by RFC 6716, 3.1.
double Milliseconds(const std::string& packet) {
  const int config = static_cast<unsigned char>(packet[0]) >> 3;
  EXPECT_EQ(packet[0] & 3, 0);
  if (config < 12) return std::vector{10, 20, 40, 60}[static_cast<size_t>(config % 4)];
  if (config < 16) return config % 2 == 0 ? 10 : 20;
  return std::vector{2.5, 5.0, 10.0, 20.0}[static_cast<size_t>(config % 4)];
}

TEST(OpusPackets, LeavesTheHeadersOutAndSaysHowLongAPacketIs) {
  OpusPackets packets;
  const std::string bytes =
      packets.Push(Page({"OpusHead"}) + Page({"OpusTags"}) + Page({"ab", "", "c"}));
  EXPECT_EQ(bytes, std::string("\2\0\0\0ab\0\0\0\0\1\0\0\0c", 15));
}

TEST(OpusPackets, APacketMayTakeSeveralSegmentsAndPages) {
  const std::string full(255, 'x');
  const std::string ogg =
      Page({"OpusHead"}) + Page({full, "tags"}) + Page({full, full}) + Page({"end", "next"});
  OpusPackets whole;
  EXPECT_THAT(Read(whole.Push(ogg)), ElementsAre(full + full + "end", "next"));
  // Where the stream is cut does not matter.
  OpusPackets cut;
  std::string bytes;
  for (const char byte : ogg) bytes += cut.Push({&byte, 1});
  EXPECT_THAT(Read(bytes), ElementsAre(full + full + "end", "next"));
}

TEST(OpusPackets, TheEncodersPacketsLastAsLongAsTheSound) {
  constexpr int kRate = 24'000;
  auto encoder = models::MakeAudioEncoder({.format = models::AudioFormat::kOggOpus,
                                           .container = models::AudioContainer::kStream,
                                           .input_rate = kRate,
                                           .output_rate = kRate});
  ASSERT_TRUE(encoder.ok());
  OpusPackets packets;
  std::string bytes;
  std::vector<float> tone(kRate / 2);
  for (size_t i = 0; i < tone.size(); ++i)
    tone[i] = 0.5F * std::sin(static_cast<float>(i) * 440 * 2 * std::numbers::pi_v<float> / kRate);
  for (int half_second = 0; half_second < 4; ++half_second)
    bytes += packets.Push((*encoder)->Push(tone));
  EXPECT_FALSE(bytes.empty());  // they do not wait for the end
  bytes += packets.Push((*encoder)->Close().value());
  double milliseconds = 0;
  for (const std::string& packet : Read(bytes)) milliseconds += Milliseconds(packet);
  EXPECT_GE(milliseconds, 2000);
  EXPECT_LE(milliseconds, 2100);
}

}  // namespace
}  // namespace millrace::server
