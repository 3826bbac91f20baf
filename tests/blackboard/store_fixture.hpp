// Stores to test: on memory, on LMDB, and on LMDB behind a journal, opened again as after a restart, and filled by
// hand.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "blackboard/store/disk.hpp"
#include "blackboard/store/memory_kv.hpp"
#include "blackboard/store/store.hpp"
#include "tests/blackboard/board_builder.hpp"
#include "tests/blackboard/changes_by_hand.hpp"
#include "tests/temporary_directory.hpp"

namespace tafel::testing {

// The value, or a failed test that says why there is none.
template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(std::string(fault_name(result.error().fault)) + ": " + result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

template <class T>
std::string fault_of(const Result<T>& result) {
  return result ? "none" : fault_name(result.error().fault);
}

// Where a store lies. What was opened before must be gone before it is opened again.
struct OnMemory {
  std::shared_ptr<store::MemoryKv> disk = store::make_memory_disk();

  Result<std::unique_ptr<store::Kv>> try_open() const { return store::open_memory(disk); }
  std::unique_ptr<store::Kv> open() const { return must(try_open()); }
};

struct OnLmdb {
  OnLmdb() = default;
  OnLmdb(const OnLmdb&) = delete;
  virtual ~OnLmdb() = default;

  TemporaryDirectory directory;

  store::LmdbOptions options() const {
    store::LmdbOptions options;
    options.directory = directory.path() / "data";
    options.map_bytes = 1024ULL * 1024 * 1024;
    options.disk_reserve_bytes = 0;
    return options;
  }
  virtual Result<std::unique_ptr<store::Kv>> open_with(const store::LmdbOptions& given) const {
    return store::open_lmdb(given);
  }
  Result<std::unique_ptr<store::Kv>> try_open() const { return open_with(options()); }
  std::unique_ptr<store::Kv> open() const { return must(try_open()); }
};

// So small that it is filled, written over and passed by within a test.
inline store::JournalOptions small_journal() {
  store::JournalOptions journal;
  journal.bytes = 64 * store::Journal::block_bytes;
  journal.write_back.bytes = 64 * 1024;
  journal.write_back.bytes_max = 128 * 1024;
  return journal;
}

struct OnDisk : OnLmdb {
  Result<std::unique_ptr<store::Kv>> open_with(const store::LmdbOptions& given) const override {
    SeededRandom random(1);
    return store::open_disk(given, random, small_journal());
  }
  std::filesystem::path journal() const { return options().directory / "store" / "journal"; }
};

using Places = ::testing::Types<OnMemory, OnLmdb, OnDisk>;

struct PlaceNames {
  template <class Place>
  static std::string GetName(int) {
    if (std::is_same_v<Place, OnMemory>) return "Memory";
    return std::is_same_v<Place, OnLmdb> ? "Lmdb" : "Disk";
  }
};

inline constexpr std::size_t unbounded = 1ULL << 40U;

// An open store and short words for what tests do with it.
template <class Place>
class OpenStore {
 public:
  OpenStore() { reopen(); }

  void reopen() {
    store_.reset();
    store_ = must(store::Store::open(place_.open(), random_));
  }

  // Appends one event made of `changes` and commits it.
  Event commit(const std::string& board, const std::vector<Change>& changes, const std::string& id = {},
               TimeMs now = 1000) {
    const auto batch = must(store_->begin());
    const EventPointer event = must(batch->append(delta_for(board, id), judgement_of(changes), stamp_at(now)));
    must(batch->commit());
    return *event;
  }
  Head head(const std::string& board) { return must(must(store_->snapshot())->head(board)).value(); }
  blackboard::Board load(const std::string& board, std::optional<Version> version = {},
                         const std::optional<Path>& path = {}) {
    return must(must(store_->snapshot())->load(board, path, version, unbounded));
  }
  std::vector<std::string> defects(const std::string& board) { return must(store_->verify(board)).defects; }

  store::Store& operator*() { return *store_; }
  store::Store* operator->() { return store_.get(); }
  Place& place() { return place_; }
  // Whether some key or record holds the bytes, or the journal before them. Lets go of the store.
  bool holds(const std::string& bytes) {
    close();
    bool found = false;
    if constexpr (std::is_same_v<Place, OnDisk>) found = read_file(place_.journal()).find(bytes) != bytes.npos;
    const auto kv = place_.open();
    const auto read = must(kv->read());
    for (std::size_t table = 0; table < store::table_count; ++table) {
      must(read->scan(static_cast<store::Table>(table), {}, [&](std::string_view key, std::string_view value) {
        found = found || key.find(bytes) != key.npos || value.find(bytes) != value.npos;
        return !found;
      }));
    }
    return found;
  }
  // Lets go of the store, so that its place can be touched.
  void close() { store_.reset(); }

 private:
  Place place_;
  SeededRandom random_{1};
  std::unique_ptr<store::Store> store_;
};

inline bool is_same(const blackboard::Board& left, const blackboard::Board& right) {
  return left.version() == right.version() && left.digest() == right.digest() &&
         std::equal(left.cells().begin(), left.cells().end(), right.cells().begin(), right.cells().end(),
                    [](const auto& a, const auto& b) { return a.first == b.first && is_same(a.second, b.second); });
}

}  // namespace tafel::testing
