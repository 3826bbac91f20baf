#include "demo/workspace.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace tafel::demo {
namespace {

namespace fs = std::filesystem;

Result<fs::path> make_temporary() {
  std::error_code error;
  fs::path base = fs::temp_directory_path(error);
  if (error) base = "/tmp";
  std::string name = (base / "tafel-demo-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return fail(Fault::io, fmt::format("{}: {}", name, std::strerror(errno)));
  return fs::path(name);
}

Result<fs::path> take_given(const fs::path& directory) {
  std::error_code error;
  if (fs::exists(directory, error) && !fs::is_empty(directory, error)) {
    return fail(Fault::bad_config,
                fmt::format("--data: {} is not empty; give an empty or a new directory", directory.string()));
  }
  fs::create_directories(directory, error);
  if (error) return fail(Fault::io, fmt::format("{}: {}", directory.string(), error.message()));
  return directory;
}

}  // namespace

Result<Workspace> Workspace::open(const fs::path& directory) {
  auto root = directory.empty() ? make_temporary() : take_given(directory);
  if (!root) return tl::unexpected(root.error());
  Workspace workspace(std::move(*root), directory.empty());
  std::error_code error;
  fs::create_directories(workspace.journals(), error);
  if (error) return fail(Fault::io, fmt::format("{}: {}", workspace.journals().string(), error.message()));
  return workspace;
}

Workspace::Workspace(Workspace&& other) noexcept
    : root_(std::move(other.root_)), is_temporary_(std::exchange(other.is_temporary_, false)) {}

Workspace::~Workspace() {
  std::error_code ignored;
  if (is_temporary_) fs::remove_all(root_, ignored);
}

}  // namespace tafel::demo
