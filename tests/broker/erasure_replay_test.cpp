// An older backup and the ledger of what was erased since; and what is left in the files of a store that was compacted.
#include "broker/erasure_replay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "blackboard/store/backup.hpp"
#include "blackboard/store/deep_verify.hpp"
#include "blackboard/store/disk.hpp"
#include "blackboard/store/erasure_ledger.hpp"
#include "common/codec/event_codec.hpp"
#include "tests/broker/rig.hpp"

namespace tafel {
namespace {

namespace fs = std::filesystem;

const std::string canary = "出生证明编号一九九四";  // 30 bytes

// A store on disk with a pipeline.
struct Disk {
  explicit Disk(const fs::path& directory) {
    store::LmdbOptions options;
    options.directory = directory;
    options.disk_reserve_bytes = 0;
    auto kv = store::open_disk(options, random);
    EXPECT_TRUE(kv) << kv.error().message;
    auto opened = store::Store::open(std::move(*kv), random);
    EXPECT_TRUE(opened) << opened.error().message;
    store = std::move(*opened);
    pipeline = std::make_unique<broker::Pipeline>(*store, roles);
  }

  Receipt on(const std::string& board, const std::string& text, const std::string& actor = "analyst") {
    const auto done = pipeline->commit({{actor, testing::delta(text, board)}}, now += 10);
    EXPECT_TRUE(done);
    EXPECT_FALSE(done->receipts.front().error) << done->receipts.front().error->message;
    return done->receipts.front();
  }
  void erase(const std::string& board, const std::string& path) {
    on(board, R"({"ops": [{"op": "erase", "path": ")" + path + R"("}]})", "officer");
    scrub();
  }
  void fork(const std::string& board, const std::string& from) {
    on(board, R"({"ops": [{"op": "fork", "value": {"parent": ")" + from + R"("}}]})");
  }
  void scrub() {
    while (*pipeline->scrub()) {
    }
  }
  std::vector<store::Erasure> ledger() { return *store->erasures(0, 1000); }
  bool holds(const std::string& board, const std::string& text) {
    const auto records = *(*store->snapshot())->event_records(board, 1, 10'000, 1U << 30U);
    return std::any_of(records.begin(), records.end(),
                       [&](const std::string& record) { return record.find(text) != std::string::npos; });
  }
  Version version(const std::string& board) { return (**(*store->snapshot())->head(board)).version; }

  SystemRandom random;
  RoleTable roles;
  TimeMs now = 1'700'000'000'000;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<broker::Pipeline> pipeline;
};

struct ErasureReplay : ::testing::Test {
  testing::TemporaryDirectory folder;
  fs::path data = folder.path() / "data";
  fs::path copy = folder.path() / "copy";
  SeededRandom random{5};

  void back_up() {
    const auto done = store::back_up(data, copy);
    ASSERT_TRUE(done) << done.error().message;
  }
  static broker::ReplayedErasures replay(Disk& disk, const std::vector<store::Erasure>& ledger, TimeMs now) {
    const auto done = broker::replay_erasures(*disk.store, ledger, now);
    EXPECT_TRUE(done) << done.error().message;
    return done.value_or(broker::ReplayedErasures());
  }
  static void expect_sound(Disk& disk, const std::string& board) {
    EXPECT_EQ(disk.store->verify(board)->defects, std::vector<std::string>()) << board;
  }
};

TEST_F(ErasureReplay, WhatWasErasedSinceTheBackupGoesBeforeAnybodyReads) {
  std::vector<store::Erasure> ledger;
  {
    Disk disk(data);
    disk.on("t/e", R"({"set": {"profile.生日": ")" + canary + R"(", "name": "李雷"}})");
    disk.fork("t/f", "t/e");
    disk.on("t/f", R"({"set": {"profile.生日": ")" + canary + R"(2"}})");
  }
  back_up();
  {
    Disk disk(data);
    disk.erase("t/e", "profile");
    disk.on("t/new", R"({"set": {"secret": 1}})");
    disk.erase("t/new", "secret");
    ledger = disk.ledger();
    ASSERT_EQ(ledger.size(), 3U);
  }
  Disk restored(copy);
  ASSERT_TRUE(restored.holds("t/e", canary));
  const auto first = replay(restored, ledger, 1'700'000'000'000 - 3'600'000);  // a clock that is behind
  EXPECT_EQ(first.carried_out, 1U) << "the erasure reaches the fork by itself";
  EXPECT_EQ(first.known, 1U);
  EXPECT_EQ(first.skipped, 1U);
  for (const std::string board : {"t/e", "t/f"}) {
    EXPECT_FALSE(restored.holds(board, canary)) << board;
    expect_sound(restored, board);
  }
  const auto own = restored.ledger();
  ASSERT_EQ(own.size(), 2U);
  for (const store::Erasure& erasure : own) {
    EXPECT_EQ(erasure.actor, "officer");
    EXPECT_TRUE(erasure.is_done);
  }
  EXPECT_FALSE((*restored.store->snapshot())->head("t/new")->has_value());

  // What is written anew afterwards is not erased by another start with the same file.
  restored.on("t/e", R"({"set": {"profile.生日": "anew"}})");
  const Version version = restored.version("t/e");
  const auto second = replay(restored, ledger, restored.now);
  EXPECT_EQ(second.carried_out, 0U);
  EXPECT_EQ(second.known, 2U);
  EXPECT_EQ(restored.version("t/e"), version);
  EXPECT_EQ(testing::value_in(*restored.store, "profile.生日", "t/e"), Value("anew"));
}

TEST_F(ErasureReplay, IsAnEventOfItsActorWithASourceOfItsOwn) {
  Disk disk(data);
  disk.on("t/e", R"({"set": {"生日": 1}})");
  const store::Erasure erasure{0, "t/e", *Path::parse("生日"), 7, "数据专员", disk.now + 1000, true};
  EXPECT_EQ(replay(disk, {erasure}, disk.now).carried_out, 1U);
  const auto records = *(*disk.store->snapshot())->event_records("t/e", 2, 2, 1U << 30U);
  ASSERT_EQ(records.size(), 1U);
  const auto event = codec::decode_event(records[0]);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->actor, "数据专员");
  EXPECT_EQ(event->source.kind, "erasure");
  EXPECT_EQ(event->source.ref, "t/e@7");
  EXPECT_GE(event->time, erasure.time);
}

TEST_F(ErasureReplay, APathAboveCoversWhatLiesBelow) {
  Disk disk(data);
  disk.on("t/e", R"({"set": {"a.b": 1, "c": 1}})");
  disk.erase("t/e", "a");
  const TimeMs time = disk.ledger().front().time;
  const auto of = [&](const char* path, TimeMs at) {
    return store::Erasure{0, "t/e", *Path::parse(path), 1, "x", at, true};
  };
  EXPECT_EQ(replay(disk, {of("a.b", time)}, disk.now).known, 1U);
  EXPECT_EQ(replay(disk, {of("a", time)}, disk.now).known, 1U);
  EXPECT_EQ(replay(disk, {of("c", time)}, disk.now).carried_out, 1U);
  EXPECT_EQ(replay(disk, {of("a.b", time + 1)}, disk.now).carried_out, 1U) << "it came later";
}

TEST_F(ErasureReplay, ABoardThatWasDeletedSinceTheBackupGoesToo) {
  std::vector<store::Erasure> ledger;
  const auto remove = [](Disk& disk, const std::string& board) {
    disk.on(board, R"({"ops": [{"op": "delete", "path": "$board"}]})", "officer");
    disk.scrub();
  };
  {
    Disk disk(data);
    disk.on("t/e", R"({"set": {"a": ")" + canary + R"("}})");
    disk.fork("t/f", "t/e");
    disk.on("t/other", R"({"set": {"a": 1}})");
  }
  back_up();
  {
    Disk disk(data);
    disk.erase("t/e", "a");
    remove(disk, "t/f");
    remove(disk, "t/e");
    ledger = disk.ledger();
    ASSERT_EQ(ledger.size(), 4U);
  }
  Disk restored(copy);
  EXPECT_EQ(replay(restored, ledger, restored.now).carried_out, 3U);
  const auto deleted = *(*restored.store->snapshot())->deleted_boards("", 10);
  ASSERT_EQ(deleted.size(), 2U);
  for (const store::DeletedBoard& board : deleted) {
    EXPECT_EQ(board.deletion.actor, "officer");
    EXPECT_TRUE(board.deletion.is_purged);
  }
  EXPECT_EQ(testing::value_in(*restored.store, "a", "t/other"), Value(1));
  EXPECT_EQ(replay(restored, ledger, restored.now).known, 4U);
  restored.pipeline.reset();
  restored.store.reset();
  EXPECT_EQ(store::verify_deep(copy)->defects, std::vector<std::string>());
  EXPECT_EQ(store::verify_deep(data)->defects, std::vector<std::string>());
}

TEST_F(ErasureReplay, ALedgerIsReadBackAsItWasWritten) {
  const store::Erasure erasure{0, "acme/旅行", *Path::parse(R"(模型.v1\.5)"), 12, "专员", 1'700'000'000'123, true};
  const fs::path file = folder.path() / "ledger";
  testing::write_file(file, store::ledger_line(erasure) + "\n\n" + store::ledger_line(erasure));
  const auto ledger = store::read_ledger(file);
  ASSERT_TRUE(ledger) << ledger.error().message;
  ASSERT_EQ(ledger->size(), 2U);
  EXPECT_EQ(store::ledger_line(ledger->at(1)), store::ledger_line(erasure));
  for (const char* wrong :
       {"x", "[]", R"({"board":"b"})", R"({"board":"","path":"p","version":1,"actor":"a","time":1})",
        R"({"board":"b","path":"p..q","version":1,"actor":"a","time":1})",
        R"({"board":"b","path":"p","version":1,"actor":"a","time":9223372036854775807})",
        R"({"board":"b","path":"p","version":1,"actor":"a","time":-1})"}) {
    testing::write_file(file, store::ledger_line(erasure) + "\n" + wrong + "\n");
    const auto read = store::read_ledger(file);
    ASSERT_FALSE(read) << wrong;
    EXPECT_NE(read.error().message.find("line 2"), std::string::npos) << read.error().message;
  }
  EXPECT_FALSE(store::read_ledger(folder.path() / "nowhere"));
}

TEST_F(ErasureReplay, AnErasureOfTheFutureIsRefused) {
  Disk disk(data);
  disk.on("t/e", R"({"set": {"secret": "x"}})");
  const store::Erasure tomorrow{0, "t/e", *Path::parse("secret"), 9, "officer", disk.now + 2 * 86'400'000, true};
  const auto done = broker::replay_erasures(*disk.store, {tomorrow}, disk.now);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().fault, Fault::bad_config);
  EXPECT_NE(done.error().message.find("in the future"), std::string::npos) << done.error().message;
  EXPECT_EQ(disk.version("t/e"), 1U);
}

bool is_in_files(const fs::path& directory, const std::string& text) {
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file() && testing::read_file(entry.path()).find(text) != std::string::npos) return true;
  }
  return false;
}

TEST_F(ErasureReplay, NothingOfWhatWasErasedIsInTheFilesOfACompactedStore) {
  ASSERT_EQ(canary.size(), 30U);
  {
    Disk disk(data);
    for (int i = 0; i < 40; ++i) {
      disk.on("t/e",
              R"({"confidence": "verified", "set": {"secret": ")" + canary + R"(", "x": )" + std::to_string(i) + "}}");
      disk.on("t/e", R"({"id": "g)" + std::to_string(i) + R"(", "confidence": "guess", "set": {"secret": ")" + canary +
                         "z" + std::to_string(i % 3) + R"("}})");
      disk.on("t/e", R"({"patch": {"s": {"add": [")" + canary + R"("]}}})");
    }
    disk.fork("t/f", "t/e");
    disk.on("t/f", R"({"confidence": "verified", "set": {"secret": ")" + canary + R"(f"}})");
    for (const char* path : {"secret", "s"}) disk.erase("t/e", path);
  }
  EXPECT_TRUE(is_in_files(data, canary)) << "free pages keep it: else this test shows nothing";
  back_up();
  EXPECT_FALSE(is_in_files(copy, canary));
  const auto compacted = store::compact(data, random);
  ASSERT_TRUE(compacted) << compacted.error().message;
  EXPECT_FALSE(is_in_files(data, canary));
  EXPECT_EQ(store::verify_deep(data)->defects, std::vector<std::string>());
  Disk disk(data);
  EXPECT_EQ(testing::value_in(*disk.store, "x", "t/e"), Value(39));
  expect_sound(disk, "t/f");
}

TEST_F(ErasureReplay, CompactionEndsWhatIsPendingFirst) {
  {
    Disk disk(data);
    for (int i = 0; i < 300; ++i) disk.on("t/e", R"({"set": {"secret": ")" + canary + std::to_string(i) + R"("}})");
    disk.on("t/e", R"({"ops": [{"op": "erase", "path": "secret"}]})", "officer");
    ASSERT_FALSE(disk.ledger().front().is_done);
  }
  const auto compacted = store::compact(data, random);
  ASSERT_TRUE(compacted) << compacted.error().message;
  EXPECT_FALSE(is_in_files(data, canary));
  Disk disk(data);
  EXPECT_TRUE(disk.ledger().front().is_done);
  expect_sound(disk, "t/e");
}

}  // namespace
}  // namespace tafel
