# The front ends of server/frontends/frontends.inc, and the lists that follow from the chosen ones.
set(MILLRACE_FRONTENDS "" CACHE STRING "Front ends to build, of server/frontends/frontends.inc, with semicolons between them; empty: all")

# millrace_write_front_ends(<output> FOLDER <path> ALL <names> BUILT <names> [SHARED <names>]): writes what the sources below the front ends
# must know of them. Targets of those sources have <output> as an include folder. The path, in the repository, is that of the front ends'
# folders and of those that they share.
#   server/metrics/front_ends.inc                   all names, and whether each is built
#   server/config/front_end_settings.inc            settings.inc of all: those of one that is left out are refused by name
#   server/metrics/front_end_methods.inc            methods.inc of all, and of what they share
#   server/frontends/openapi/front_end_routes.inc   routes.inc of those that are built, and of what they share
#   server/frontends/built_front_ends.inc           the names of those that are built
# The lists that most sources see have all front ends, so that ccache has their objects for any choice.
function(millrace_write_front_ends output)
  cmake_parse_arguments(ARG "" "FOLDER" "ALL;BUILT;SHARED" ${ARGN})
  set(root "${CMAKE_SOURCE_DIR}/${ARG_FOLDER}")
  file(GLOB lists RELATIVE "${root}" CONFIGURE_DEPENDS "${root}/*/settings.inc" "${root}/*/methods.inc" "${root}/*/routes.inc")
  foreach(name ${ARG_ALL})
    set(is_built false)
    if(name IN_LIST ARG_BUILT)
      set(is_built true)
      string(APPEND built "MILLRACE_FRONTEND(${name})\n")
    endif()
    string(APPEND names "MILLRACE_FRONTEND(${name}, ${is_built})\n")
    if("${name}/settings.inc" IN_LIST lists)
      string(APPEND settings "#define MILLRACE_SETTING_OF \"${name}\"\n#include \"${ARG_FOLDER}/${name}/settings.inc\"\n#undef MILLRACE_SETTING_OF\n")
    endif()
  endforeach()
  foreach(name ${ARG_ALL} ${ARG_SHARED})
    if("${name}/methods.inc" IN_LIST lists)
      string(APPEND methods "#define MILLRACE_METHOD_OF \"${name}\"\n#include \"${ARG_FOLDER}/${name}/methods.inc\"\n#undef MILLRACE_METHOD_OF\n")
    endif()
  endforeach()
  foreach(name ${ARG_BUILT} ${ARG_SHARED})
    if("${name}/routes.inc" IN_LIST lists)
      # Each may have constants of its own.
      string(APPEND routes "{\n#include \"${ARG_FOLDER}/${name}/routes.inc\"\n}\n")
    endif()
  endforeach()
  set(first "// Written by cmake/FrontEnds.cmake.\n")
  file(CONFIGURE OUTPUT "${output}/server/metrics/front_ends.inc" CONTENT "${first}${names}" @ONLY)
  file(CONFIGURE OUTPUT "${output}/server/config/front_end_settings.inc" CONTENT "${first}${settings}" @ONLY)
  file(CONFIGURE OUTPUT "${output}/server/metrics/front_end_methods.inc" CONTENT "${first}${methods}" @ONLY)
  file(CONFIGURE OUTPUT "${output}/server/frontends/openapi/front_end_routes.inc" CONTENT "${first}${routes}" @ONLY)
  file(CONFIGURE OUTPUT "${output}/server/frontends/built_front_ends.inc" CONTENT "${first}${built}" @ONLY)
endfunction()

millrace_read_names(MILLRACE_ALL_FRONTENDS "${CMAKE_SOURCE_DIR}/server/frontends/frontends.inc" MILLRACE_FRONTEND)
set(MILLRACE_BUILT_FRONTENDS "${MILLRACE_ALL_FRONTENDS}")
if(MILLRACE_FRONTENDS)
  foreach(name ${MILLRACE_FRONTENDS})
    if(NOT name IN_LIST MILLRACE_ALL_FRONTENDS)
      list(JOIN MILLRACE_ALL_FRONTENDS ", " allowed)
      message(FATAL_ERROR "MILLRACE_FRONTENDS: there is no front end '${name}', allowed are ${allowed}")
    endif()
  endforeach()
  # In the order of frontends.inc.
  list(JOIN MILLRACE_FRONTENDS "|" chosen)
  list(FILTER MILLRACE_BUILT_FRONTENDS INCLUDE REGEX "^(${chosen})$")
endif()
if(MILLRACE_TESTS AND NOT MILLRACE_BUILT_FRONTENDS STREQUAL MILLRACE_ALL_FRONTENDS)
  message(FATAL_ERROR "MILLRACE_FRONTENDS: the tests need all front ends; leave some out with -DMILLRACE_TESTS=OFF")
endif()
set(MILLRACE_FRONTENDS_INCLUDE_DIR "${CMAKE_BINARY_DIR}/front_ends")
millrace_write_front_ends("${MILLRACE_FRONTENDS_INCLUDE_DIR}"
  FOLDER server/frontends ALL ${MILLRACE_ALL_FRONTENDS} BUILT ${MILLRACE_BUILT_FRONTENDS} SHARED http openapi)
