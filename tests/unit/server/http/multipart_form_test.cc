#include "server/http/multipart_form.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace millrace {
namespace {

using Parts = std::vector<std::string>;

// Reads a form in pieces of a size. Returns "name|file name|bytes" of each part, and the error, if
// there is one, as the last.
Parts ReadInPieces(std::string_view form, size_t piece, std::string_view boundary = "b") {
  Parts parts;
  MultipartReader reader(
      boundary,
      [&parts](const MultipartReader::Part& part) {
        parts.push_back(part.name + "|" + part.file_name + "|");
      },
      [&parts](std::string_view bytes) { parts.back() += bytes; });
  absl::Status status;
  for (size_t at = 0; at < form.size() && status.ok(); at += piece)
    status = reader.Take(form.substr(at, piece));
  if (status.ok()) status = reader.End();
  if (!status.ok()) parts.emplace_back(status.message());
  return parts;
}

// Reads a form whole and in pieces of all sizes, which must make no difference.
Parts Read(std::string_view form, std::string_view boundary = "b") {
  Parts whole = ReadInPieces(form, form.size() + 1, boundary);
  for (size_t piece = 1; piece <= form.size(); ++piece)
    EXPECT_EQ(ReadInPieces(form, piece, boundary), whole) << "in pieces of " << piece;
  return whole;
}

std::string PartOf(std::string_view header, std::string_view bytes) {
  return std::string("--b\r\n").append(header).append("\r\n\r\n").append(bytes).append("\r\n");
}

TEST(MultipartReaderTest, ReadsPartsInOrder) {
  EXPECT_EQ(Read(PartOf("Content-Disposition: form-data; name=\"q\"", "Hello.") +
                 PartOf("Content-Type: text/plain\r\n"
                        "content-disposition:form-data; filename=\"a.txt\"; name=file",
                        "one\r\n\r\ntwo") +
                 "--b--\r\n"),
            (Parts{"q||Hello.", "file|a.txt|one\r\n\r\ntwo"}));
}

TEST(MultipartReaderTest, TakesWhatMayStandAroundTheParts) {
  const std::string part = PartOf("Content-Disposition: form-data; name=\"q\"", "x");
  for (const char* before : {"\r\n", "This is a form.\r\n", "--bc\r\n", "--b\x0f\r\n", "--b\n\r\n"})
    EXPECT_EQ(Read(before + part + "--b--"), (Parts{"q||x"})) << before;
  EXPECT_EQ(Read(part + "--b--\r\nThe end.\r\n--b\r\n\r\nno part"), (Parts{"q||x"}));
  EXPECT_EQ(Read("--b \t\r\n\r\nx\r\n--b--"), (Parts{"||x"}));
}

TEST(MultipartReaderTest, TakesBytesThatBeginLikeABoundary) {
  for (const char* bytes : {"\r\n--", "\r\n--c", "\r\n--bc", "\r\n--b-", "\r", "\r\n\r\n", "--b",
                            "\r\n-\r\n--\r\n-b", "--b--", "\n--b\n"}) {
    EXPECT_EQ(Read(PartOf("Content-Disposition: form-data; name=\"q\"", bytes) + "--b--"),
              (Parts{std::string("q||") + bytes}))
        << bytes;
  }
  EXPECT_EQ(Read("--b\r\n\r\n\r\n" + PartOf("X: y", "") + "--b--"), (Parts{"||", "||"}));
}

TEST(MultipartReaderTest, ReadsNamesAsClientsWriteThem) {
  const auto name = [](std::string_view parameters) {
    return Read(PartOf(std::string("Content-Disposition: form-data").append(parameters), "") +
                "--b--")[0];
  };
  EXPECT_EQ(name("; name=\"a;b=c\""), "a;b=c||");
  EXPECT_EQ(name(R"(; name="a\"b\\c")"), R"(a"b\c||)");
  EXPECT_EQ(name(R"(;filename="C:\a\b.txt"; NAME = q )"), R"(q|C:\a\b.txt|)");
  EXPECT_EQ(name("; xname=\"a\"; name*=UTF-8''b; name=\"c"), "c||");
  EXPECT_EQ(name("; name=q; filename=\"=?utf-8?B?w6k=?=\"; filename*=utf-8''%C3%A9+a%20b.txt"),
            "q|\u00e9+a b.txt|");
  EXPECT_EQ(name("; filename*=UTF-8'pt'a.txt; name=q"), "q|a.txt|");
  EXPECT_EQ(name("; filename*=koi8-r''a.txt; name=q; filename=b.txt"), "q|b.txt|");
  EXPECT_EQ(name("; filename*=utf-8'; name=q"), "q||");
  EXPECT_EQ(name("; name"), "||");
  EXPECT_EQ(name(""), "||");
}

TEST(MultipartReaderTest, RefusesPartsThatAreEncoded) {
  const std::string disposition = "Content-Disposition: form-data; name=q\r\n";
  for (const char* plain : {"Content-Transfer-Encoding: 8bit", "content-transfer-encoding:Binary",
                            "Content-Encoding: identity", "Content-Encoding:"})
    EXPECT_EQ(Read(PartOf(disposition + plain, "x") + "--b--"), (Parts{"q||x"})) << plain;
  for (const char* encoded : {"Content-Transfer-Encoding: 'base64'", "Content-Encoding: 'gzip'"}) {
    std::string header = encoded;
    std::erase(header, '\'');
    EXPECT_EQ(Read(PartOf(disposition + header, "eA==") + "--b--").back(),
              "part 1 of the form: " + std::string(encoded) +
                  " is not supported; send its bytes as they are");
  }
}

TEST(MultipartReaderTest, RefusesAFormThatIsNotWhole) {
  const std::string part = PartOf("Content-Disposition: form-data; name=\"q\"", "x");
  const std::string error = "the form ends before its last boundary line, --b--";
  EXPECT_EQ(Read(""), (Parts{error}));
  EXPECT_EQ(Read("x"), (Parts{error}));
  EXPECT_EQ(Read("--b\r\nContent-"), (Parts{error}));
  EXPECT_EQ(Read(part + "--c--").back(), error);
  EXPECT_EQ(Read(part + "--b-").back(), error);
  EXPECT_EQ(Read("--b\n\nx\n--b--\n"), (Parts{error}));
}

TEST(MultipartReaderTest, BoundsWhatItKeeps) {
  const auto headers = [](size_t bytes) {
    const std::string form = "--b\r\n" + std::string(bytes - 2, 'x') + "\r\n\r\n\r\n--b--";
    Parts whole = ReadInPieces(form, form.size());
    for (const size_t piece : {1, 7, 4096}) EXPECT_EQ(ReadInPieces(form, piece), whole) << piece;
    return whole;
  };
  EXPECT_EQ(headers(MultipartReader::kMaxHeaderBytes), (Parts{"||"}));
  EXPECT_EQ(headers(MultipartReader::kMaxHeaderBytes + 1),
            (Parts{"the headers of part 1 of the form have more than 8192 bytes, which is the "
                   "limit"}));
  std::string many;
  for (size_t i = 0; i < MultipartReader::kMaxParts; ++i) many += "--b\r\n\r\n\r\n";
  EXPECT_EQ(ReadInPieces(many + "--b--", 100).size(), MultipartReader::kMaxParts);
  EXPECT_EQ(ReadInPieces(many + "--b\r\n\r\n\r\n--b--", 100).back(),
            "the form has more than 1024 parts, which is the limit");
}

TEST(MultipartFormTest, IsKnownByItsTypeInAnyLetters) {
  httplib::Request request;
  EXPECT_FALSE(IsMultipartForm(request));
  for (const char* type : {"multipart/form-data", "Multipart/Form-Data; boundary=x",
                           "multipart/form-data ;boundary=\"x\""}) {
    request.headers = {{"Content-Type", type}};
    EXPECT_TRUE(IsMultipartForm(request)) << type;
  }
  for (const char* type : {"multipart/mixed; boundary=x", "multipart/form-data2", "text/plain"}) {
    request.headers = {{"Content-Type", type}};
    EXPECT_FALSE(IsMultipartForm(request)) << type;
  }
}

TEST(MultipartFormTest, NeedsABoundaryThatMayBe) {
  const std::string form = "--a b\r\n\r\nx\r\n--a b--";
  const auto read = [&](const std::string& type) {
    httplib::Request request;
    request.headers = {{"Content-Type", type}};
    std::string bytes;
    const httplib::ContentReader reader(
        [&](const httplib::ContentReceiver& receive) { return receive(form.data(), form.size()); },
        [](const httplib::MultipartContentHeader&, const httplib::ContentReceiver&) {
          return false;
        });
    const auto status = ReadMultipartForm(
        request, reader, [](const auto&) {}, [&](std::string_view more) { bytes += more; });
    return status->ok() ? bytes : std::string(status->message());
  };
  EXPECT_EQ(read("multipart/form-data; charset=x; Boundary=\"a b\""), "x");
  EXPECT_EQ(read("multipart/form-data; boundary=a b"), "x");
  const std::string error =
      "Content-Type: needs a boundary of 1 to 70 characters to be multipart/form-data, such as "
      "multipart/form-data; boundary=x";
  EXPECT_EQ(read("multipart/form-data"), error);
  EXPECT_EQ(read("multipart/form-data; boundary="), error);
  EXPECT_EQ(read("multipart/form-data; boundary=\"\""), error);
  EXPECT_EQ(read("multipart/form-data; boundary=" + std::string(71, 'x')), error);
}

}  // namespace
}  // namespace millrace
