#pragma once

#include <span>
#include <string_view>

namespace millrace::server {

// A file of the page.
struct PageFile {
  std::string_view name;    // such as "console.js"
  std::string_view hash;    // the hash of its content
  std::string_view plain;   // the content
  std::string_view packed;  // the content packed by gzip
};

// Returns the files of the page, which live as long as the program.
std::span<const PageFile> PageFiles();

}  // namespace millrace::server
