# Writes a C++ source with the contents of files, as they are and packed by gzip, and a hash of each. The style sheet replaces the link to it
# in HTML files: a browser paints nothing before it has it, so a page that brings it is seen one round trip earlier.
# Usage: cmake -DOUTPUT=<file.cc> -DGZIP=<program> -DSTYLE=<file.css> -DFILES=<path>,<path>... -P EmbedFiles.cmake
string(REPLACE "," ";" files "${FILES}")

# Sets `out` to the bytes of a file as the elements of an array.
function(read_bytes path out)
  file(READ "${path}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  # A line of the source holds 32 bytes.
  string(REPEAT "0x..," 32 line)
  string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
  set(${out} "${bytes}" PARENT_SCOPE)
endfunction()

file(READ "${STYLE}" style)
get_filename_component(style_name "${STYLE}" NAME)
set(style_link "<link rel=\"stylesheet\" href=\"/console/${style_name}\">")

set(arrays "")
set(rows "")
set(number 0)
foreach(path ${files})
  get_filename_component(name "${path}" NAME)
  if(name MATCHES "\\.html$")
    file(READ "${path}" page)
    string(FIND "${page}" "${style_link}" found)
    if(found EQUAL -1)
      message(FATAL_ERROR "${path} has no ${style_link}")
    endif()
    string(REPLACE "${style_link}" "<style>\n${style}</style>" page "${page}")
    set(path "${OUTPUT}.html")
    file(WRITE "${path}" "${page}")
  endif()
  execute_process(COMMAND "${GZIP}" -9 -n -c "${path}" OUTPUT_FILE "${OUTPUT}.gz" RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${GZIP} could not pack ${path}: ${failed}")
  endif()
  read_bytes("${path}" plain)
  read_bytes("${OUTPUT}.gz" packed)
  file(SHA256 "${path}" hash)
  string(SUBSTRING "${hash}" 0 16 hash)
  string(APPEND arrays "constexpr unsigned char kPlain${number}[] = {\n${plain}};\nconstexpr unsigned char kPacked${number}[] = {\n${packed}};\n")
  string(APPEND rows "    {\"${name}\", \"${hash}\", View(kPlain${number}), View(kPacked${number})},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(REMOVE "${OUTPUT}.gz" "${OUTPUT}.html")

file(WRITE "${OUTPUT}" "// Written by cmake/EmbedFiles.cmake.
#include \"server/frontends/console/page_files.h\"

#include <cstddef>

namespace millrace::server {
namespace {

${arrays}
template <size_t N>
std::string_view View(const unsigned char (&bytes)[N]) {
  return {reinterpret_cast<const char*>(bytes), N};
}

}  // namespace

std::span<const PageFile> PageFiles() {
  static const PageFile files[] = {
${rows}  };
  return files;
}

}  // namespace millrace::server
")
