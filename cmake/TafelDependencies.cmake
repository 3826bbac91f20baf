# Every third-party library of the project, as an imported target. Reasons and licences: docs/dependencies.md.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(cppzmq REQUIRED)                                      # target cppzmq
find_package(nlohmann_json REQUIRED)                               # target nlohmann_json::nlohmann_json
find_package(spdlog REQUIRED)                                      # target spdlog::spdlog
find_package(fmt REQUIRED)                                         # target fmt::fmt
find_package(tl-expected REQUIRED)                                 # target tl::expected
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)       # target Boost::program_options
pkg_check_modules(LMDB REQUIRED IMPORTED_TARGET lmdb)              # target PkgConfig::LMDB
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)       # target PkgConfig::XXHASH

# Debian's msgpack-cxx ships a package file under a name that find_package does not look for.
find_path(MSGPACK_CXX_INCLUDE_DIR msgpack.hpp REQUIRED)
add_library(msgpack_cxx INTERFACE)
target_include_directories(msgpack_cxx SYSTEM INTERFACE "${MSGPACK_CXX_INCLUDE_DIR}")
target_compile_definitions(msgpack_cxx INTERFACE MSGPACK_NO_BOOST)

# The flags that these two ask for would part their users from the precompiled header.
pkg_check_modules(RE2 REQUIRED re2)
pkg_check_modules(UTF8PROC REQUIRED libutf8proc)
add_library(tafel_text_libraries INTERFACE)
target_link_libraries(tafel_text_libraries INTERFACE ${RE2_LINK_LIBRARIES} ${UTF8PROC_LINK_LIBRARIES})
