#include "common/net/ipc_path.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>

namespace tafel::net {
namespace {

std::mutex
    mask_mutex;  // guards the umask of the process between change and restoration; a queue can not guard a system call

std::string why(int error) { return std::generic_category().message(error); }

Result<void> check_directory(const std::string& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) {
    return fail(Fault::bad_config, "the directory " + directory + " of an ipc endpoint can not be read: " + why(errno));
  }
  if (!S_ISDIR(status.st_mode)) return fail(Fault::bad_config, directory + " of an ipc endpoint is no directory");
  const bool foreign = status.st_uid != ::geteuid() && status.st_uid != 0;
  const bool shared = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0;
  if (foreign || shared) {
    return fail(Fault::bad_config, "others can replace files in " + directory +
                                       ": an ipc endpoint needs a directory of your own with mode 0700");
  }
  return {};
}

Result<void> make_directory(const std::string& directory) {
  if (::mkdir(directory.c_str(), S_IRWXU) == 0 || errno == EEXIST) return check_directory(directory);
  return fail(Fault::bad_config, "the directory " + directory + " of an ipc endpoint can not be made: " + why(errno));
}

// What a connection attempt says: 0 when a live process accepts, else the error.
int try_to_connect(const sockaddr_un& address) {
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return errno;
  const int answer = ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int error = answer == 0 ? 0 : errno;
  ::close(descriptor);
  return error;
}

}  // namespace

Result<void> prepare_ipc_path(const std::string& path) {
  sockaddr_un address{};
  if (path.empty() || path.front() == '@' || path.front() == '*') {
    return fail(Fault::bad_config, "an ipc endpoint needs the path of a file, as in ipc:///run/user/1000/tafel/socket");
  }
  if (path.size() >= sizeof(address.sun_path)) {
    return fail(Fault::bad_config, "the path of an ipc endpoint has at most " +
                                       std::to_string(sizeof(address.sun_path) - 1) + " bytes, this one has " +
                                       std::to_string(path.size()) + ": " + path);
  }
  const std::string directory = std::filesystem::path(path).parent_path().string();
  if (auto made = make_directory(directory.empty() ? "." : directory); !made) return made;

  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};  // nothing there yet
  if (!S_ISSOCK(status.st_mode)) return fail(Fault::bad_config, path + " exists and is no socket: choose another path");
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int error = try_to_connect(address);
  if (error == ECONNREFUSED)
    ::unlink(path.c_str());  // left behind by a process that is gone; libzmq does not always replace it
  if (error == ECONNREFUSED || error == ENOENT) return {};
  if (error == 0 || error == EAGAIN) return fail(Fault::locked, "ipc://" + path + " is served by another process");
  return fail(Fault::bad_config, path + " can not be taken over: " + why(error));
}

PrivateFiles::PrivateFiles() {
  mask_mutex.lock();
  mask_before_ = ::umask(S_IRWXG | S_IRWXO);
}

PrivateFiles::~PrivateFiles() {
  ::umask(mask_before_);
  mask_mutex.unlock();
}

}  // namespace tafel::net
