#include "server/logging/line_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

namespace millrace::logging {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A pipe that nobody reads until the test does.
class LineWriterTest : public ::testing::Test {
 protected:
  LineWriterTest() {
    EXPECT_EQ(pipe(ends_), 0);
    signal(SIGPIPE, SIG_IGN);
  }
  ~LineWriterTest() override {
    CloseReader();
    close(ends_[1]);
  }

  LineWriter::Options Options(size_t max_lines = 8192) const {
    return {.descriptor = ends_[1], .max_lines = max_lines, .describe_lost = [](uint64_t lost) {
              return "lost " + std::to_string(lost) + "\n";
            }};
  }
  // Bytes until no more can be written without waiting; how many.
  size_t Fill() {
    const int flags = fcntl(ends_[1], F_GETFL);
    fcntl(ends_[1], F_SETFL, flags | O_NONBLOCK);
    const std::string junk(4096, '.');
    size_t filled = 0;
    for (ssize_t wrote; (wrote = write(ends_[1], junk.data(), junk.size())) > 0;)
      filled += static_cast<size_t>(wrote);
    fcntl(ends_[1], F_SETFL, flags);
    return filled;
  }
  std::string Read(size_t bytes) {
    std::string text(bytes, '\0');
    for (size_t at = 0; at < bytes;) {
      const ssize_t got = read(ends_[0], text.data() + at, bytes - at);
      if (got <= 0) return text.substr(0, at);
      at += static_cast<size_t>(got);
    }
    return text;
  }
  void CloseReader() {
    if (ends_[0] >= 0) close(ends_[0]);
    ends_[0] = -1;
  }

  int ends_[2] = {-1, -1};
};

TEST_F(LineWriterTest, WritesLinesInOrder) {
  LineWriter writer(Options());
  writer.Write("one\n");
  writer.Write("two\n");
  writer.Close(seconds(10));
  EXPECT_EQ(Read(8), "one\ntwo\n");
}

TEST_F(LineWriterTest, FullPipeHoldsUpNeitherLinesNorTheEnd) {
  Fill();
  const auto start = std::chrono::steady_clock::now();
  {
    LineWriter::Options options = Options(4);
    options.descriptor = dup(ends_[1]);  // stays open: the thread that hangs is left with it
    LineWriter writer(options);
    for (int i = 0; i < 10'000; ++i) writer.Write("line\n");
    writer.Close(milliseconds(20));
    writer.Write("too late\n");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(10));
}

TEST_F(LineWriterTest, LostLinesAreToldWhenTheReaderComesBack) {
  const size_t filled = Fill();
  LineWriter writer(Options(3));
  writer.Write("0\n");
  // The first of them hangs in its write, however long that takes to begin; the last three wait.
  for (int i = 1; i < 10; ++i) writer.Write(std::to_string(i) + "\n");
  Read(filled);
  writer.Close(seconds(10));
  close(ends_[1]);
  ends_[1] = -1;
  const std::string text = Read(1000);
  // Once, or twice if some were lost before the thread that writes began.
  int told = 0;
  int lost = 0;
  for (size_t at = 0; (at = text.find("lost ", at)) != std::string::npos; ++told)
    lost += std::stoi(text.substr(at += 5));
  EXPECT_TRUE(told == 1 || told == 2) << text;
  EXPECT_EQ(text.substr(text.size() - 6), "7\n8\n9\n");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n') - told + lost, 10) << text;
}

TEST_F(LineWriterTest, BytesAreBoundedToo) {
  const size_t filled = Fill();
  LineWriter::Options options = Options();
  options.max_bytes = 100;
  LineWriter writer(options);
  for (int i = 0; i < 100; ++i) writer.Write(std::string(49, 'x') + "\n");
  Read(filled);
  writer.Close(seconds(10));
  close(ends_[1]);
  ends_[1] = -1;
  // Two lines that waited, and one that the writer had taken already.
  const std::string text = Read(10'000);
  EXPECT_LE(std::count(text.begin(), text.end(), 'x'), 3 * 49) << text;
}

TEST_F(LineWriterTest, SlowReaderGetsAllOfIt) {
  Fill();
  LineWriter writer(Options());
  const std::string line(1000, 'x');
  for (int i = 0; i < 100; ++i) writer.Write(line + "\n");
  std::thread reader([this] {
    while (!Read(4096).empty()) {
    }
  });
  writer.Close(seconds(10));
  close(ends_[1]);  // the reader sees the end
  ends_[1] = -1;
  reader.join();
}

TEST_F(LineWriterTest, ReaderThatIsGoneIsNoReasonToWait) {
  CloseReader();
  LineWriter writer(Options());
  for (int i = 0; i < 100; ++i) writer.Write("line\n");
  const auto start = std::chrono::steady_clock::now();
  writer.Close(seconds(60));
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(30));
}

}  // namespace
}  // namespace millrace::logging
