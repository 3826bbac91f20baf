// The file of an ipc endpoint. libzmq removes whatever lies at the path and binds there, even while another process is
// serving it, and anybody may connect whom the file mode lets through; so both are settled here before it binds. From
// any thread.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/base/result.hpp"

namespace tafel::net {

// Makes the directory of `path` (0700) when it is missing. Refuses a directory in which others may replace the socket,
// a path that holds something else than a socket, and (Fault::locked) a socket that a live process serves.
Result<void> prepare_ipc_path(const std::string& path);

// While it lives, files that this process makes are for its own user only. The mask belongs to the whole process, so
// the lives of two of them never overlap.
class PrivateFiles {
 public:
  PrivateFiles();
  ~PrivateFiles();
  PrivateFiles(const PrivateFiles&) = delete;
  PrivateFiles& operator=(const PrivateFiles&) = delete;

 private:
  mode_t mask_before_;
};

}  // namespace tafel::net
