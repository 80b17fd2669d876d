#include "tiny_lexicon.h"

#include <cstdint>
#include <fstream>
#include <stdexcept>

namespace millrace::testing {
namespace {

void AppendWord(uint32_t value, std::string& bytes) {
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i));
}

uint32_t Crc32(const std::string& bytes) {
  uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

}  // namespace

std::string LexiconBytes(const std::map<std::string, std::string>& entries, unsigned dialect) {
  std::string text;
  std::string offsets;
  AppendWord(0, offsets);
  for (const auto& [word, value] : entries) {
    text += word + '\0' + value;
    AppendWord(static_cast<uint32_t>(text.size()), offsets);
  }
  std::string header = "MRLEXIC1";
  AppendWord(dialect, header);
  AppendWord(static_cast<uint32_t>(entries.size()), header);
  AppendWord(static_cast<uint32_t>(text.size()), header);
  std::string checksum;
  AppendWord(Crc32(header + offsets + text), checksum);
  return header + checksum + offsets + text;
}

void WriteFile(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

models::EnglishLexicon TinyLexicon(const std::filesystem::path& folder) {
  std::map<std::string, std::string> words = {{"to", "gtu"},
                                              {"the", "gði"},
                                              {"dog", "gdˈɔɡ"},
                                              {"apple", "gˈæpᵊl"},
                                              {"cat", "gkˈæt"},
                                              {"bus", "gbˈʌs"},
                                              {"want", "gwˈɑnt"},
                                              {"make", "gmˈAk"},
                                              {"stop", "gstˈɑp"},
                                              {"London", "glˈʌndən"},
                                              {"red", "gɹˈɛd"},
                                              {"hot", "ghˈɑt"},
                                              {"two", "gtˈu"},
                                              {"point", "gpˈYnt"},
                                              {"NASA", "gnˈæsə"},
                                              {"am", "gæm"},
                                              {"city", "gsˈɪTi"},
                                              {"jump", "gʤˈʌmp"},
                                              {"odd", "sˈɑd"},
                                              {"in", "gɪn"},
                                              {"can", "gkæn\tNone=kˈæn"},
                                              {"record", "gɹˈɛkəɹd\tVERB=ɹəkˈɔɹd"},
                                              {"US", "gˌʌs\tNOUN"},
                                              {"used", "gjˈuzd\tVBD=jˈust"},
                                              {"use", "gjˈuz\tNOUN=jˈus"},
                                              {"five", "gfˈIv"}};
  for (const char letter : std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    words.emplace(std::string(1, letter), letter == 'W' ? "gdˈʌbᵊljˌu" : "gˈi");
  }
  words["B"] = "gbˈi";
  words["S"] = "gˈɛs";
  words["U"] = "gjˈu";
  WriteFile(folder / "tiny.lex", LexiconBytes(words));
  auto lexicon = models::EnglishLexicon::Open(folder / "tiny.lex");
  if (!lexicon.ok()) throw std::runtime_error(lexicon.status().ToString());
  return *std::move(lexicon);
}

}  // namespace millrace::testing
