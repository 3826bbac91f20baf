// The directory of a store on disk. It is held by one process at a time, and a store in it is made, or replaced by
// another one, so that a crash at any moment leaves a whole one (or none, where there was none).
//
//   <directory>/lock        held with flock for life; holds the process id, for people
//   <directory>/store/      the store; all that belongs to it lies in it
//   <directory>/store.new/  a store that is being made; a leftover is removed
//   <directory>/store.old/  a store that has been replaced; when `store` is not there, `store.new` is whole
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "common/base/result.hpp"

namespace tafel::store {

class DataDirectory {
 public:
  // Makes the directory where it is not there, and takes its lock. Fault::locked when somebody holds it,
  // Fault::bad_config for a network file system (memory maps and locks can not be trusted there).
  static Result<DataDirectory> open(const std::filesystem::path& directory);

  DataDirectory(DataDirectory&& other) noexcept;
  DataDirectory& operator=(DataDirectory&&) = delete;
  ~DataDirectory();

  std::filesystem::path store() const { return directory_ / "store"; }
  using Fill = std::function<Result<void>(const std::filesystem::path& empty_directory)>;
  // Lets `fill` make a store in an empty directory, and puts that in place when all of it is on disk.
  Result<void> make_store(const Fill& fill) const;
  // The same where there is a store already, which is removed then. Nobody may have it open.
  Result<void> replace_store(const Fill& fill) const;

  struct Space {
    std::uint64_t free_bytes = 0;
    std::uint64_t total_bytes = 0;
  };
  Result<Space> space() const;

 private:
  DataDirectory(std::filesystem::path directory, int lock) : directory_(std::move(directory)), lock_(lock) {}

  std::filesystem::path new_store() const { return directory_ / "store.new"; }
  std::filesystem::path old_store() const { return directory_ / "store.old"; }
  Result<void> settle() const;  // ends a replacement that was cut off
  Result<void> fill_new(const Fill& fill) const;

  std::filesystem::path directory_;
  int lock_;  // descriptor
};

}  // namespace tafel::store
