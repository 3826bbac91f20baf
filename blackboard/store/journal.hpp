// The journal: what is committed and does not stand in the store yet. One file of fixed size whose blocks are written
// over and over, so that a commit is one write with one flush: nothing about the file itself changes. A ring of
// records:
//
//   block 0            magic[8]  id[16]  file size be64  checksum be64
//   from block 1 on    records, each on blocks of its own, never across the end of the file:
//                      magic[4]  payload size be32  sequence be64  checksum be64  payload  zeros
//
//   checksum           of a record: checksum64(id ‖ sequence ‖ checksum64(payload)); of block 0: of what stands before
//   it
//
// A record that is not whole was never acknowledged, and nothing was written behind it. One thread appends and wipes;
// another may release meanwhile.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "blackboard/store/file_reader.hpp"
#include "common/base/result.hpp"

namespace tafel::store {

class Journal {
 public:
  static constexpr std::size_t block_bytes = 4096;
  static constexpr std::size_t id_bytes = 16;

  // Makes a journal without records: `bytes` (rounded up to blocks), all on disk. `file` must not be there. `id` tells
  // its records from those of any other journal.
  static Result<void> make(const std::filesystem::path& file, std::uint64_t bytes, std::string_view id);

  // Opens it and finds the records behind `covered`, the last one that the store holds. Fault::bad_bytes for a file
  // that is no journal, has another id, or belongs to a newer state of the store.
  static Result<std::unique_ptr<Journal>> open(const std::filesystem::path& file, std::string_view id,
                                               std::uint64_t covered);

  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  using Visitor = std::function<Result<void>(std::uint64_t sequence, std::string_view payload)>;
  // The records that `open` found, in order.
  Result<void> replay(const Visitor& visit) const;

  // On disk when it returns; gives the sequence of the record, one more than that of the last. Fault::full, and nothing
  // was done, where there is no room before something is released. After any other failure the file is in an unknown
  // state and takes nothing more.
  Result<std::uint64_t> append(std::string_view payload);
  // The store holds all records up to this one: their blocks may be written over.
  void release(std::uint64_t sequence);
  // Gives the sequence of the next record to what the store takes without the journal, so that no older store can be
  // taken for the one that the next record follows.
  void skip() { ++last_; }
  // Writes zeros over every block that may hold something; all records must have been released.
  Result<void> wipe();

  std::uint64_t last() const { return last_; }  // sequence of the newest record, or what was skipped or covered
  std::size_t payload_bytes_max() const;        // that fits when all was released

  // The payloads of the whole records behind `covered` that stand in the file now, by sequence; for another process
  // than the one that writes it, which may write over some meanwhile.
  static Result<std::map<std::uint64_t, std::string>> records_now(const FileReader& file, std::string_view id,
                                                                  std::uint64_t covered);

 private:
  struct Place {
    std::uint64_t sequence = 0;
    std::uint64_t offset = 0;
    std::uint64_t end = 0;  // behind its last block
  };

  Journal(std::filesystem::path file, int descriptor, std::uint64_t bytes, std::string id, std::uint64_t covered)
      : file_(std::move(file)),
        descriptor_(descriptor),
        bytes_(bytes),
        id_(std::move(id)),
        last_(covered),
        written_to_(bytes) {}

  Result<void> find_records(const FileReader& reader);
  // Where a record of so many bytes may be written; 0 where it would touch one that is not released.
  std::uint64_t room_for(std::uint64_t bytes);
  Result<void> write(std::uint64_t offset, const char* aligned, std::size_t bytes);

  struct FreeAligned {
    void operator()(char* memory) const;
  };
  using Buffer = std::unique_ptr<char[], FreeAligned>;
  static Buffer make_buffer(std::size_t bytes);

  std::filesystem::path file_;
  int descriptor_;
  std::uint64_t bytes_;
  std::string id_;
  std::uint64_t last_;
  std::uint64_t position_ = block_bytes;  // where the next record goes if it fits
  std::uint64_t written_to_;              // behind it all blocks are zeros
  std::mutex mutex_;                      // guards records_: one thread appends, another releases
  std::deque<Place> records_;             // not released, oldest first
  Buffer buffer_;
  std::size_t buffer_bytes_ = 0;
  bool is_broken_ = false;
};

}  // namespace tafel::store
