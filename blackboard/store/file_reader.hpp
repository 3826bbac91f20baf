// A file that is read with plain calls, at any place: no memory map, and nothing is taken on trust about its length.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/base/result.hpp"

namespace tafel::store {

class FileReader {
 public:
  // Fault::not_found, or Fault::io; the message names the file.
  static Result<FileReader> open(const std::filesystem::path& file);
  FileReader(FileReader&& other) noexcept;
  FileReader& operator=(FileReader&&) = delete;
  ~FileReader();

  std::uint64_t size() const { return size_; }
  // Fault::bad_bytes beyond the end of the file.
  Result<std::string> read(std::uint64_t offset, std::size_t count) const;

 private:
  FileReader(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}

  int descriptor_;
  std::uint64_t size_;
};

}  // namespace tafel::store
