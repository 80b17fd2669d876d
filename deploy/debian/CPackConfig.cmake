# The Debian package by CPack, from what scripts/package-deb.sh has installed in a folder. That script sets the variables of the environment.
set(stage "$ENV{PACKAGE_STAGE}")
set(home "$ENV{PACKAGE_HOME}")
file(GLOB cuda_folders "${home}/lib/nvidia/*/lib")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME millrace)
set(CPACK_PACKAGE_VERSION "$ENV{PACKAGE_VERSION}")
set(CPACK_PACKAGE_CONTACT "$ENV{PACKAGE_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "inference server for speech and translation models")
set(CPACK_PACKAGE_DESCRIPTION
"Millrace serves text-to-speech and translation models over gRPC, HTTP and
Wyoming from one process. Requests are batched continuously, and replies may
be streamed. Models are converted from what PyTorch programs have published.
.
This package has the server, its clients and the part of PyTorch's C++
library that serving on a CPU needs. It contains no models.")
set(CPACK_INSTALLED_DIRECTORIES "${stage}/root" ".")
set(CPACK_PACKAGING_INSTALL_PREFIX "/")
set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY OFF)

# The first is the name of CPack's own folders.
set(CPACK_PACKAGE_FILE_NAME millrace)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# Compresses on all cores.
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_COMPRESSION_TYPE "$ENV{PACKAGE_COMPRESSION}")
# The libraries of the distribution; dpkg-shlibdeps finds those in the private folders too, and leaves them out.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${home}/lib/torch/lib" ${cuda_folders})
# The unit's user is made by systemd-sysusers.
# Python runs millrace-models, of one file.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3 (>= 3.11), systemd | systemd-standalone-sysusers | systemd-sysusers")
# Piper's voices do not load without espeak-ng, and Kokoro's speak fewer words and languages; translation needs none. millrace-models
# needs the others.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "espeak-ng, python3-numpy, python3-sentencepiece, python3-yaml")
# Kokoro reads kanji with a dictionary, and kana alone without.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS mecab-ipadic-utf8)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  "${stage}/control/conffiles" "${stage}/control/preinst" "${stage}/control/postinst" "${stage}/control/prerm"
  "${stage}/control/postrm")
