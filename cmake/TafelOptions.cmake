# Language level, warnings, sanitizers and ccache, for every target of the project.
# `tafel_library(NAME SOURCES... LINK libs...)` and `tafel_executable(...)` are the only ways targets are declared.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(TAFEL_SANITIZE "" CACHE STRING "Sanitizers, comma separated: address,undefined or thread")
option(TAFEL_WERROR "Warnings are errors" ON)
option(TAFEL_UNITY "Compile the files of a library several at a time: faster from scratch, slower after a change" OFF)
option(TAFEL_FUZZ "Build the libFuzzer targets (clang only)" OFF)

find_program(TAFEL_CCACHE ccache)
if(TAFEL_CCACHE)
  # The sloppiness that ccache asks for with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${TAFEL_CCACHE}")
endif()

# What also those need who link a library of the project.
add_library(tafel_interface INTERFACE)
target_include_directories(tafel_interface INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_features(tafel_interface INTERFACE cxx_std_20)
target_link_libraries(tafel_interface INTERFACE fmt::fmt tl::expected)  # the same macros wherever the precompiled header is used

add_library(tafel_options INTERFACE)
target_link_libraries(tafel_options INTERFACE tafel_interface)
target_compile_options(tafel_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -Wimplicit-fallthrough $<$<BOOL:${TAFEL_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports uses of std::variant and std::string inside the standard library that do not exist.
  target_compile_options(tafel_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds
    -Wno-stringop-overflow -Wno-stringop-overread -fpch-preprocess)
endif()
# Designated initializers leave the other members at their defaults on purpose.
target_compile_options(tafel_options INTERFACE -Wno-missing-field-initializers)
if(TAFEL_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tafel_options INTERFACE -Wno-subobject-linkage)  # of types that no header shows
endif()
if(TAFEL_SANITIZE)
  add_compile_options(-fsanitize=${TAFEL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TAFEL_SANITIZE})
endif()
if(TAFEL_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TAFEL_FUZZ needs clang: use the preset `fuzz`")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Standard headers, parsed once: half of what compiling a small file costs. No header of the project is in it, so that nothing but the
# toolchain makes it stale.
add_library(tafel_headers OBJECT "${PROJECT_SOURCE_DIR}/cmake/headers.cpp")
target_link_libraries(tafel_headers PRIVATE tafel_options)
target_precompile_headers(tafel_headers PRIVATE
  <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <set> <string> <string_view> <utility> <variant> <vector>
  <tl/expected.hpp> <fmt/format.h>)

function(tafel_target NAME)
  cmake_parse_arguments(ARG "" "HEADERS" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  if(NOT ARG_HEADERS)
    set(ARG_HEADERS tafel_headers)
  endif()
  target_sources(${NAME} PRIVATE ${ARG_SOURCES})
  target_link_libraries(${NAME} PUBLIC tafel_interface ${ARG_LINK} PRIVATE tafel_options ${ARG_PRIVATE_LINK})
  target_precompile_headers(${NAME} REUSE_FROM ${ARG_HEADERS})
endfunction()

function(tafel_library NAME)
  add_library(${NAME} STATIC)
  tafel_target(${NAME} ${ARGN})
  set_target_properties(${NAME} PROPERTIES UNITY_BUILD ${TAFEL_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

function(tafel_executable NAME)
  add_executable(${NAME})
  tafel_target(${NAME} ${ARGN})
endfunction()
