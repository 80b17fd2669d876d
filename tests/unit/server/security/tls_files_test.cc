#include "server/security/tls_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/unit/server/security/test_certificates.h"

namespace millrace {
namespace {

using std::chrono::hours;
using std::chrono::system_clock;

class TlsFilesTest : public ::testing::Test {
 protected:
  TlsFilesTest() {
    certificates_.MakeAuthority("ca");
    certificates_.MakeCertificate("server", "ca");
  }

  std::string Error(const TlsFiles& files, system_clock::time_point now = system_clock::now()) {
    return std::string(ReadTlsFiles(files, now).status().message());
  }
  bool Says(const std::string& error, const std::string& file, const std::string& what) {
    return error.starts_with(certificates_.Path(file).string() + ": ") &&
           error.find(what) != std::string::npos;
  }

  testing::TestCertificates certificates_;
  TlsFiles files_{certificates_.Path("server.crt"), certificates_.Path("server.key"),
                  certificates_.Path("ca.crt")};
};

TEST_F(TlsFilesTest, GoodFilesPassWithAndWithoutClientAuthority) {
  EXPECT_EQ(Error(files_), "");
  files_.client_ca.clear();
  EXPECT_EQ(Error(files_), "");
}

TEST_F(TlsFilesTest, MissingFilesAreNamed) {
  files_.certificate = certificates_.Path("none.crt");
  EXPECT_TRUE(Says(Error(files_), "none.crt", "cannot be read: No such file or directory"))
      << Error(files_);
  files_ = {certificates_.Path("server.crt"), certificates_.Path("none.key"), {}};
  EXPECT_TRUE(Says(Error(files_), "none.key", "cannot be read"));
  files_ = {certificates_.Path("server.crt"), certificates_.Path("server.key"),
            certificates_.Path("none.ca")};
  EXPECT_TRUE(Says(Error(files_), "none.ca", "cannot be read"));
  files_.client_ca = certificates_.Path("");
  EXPECT_NE(Error(files_).find("is a folder"), std::string::npos);
}

TEST_F(TlsFilesTest, FilesThatAreNotPemAreNamed) {
  certificates_.Write("junk", "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n");
  files_.certificate = certificates_.Path("junk");
  EXPECT_TRUE(Says(Error(files_), "junk", "holds no PEM certificate"));
  files_.certificate = certificates_.Path("server.crt");
  files_.private_key = certificates_.Path("server.crt");
  EXPECT_TRUE(Says(Error(files_), "server.crt", "holds no PEM private key"));
}

TEST_F(TlsFilesTest, FilesThatAreHalfWrittenAreRefused) {
  const std::string leaf = certificates_.Read("server.crt");
  const std::string authority = certificates_.Read("ca.crt");
  const auto refused = [&](const std::string& certificate, const std::string& bundle) {
    certificates_.Write("half.crt", certificate);
    certificates_.Write("half.ca", bundle);
    files_.certificate = certificates_.Path("half.crt");
    files_.client_ca = certificates_.Path("half.ca");
    return Error(files_);
  };
  // The rest of a line that begins a certificate is not told from other text.
  for (const size_t bytes : {size_t{40}, authority.size() / 2, authority.size() - 20}) {
    const std::string half = authority.substr(0, bytes);
    EXPECT_TRUE(Says(refused(leaf + half, authority), "half.crt", "certificate 2 of the file is"))
        << Error(files_);
    EXPECT_TRUE(Says(refused(leaf, authority + leaf + half), "half.ca", "certificate 3 of the"))
        << Error(files_);
    EXPECT_TRUE(Says(refused(half, authority), "half.crt", "holds no PEM certificate"));
  }
  EXPECT_EQ(refused("a comment\n" + leaf + authority + "\n\n", authority + "# the end"), "");
}

TEST_F(TlsFilesTest, PipesAreRefusedAndNotWaitedFor) {
  files_.private_key = certificates_.Path("pipe");
  ASSERT_EQ(mkfifo(files_.private_key.c_str(), 0600), 0);
  EXPECT_TRUE(Says(Error(files_), "pipe", "is not a regular file")) << Error(files_);
}

TEST_F(TlsFilesTest, EncryptedKeyIsRefusedWithoutAsking) {
  certificates_.Run("ec -aes256 -passout pass:secret -in " + certificates_.Quoted("server.key") +
                    " -out " + certificates_.Quoted("locked.key"));
  files_.private_key = certificates_.Path("locked.key");
  EXPECT_TRUE(Says(Error(files_), "locked.key", "without a passphrase")) << Error(files_);
}

TEST_F(TlsFilesTest, KeyOfAnotherCertificateIsRefused) {
  files_.private_key = certificates_.Path("ca.key");
  EXPECT_TRUE(Says(Error(files_), "ca.key", "does not match the certificate")) << Error(files_);
}

// gRPC takes such a certificate, and then no client can connect.
TEST_F(TlsFilesTest, CertificatesThatOpenSslDoesNotServeAreRefused) {
  certificates_.Run("req -x509 -newkey rsa:1024 -nodes -days 2 -subj /CN=weak -keyout " +
                    certificates_.Quoted("weak.key") + " -out " + certificates_.Quoted("weak.crt"));
  const std::string leaf = certificates_.Read("server.crt");
  certificates_.Write("chain.crt", leaf + certificates_.Read("weak.crt"));
  files_.certificate = certificates_.Path("chain.crt");
  EXPECT_TRUE(Says(Error(files_), "chain.crt", "OpenSSL does not serve the certificate: "))
      << Error(files_);
  files_ = {certificates_.Path("weak.crt"), certificates_.Path("weak.key"), {}};
  EXPECT_TRUE(Says(Error(files_), "weak.crt", "ee key too small")) << Error(files_);
}

TEST_F(TlsFilesTest, ExpiredAndFutureCertificatesAreRefused) {
  EXPECT_TRUE(Says(Error(files_, system_clock::now() + hours(24 * 30)), "server.crt",
                   "the certificate expired on "));
  EXPECT_TRUE(Says(Error(files_, system_clock::now() - hours(24 * 30)), "server.crt",
                   "is not valid before "));
}

TEST_F(TlsFilesTest, TheTextsOfAClientAreChecked) {
  const std::string authority = certificates_.Read("ca.crt");
  const std::string leaf = certificates_.Read("server.crt");
  const std::string key = certificates_.Read("server.key");
  const auto error = [](const TlsFiles& files, const TlsContents& contents) {
    return std::string(CheckClientTls(files, contents).message());
  };
  const TlsFiles trust = {.certificate = {}, .private_key = {}, .client_ca = "ca"};
  EXPECT_EQ(error(trust, {.certificate = "", .private_key = "", .client_ca = authority}), "");
  EXPECT_EQ(error(trust, {.certificate = "", .private_key = "", .client_ca = "x"}),
            "ca: holds no PEM certificate");
  const TlsFiles both = {.certificate = "cert", .private_key = "key", .client_ca = "ca"};
  EXPECT_EQ(error(both, {leaf, key, authority}), "");
  EXPECT_EQ(error(both, {"", key, authority}), "cert: holds no PEM certificate");
  EXPECT_EQ(error(both, {leaf, leaf, authority}),
            "key: holds no PEM private key without a passphrase");
  EXPECT_EQ(error(both, {leaf, certificates_.Read("ca.key"), authority}),
            "key: the key does not match the certificate cert");
}

TEST_F(TlsFilesTest, AGapInTheChainIsNamed) {
  const auto gap = [&](const std::string& chain) {
    certificates_.Write("chain.crt", chain);
    files_.certificate = certificates_.Path("chain.crt");
    return GapInChain(ReadTlsFiles(files_, system_clock::now()).value());
  };
  const std::string leaf = certificates_.Read("server.crt");
  const std::string authority = certificates_.Read("ca.crt");
  EXPECT_EQ(gap(leaf), "");
  EXPECT_EQ(gap(leaf + authority), "");
  certificates_.MakeAuthority("stranger");
  EXPECT_EQ(gap(leaf + certificates_.Read("stranger.crt")),
            "certificate 2 of the file has not issued certificate 1, so clients may not trust it");
}

TEST_F(TlsFilesTest, OneValidAuthorityOfABundleIsEnough) {
  // Signed by hand for days long past.
  certificates_.Run("req -new -subj /CN=old -key " + certificates_.Quoted("ca.key") + " -out " +
                    certificates_.Quoted("old.csr"));
  certificates_.Run("x509 -req -days -1 -in " + certificates_.Quoted("old.csr") + " -signkey " +
                    certificates_.Quoted("ca.key") + " -out " + certificates_.Quoted("old.crt"));
  files_.client_ca = certificates_.Path("old.crt");
  EXPECT_TRUE(Says(Error(files_), "old.crt", "expired")) << Error(files_);
  certificates_.Write("bundle.crt", certificates_.Read("old.crt") + certificates_.Read("ca.crt"));
  files_.client_ca = certificates_.Path("bundle.crt");
  EXPECT_EQ(Error(files_), "");
}

}  // namespace
}  // namespace millrace
