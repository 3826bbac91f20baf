// The directory of one run: the server's data, the journals, what the processes wrote to their standard error.
#pragma once

#include <filesystem>

#include "common/base/result.hpp"

namespace tafel::demo {

class Workspace {
 public:
  // In `directory`, which must be empty or new, or in a temporary one when it is empty.
  static Result<Workspace> open(const std::filesystem::path& directory);

  Workspace(Workspace&& other) noexcept;
  Workspace& operator=(Workspace&&) = delete;
  ~Workspace();  // removes a temporary directory, unless it is kept

  void keep() { is_temporary_ = false; }
  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path server() const { return root_ / "server"; }
  std::filesystem::path journals() const { return root_ / "journals"; }
  std::filesystem::path errors() const { return root_ / "errors.log"; }

 private:
  Workspace(std::filesystem::path root, bool is_temporary) : root_(std::move(root)), is_temporary_(is_temporary) {}

  std::filesystem::path root_;
  bool is_temporary_ = false;
};

}  // namespace tafel::demo
