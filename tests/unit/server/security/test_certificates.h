#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace millrace::testing {

// Makes keys and certificates with the openssl program in a folder of its own, which it removes.
class TestCertificates {
 public:
  TestCertificates()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ("millrace_tls_" + std::to_string(getpid()) + "_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~TestCertificates() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  TestCertificates(const TestCertificates&) = delete;
  TestCertificates& operator=(const TestCertificates&) = delete;

  std::filesystem::path Path(const std::string& name) const { return folder_ / name; }

  // <name>.key and a self-signed <name>.crt that can sign others.
  void MakeAuthority(const std::string& name) {
    Run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" + name +
        " -keyout " + Quoted(name + ".key") + " -out " + Quoted(name + ".crt"));
  }
  // <name>.key and <name>.crt for localhost, signed by the authority.
  void MakeCertificate(const std::string& name, const std::string& authority) {
    Write(name + ".ext", "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
    Run("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + name + " -keyout " +
        Quoted(name + ".key") + " -out " + Quoted(name + ".csr"));
    Run("x509 -req -days 2 -CAcreateserial -in " + Quoted(name + ".csr") + " -CA " +
        Quoted(authority + ".crt") + " -CAkey " + Quoted(authority + ".key") + " -extfile " +
        Quoted(name + ".ext") + " -out " + Quoted(name + ".crt"));
  }
  void Run(const std::string& arguments) {
    std::string command = OPENSSL_PROGRAM " ";
    command.append(arguments).append(" >").append(Quoted("log")).append(" 2>&1");
    if (std::system(command.c_str()) != 0) throw std::runtime_error(command + ": " + Read("log"));
  }

  std::string Quoted(const std::string& name) const { return "'" + Path(name).string() + "'"; }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(Path(name), std::ios::binary) << text;
  }
  std::string Read(const std::string& name) const {
    std::ifstream stream(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

 private:
  const std::filesystem::path folder_;
};

}  // namespace millrace::testing
