#include "blackboard/store/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "blackboard/store/durable_files.hpp"
#include "common/base/bytes.hpp"
#include "common/base/check.hpp"
#include "common/base/hash.hpp"

namespace tafel::store {
namespace {

constexpr std::string_view file_magic = "TAFELJ01";
constexpr std::string_view record_magic = "TJR1";
constexpr std::size_t head_bytes = 24;  // of a record, before its payload
constexpr std::size_t zeros_bytes = 1024 * 1024;

std::uint64_t in_blocks(std::uint64_t bytes) {
  return (bytes + Journal::block_bytes - 1) / Journal::block_bytes * Journal::block_bytes;
}

std::uint64_t checksum_of(std::string_view id, std::uint64_t sequence, std::string_view payload) {
  std::string bytes(id);
  put_be64(bytes, sequence);
  put_be64(bytes, checksum64(payload));
  return checksum64(bytes);
}

std::string record_head(std::string_view id, std::uint64_t sequence, std::string_view payload) {
  std::string head(record_magic);
  put_be32(head, static_cast<std::uint32_t>(payload.size()));
  put_be64(head, sequence);
  put_be64(head, checksum_of(id, sequence, payload));
  return head;
}

std::string file_head(std::string_view id, std::uint64_t bytes) {
  std::string head(file_magic);
  head.append(id);
  put_be64(head, bytes);
  put_be64(head, checksum64(head));
  return head;
}

// What a reader of the file says, with its name.
tl::unexpected<Failure> located(const std::filesystem::path& file, const Failure& failure) {
  return fail(failure.fault, fmt::format("{}: {}", file.string(), failure.message));
}

Result<void> check_file_head(const FileReader& reader, std::string_view id) {
  const auto head = reader.read(0, std::min<std::uint64_t>(reader.size(), Journal::block_bytes));
  if (!head) return tl::unexpected(head.error());
  std::string expected = file_head(id, reader.size());
  expected.resize(std::max(head->size(), expected.size()), '\0');
  if (*head == expected) return {};
  return fail(Fault::bad_bytes, "this is not the journal of the store beside it");
}

// Shows each whole record behind `covered`, in the order of the file. Where the oldest one begins is not written
// anywhere, which would be one more flush: so every block is looked at.
using VisitWhole =
    std::function<void(std::uint64_t sequence, std::uint64_t offset, std::uint64_t end, std::string payload)>;
Result<void> visit_whole_records(const FileReader& reader, std::string_view id, std::uint64_t covered,
                                 const VisitWhole& visit) {
  for (std::uint64_t offset = Journal::block_bytes; offset < reader.size();) {
    const auto head = reader.read(offset, head_bytes);
    if (!head) return tl::unexpected(head.error());
    const std::uint64_t size = get_be32(std::string_view(*head).substr(4));
    const std::uint64_t sequence = get_be64(std::string_view(*head).substr(8));
    const std::uint64_t end = offset + in_blocks(head_bytes + size);
    const bool may_be_one = head->starts_with(record_magic) && sequence > covered && end <= reader.size();
    auto payload = may_be_one ? reader.read(offset + head_bytes, size) : Result<std::string>("");
    if (!payload) return tl::unexpected(payload.error());
    const bool is_whole = may_be_one && record_head(id, sequence, *payload) == *head;
    if (is_whole) visit(sequence, offset, end, std::move(*payload));
    offset = is_whole ? end : offset + Journal::block_bytes;
  }
  return {};
}

}  // namespace

void Journal::FreeAligned::operator()(char* memory) const { std::free(memory); }

Journal::Buffer Journal::make_buffer(std::size_t bytes) {
  void* memory = std::aligned_alloc(block_bytes, in_blocks(bytes));
  TAFEL_CHECK(memory != nullptr, "there is memory for a record of the journal");
  return Buffer(static_cast<char*>(memory));
}

// Zeros are written, not only reserved: else the first write to each block would change the file's map of blocks, which
// takes flushes of its own.
Result<void> Journal::make(const std::filesystem::path& file, std::uint64_t bytes, std::string_view id) {
  TAFEL_CHECK(id.size() == id_bytes, "the id of a journal has 16 bytes");
  bytes = std::max<std::uint64_t>(in_blocks(bytes), 3 * block_bytes);
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, private_file);
  if (descriptor < 0) return io_failure("make", file, errno);
  const std::string zeros(zeros_bytes, '\0');
  std::string block = file_head(id, bytes);
  block.resize(block_bytes, '\0');
  int error = 0;
  for (std::uint64_t done = 0; done < bytes && error == 0;) {
    const std::string_view part =
        done == 0 ? std::string_view(block)
                  : std::string_view(zeros).substr(0, std::min<std::uint64_t>(zeros.size(), bytes - done));
    const ssize_t count = ::write(descriptor, part.data(), part.size());
    if (count < 0 && errno != EINTR) error = errno;
    if (count > 0 && done == 0 && static_cast<std::size_t>(count) != part.size()) error = EIO;
    if (count > 0) done += static_cast<std::uint64_t>(count);
  }
  if (error == 0 && ::fsync(descriptor) != 0) error = errno;
  ::close(descriptor);
  if (error != 0) return io_failure("fill", file, error);
  return {};
}

Result<std::unique_ptr<Journal>> Journal::open(const std::filesystem::path& file, std::string_view id,
                                               std::uint64_t covered) {
  const auto reader = FileReader::open(file);
  if (!reader) return tl::unexpected(reader.error());
  const std::uint64_t bytes = reader->size();
  if (auto checked = check_file_head(*reader, id); !checked) return located(file, checked.error());
  constexpr int flags = O_WRONLY | O_DSYNC | O_CLOEXEC;
  int descriptor = ::open(file.c_str(), flags | O_DIRECT);
  if (descriptor < 0 && errno == EINVAL) descriptor = ::open(file.c_str(), flags);  // a file system without that
  if (descriptor < 0) return io_failure("open", file, errno);
  std::unique_ptr<Journal> journal(new Journal(file, descriptor, bytes, std::string(id), covered));
  if (auto found = journal->find_records(*reader); !found) return tl::unexpected(found.error());
  return journal;
}

Journal::~Journal() { ::close(descriptor_); }

Result<void> Journal::find_records(const FileReader& reader) {
  std::map<std::uint64_t, Place> found;
  const auto visited = visit_whole_records(
      reader, id_, last_, [&](std::uint64_t sequence, std::uint64_t offset, std::uint64_t end, const std::string&) {
        found.emplace(sequence, Place{sequence, offset, end});
      });
  if (!visited) return located(file_, visited.error());
  for (auto next = found.find(last_ + 1); next != found.end(); next = found.find(last_ + 1)) {
    records_.push_back(next->second);
    position_ = next->second.end;
    ++last_;
  }
  if (records_.size() == found.size()) return {};
  return fail(Fault::bad_bytes,
              fmt::format("{} goes on behind record {}, which it does not hold: it belongs to a newer state of the "
                          "store than the one beside it",
                          file_.string(), last_ + 1));
}

Result<std::map<std::uint64_t, std::string>> Journal::records_now(const FileReader& file, std::string_view id,
                                                                  std::uint64_t covered) {
  if (auto checked = check_file_head(file, id); !checked) return tl::unexpected(checked.error());
  std::map<std::uint64_t, std::string> records;
  const auto visited = visit_whole_records(
      file, id, covered, [&](std::uint64_t sequence, std::uint64_t, std::uint64_t, std::string payload) {
        records.emplace(sequence, std::move(payload));
      });
  if (!visited) return tl::unexpected(visited.error());
  return records;
}

Result<void> Journal::replay(const Visitor& visit) const {
  const auto reader = FileReader::open(file_);
  if (!reader) return tl::unexpected(reader.error());
  for (const Place& place : records_) {
    const auto record = reader->read(place.offset, place.end - place.offset);
    if (!record) return located(file_, record.error());
    const std::string_view bytes = *record;
    const std::string_view payload = bytes.substr(head_bytes, get_be32(bytes.substr(4)));
    if (bytes.substr(0, head_bytes) != record_head(id_, place.sequence, payload))
      return fail(Fault::bad_bytes,
                  fmt::format("record {} of {} changed while it was read", place.sequence, file_.string()));
    if (auto visited = visit(place.sequence, payload); !visited) return visited;
  }
  return {};
}

std::size_t Journal::payload_bytes_max() const { return bytes_ - block_bytes - head_bytes; }

std::uint64_t Journal::room_for(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (records_.empty())
    return position_ + bytes <= bytes_ ? position_ : block_bytes + bytes <= bytes_ ? block_bytes : 0;
  const std::uint64_t oldest = records_.front().offset;
  const bool is_behind_oldest = records_.back().offset >= oldest;
  if (!is_behind_oldest) return position_ + bytes <= oldest ? position_ : 0;
  if (position_ + bytes <= bytes_) return position_;
  return block_bytes + bytes <= oldest ? block_bytes : 0;
}

Result<std::uint64_t> Journal::append(std::string_view payload) {
  if (is_broken_) return fail(Fault::io, fmt::format("a write to {} failed: open the store anew", file_.string()));
  const std::uint64_t bytes = in_blocks(head_bytes + payload.size());
  const std::uint64_t offset = payload.size() > payload_bytes_max() ? 0 : room_for(bytes);
  if (offset == 0) return fail(Fault::full, "the journal has no room for this record");
  if (buffer_bytes_ < bytes) {
    buffer_ = make_buffer(bytes);
    buffer_bytes_ = bytes;
  }
  const std::string head = record_head(id_, last_ + 1, payload);
  std::memcpy(buffer_.get(), head.data(), head.size());
  std::memcpy(buffer_.get() + head.size(), payload.data(), payload.size());
  std::memset(buffer_.get() + head.size() + payload.size(), 0, bytes - head.size() - payload.size());
  if (auto written = write(offset, buffer_.get(), bytes); !written) return tl::unexpected(written.error());
  position_ = offset + bytes;
  written_to_ = std::max(written_to_, position_);
  const std::lock_guard lock(mutex_);
  records_.push_back({++last_, offset, position_});
  return last_;
}

void Journal::release(std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  while (!records_.empty() && records_.front().sequence <= sequence) records_.pop_front();
}

Result<void> Journal::wipe() {
  {
    const std::lock_guard lock(mutex_);
    TAFEL_CHECK(records_.empty(), "only a journal without records is wiped");
  }
  const Buffer zeros = make_buffer(zeros_bytes);
  std::memset(zeros.get(), 0, zeros_bytes);
  for (std::uint64_t offset = block_bytes; offset < written_to_;) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(zeros_bytes, written_to_ - offset));
    if (auto written = write(offset, zeros.get(), part); !written) return written;
    offset += part;
  }
  position_ = block_bytes;
  written_to_ = block_bytes;
  return {};
}

// After a failure nobody knows what stands in the blocks, and a second try could report success for what the first one
// lost.
Result<void> Journal::write(std::uint64_t offset, const char* aligned, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t count = ::pwrite(descriptor_, aligned + done, bytes - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    const bool goes_on = count > 0 && static_cast<std::size_t>(count) % block_bytes == 0;
    if (!goes_on) {
      is_broken_ = true;
      return io_failure("write", file_, count < 0 ? errno : EIO);
    }
    done += static_cast<std::size_t>(count);
  }
  return {};
}

}  // namespace tafel::store
