#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "fakes/temporary_folder.h"

namespace millrace::models {

// A lexicon of a few words, in which the characters of 张 and 伟 form a name.
inline constexpr char kSmallLexicon[] =
    "[total]\n1000\n"
    "[words]\n"
    "一\t50\tyi1\n"
    "一个\t40\tyi2 ge4\n"
    "个\t10\tge4\n"
    "伟\t0\twei3\n"
    "你\t10\tni3\n"
    "你好\t30\t\n"
    "好\t10\thao3\n"
    "张\t0\tzhang1\n"
    "行\t10\txing2\n"
    "银\t5\tyin2\n"
    "银行\t20\tyin2 hang2\n"
    "长\t10\tchang2\n"
    "[syllables]\n"
    "chang2\tC2\nge4\tG4\nhang2\tH2\nhao3\tH3\nni3\tN3\nwei3\tW3\nxing2\tX2\nyi1\tY1\nyi2\tY2\n"
    "yin2\tN2\nzhang1\tZ1\n"
    "[start]\nB\t-0.3\nM\t-3.14e100\nE\t-3.14e100\nS\t-1.5\n"
    "[transitions]\nB\tE\t-0.5\nB\tM\t-0.9\nE\tB\t-0.6\nE\tS\t-0.8\nM\tE\t-0.3\nM\tM\t-1.3\nS\tB\t-"
    "0.7\n"
    "S\tS\t-0.7\n"
    "[emissions]\n"
    "伟\tB\t-9\tM\t-9\tE\t-3\tS\t-9\n"
    "张\tB\t-3\tM\t-9\tE\t-9\tS\t-9\n";

// The lexicon as a file.
class LexiconFile {
 public:
  explicit LexiconFile(const std::string& text = kSmallLexicon) {
    std::ofstream(path(), std::ios::binary) << text;
  }
  std::filesystem::path path() const { return folder_.path() / "chinese.lexicon"; }

 private:
  const millrace::testing::TemporaryFolder folder_;
};

}  // namespace millrace::models
