// Boards that leave a store as text and come into another one, and files that are not what they say.
#include "blackboard/store/export.hpp"

#include <random>

#include "blackboard/store/deep_verify.hpp"
#include "blackboard/store/import.hpp"
#include "blackboard/store/layout.hpp"
#include "blackboard/store/record.hpp"
#include "common/base/text.hpp"
#include "common/codec/event_codec.hpp"
#include "common/codec/event_pieces.hpp"
#include "tests/blackboard/store_fixture.hpp"
#include "tests/effort.hpp"

namespace tafel::store {
namespace {

using testing::add_element;
using testing::gone;
using testing::is_same;
using testing::must;
using testing::NaiveHistory;
using testing::OnMemory;
using testing::OpenStore;
using testing::path_of;
using testing::RandomChanges;
using testing::set_leaf;
using testing::unbounded;

using Lines = std::vector<std::string>;

// Puts another JSON text in the place of a member of the line.
void replace_member(std::string& line, const std::string& name, const std::string& json) {
  Value value = testing::json(line);
  value.set(name, testing::json(json));
  line = codec::to_json(value);
}

Lines exported(Kv& kv, const ExportOptions& options = {}) {
  Lines lines;
  const auto read = must(kv.read());
  must(export_boards(*read, options, [&](const std::string& line) -> Result<void> {
    lines.push_back(line);
    return {};
  }));
  return lines;
}

// A store in memory that only imports.
struct Target {
  std::shared_ptr<MemoryKv> disk = make_memory_disk();
  SeededRandom random{3};

  Result<ImportCounts> take(const Lines& lines, TimeMs now = 5'000) {
    const auto kv = open_memory(disk);
    must(prepare_store(*kv, random));
    auto at = lines.begin();
    return import_boards(*kv, random, now, [&]() -> Result<std::optional<std::string>> {
      return at == lines.end() ? std::optional<std::string>() : std::optional(*at++);
    });
  }
  std::unique_ptr<Store> open() { return must(Store::open(open_memory(disk), random)); }
  std::vector<std::string> deep_defects() { return must(verify_deep(*must(open_memory(disk)->read()))).defects; }
  std::size_t records_of_boards() {
    const auto kv = open_memory(disk);
    const auto read = must(kv->read());
    std::size_t count = 0;
    for (const Table table : {Table::boards, Table::fields, Table::parts, Table::events, Table::expiry, Table::forks}) {
      must(read->scan(table, {}, [&](std::string_view, std::string_view) { return ++count > 0; }));
    }
    return count;
  }
};

class ExportTest : public ::testing::Test {
 protected:
  OpenStore<OnMemory> store_;

  Lines lines(const ExportOptions& options = {}) { return exported(*store_.place().open(), options); }
  void grow(const std::string& board, int versions, std::uint64_t seed) {
    RandomChanges changes(seed);
    NaiveHistory history;
    for (int i = 0; i < versions; ++i) {
      const auto next = changes.next(history);
      store_.commit(board, next, "id" + std::to_string(i));
      history.apply(history.version() + 1, next);
    }
  }
  void fork(const std::string& board, const std::string& parent, Version version, const std::vector<Change>& changes) {
    const auto batch = must(store_->begin());
    ASSERT_TRUE(must(batch->fork(board, parent, version)));
    must(batch->append(testing::delta_for(board), testing::judgement_of(changes), testing::stamp_at(1000)));
    must(batch->commit());
  }
  void trim(const std::string& board, Version floor) {
    const auto batch = must(store_->begin());
    must(batch->trim(board, {floor, std::nullopt, 1'000'000, unbounded, unbounded}));
    must(batch->commit());
  }
  void erase(const std::string& board, const std::string& path) {
    const auto batch = must(store_->begin());
    const auto event =
        must(batch->append(testing::delta_for(board), testing::judgement_of({gone(field_key(path_of(path)))}),
                           testing::stamp_at(2000, "officer")));
    must(batch->note_erasure({0, board, path_of(path), event->version, "officer", 2000, false}));
    must(batch->commit());
  }
  // Boards whose histories do not reach back to their beginnings: with a tag, with forks, with an erasure since.
  void grow_trimmed() {
    store_.commit("b", {set_leaf("ssn", "1994", 1), add_element("s", "英国", 1), testing::hold("ssn", 7, 1)});
    store_.commit("b", {set_leaf("$tags.签约", 1, 2), set_leaf("old", 1, 2)});
    for (Version version = 3; version <= 8; ++version)
      store_.commit("b", {set_leaf("a", version, version), testing::append_entry("l", version, version)});
    fork("f", "b", 5, {set_leaf("a", 50, 6), add_element("s", "日本", 6)});
    for (Version version = 7; version <= 12; ++version) store_.commit("f", {set_leaf("own", version, version)});
    store_.commit("f", {gone(element_key(path_of("s"), "英国"))});
    fork("g", "b", 8, {set_leaf("x", 1, 9)});
    store_.commit("b", {gone(element_key(path_of("s"), "英国")), set_leaf("x", 9, 9)});
    for (Version version = 10; version <= 15; ++version) store_.commit("b", {set_leaf("a", version, version)});
    trim("b", 10);
    trim("f", 9);
    erase("b", "x");
    for (const char* board : {"f", "g", "b"}) erase(board, "old");  // which both forks inherited
    grow("c", 50, 4);
    trim("c", 30);
  }
  void expect_same(Store& other) {
    const auto first = must(store_->snapshot());
    const auto second = must(other.snapshot());
    const auto boards = must(first->boards("", 100));
    ASSERT_EQ(boards.size(), must(second->boards("", 100)).size());
    for (const BoardSummary& board : boards) {
      const std::string& id = board.board;
      const Head& head = board.head;
      const Head its = must(second->head(id)).value();
      EXPECT_EQ(its.version, head.version) << id;
      EXPECT_EQ(its.hash, head.hash) << id;
      EXPECT_EQ(its.time, head.time) << id;
      EXPECT_EQ(its.digest, head.digest) << id;
      EXPECT_EQ(must(first->event_records(id, 1, 10'000, unbounded)),
                must(second->event_records(id, 1, 10'000, unbounded)))
          << id;
      for (Version version = 1; version <= head.version; version += 1 + version % 4)
        ASSERT_TRUE(
            is_same(must(first->load(id, {}, version, unbounded)), must(second->load(id, {}, version, unbounded))))
            << id << " at " << version;
      EXPECT_EQ(must(other.verify(id)).defects, std::vector<std::string>()) << id;
    }
  }
};

Result<std::shared_ptr<const Schema>> secret_in(const std::string& path) {
  auto schema = std::make_shared<Schema>();
  FieldRule rule;
  rule.sensitivity = Sensitivity::personal;
  schema->declare(path_of(path), rule);
  return std::shared_ptr<const Schema>(schema);
}

TEST_F(ExportTest, BoardsComeBackAsTheyWere) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) grow("acme/旅行/" + std::to_string(seed), 60, seed);
  Target target;
  const auto counts = must(target.take(lines()));
  EXPECT_EQ(counts.boards, 3U);
  EXPECT_EQ(counts.versions, 180U);
  EXPECT_EQ(target.deep_defects(), std::vector<std::string>());
  expect_same(*target.open());
}

TEST_F(ExportTest, ForksComeWithTheirParentsFirst) {
  RandomChanges random(8);
  NaiveHistory history;
  for (int i = 0; i < 30; ++i) {
    const auto next = random.next(history);
    store_.commit("z/parent", next);
    history.apply(history.version() + 1, next);
  }
  NaiveHistory forked = history.until(20);
  const auto first = random.next(forked);
  fork("a/fork", "z/parent", 20, first);
  forked.apply(21, first);
  for (int i = 0; i < 15; ++i) {
    const auto next = random.next(forked);
    store_.commit("a/fork", next);
    forked.apply(forked.version() + 1, next);
  }
  fork("0/early", "a/fork", 20, {set_leaf("own", 1, 21)});  // where that begins itself
  const Lines all = lines({{"0/early"}, nullptr});
  EXPECT_NE(all[1].find("z/parent"), std::string::npos) << "asked for the youngest: the others come along";
  Target target;
  EXPECT_EQ(must(target.take(all)).boards, 3U);
  EXPECT_EQ(target.deep_defects(), std::vector<std::string>());
  expect_same(*target.open());
}

TEST_F(ExportTest, TwiceIsOnce) {
  grow("b", 20, 1);
  const Lines early = lines();
  Target target;
  must(target.take(early));
  const auto again = must(target.take(early));
  EXPECT_EQ(again.boards, 0U);
  EXPECT_EQ(again.boards_known, 1U);
  grow("c", 3, 2);
  EXPECT_EQ(must(target.take(lines())).boards, 1U);
  EXPECT_EQ(target.deep_defects(), std::vector<std::string>());
}

TEST_F(ExportTest, ABoardThatIsThereWithAnotherHistoryIsRefused) {
  grow("b", 20, 1);
  Target target;
  must(target.take(lines()));
  OpenStore<OnMemory> other;
  other.commit("b", {set_leaf("x", 1, 1)});
  const std::size_t before = target.records_of_boards();
  const auto taken = target.take(exported(*other.place().open()));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().fault, Fault::refused);
  EXPECT_NE(taken.error().message.find("line 2"), std::string::npos) << taken.error().message;
  EXPECT_EQ(target.records_of_boards(), before);
}

TEST_F(ExportTest, WhatWasErasedStaysErased) {
  store_.commit("b", {set_leaf("生日", "1994-02-28", 1), add_element("s", "x", 1)});
  fork("f", "b", 1, {set_leaf("own", 1, 2)});
  for (const std::string board : {"f", "b"}) {
    const auto batch = must(store_->begin());
    const auto event =
        must(batch->append(testing::delta_for(board), testing::judgement_of({gone(field_key(path_of("生日")))}),
                           testing::stamp_at(2000, "officer")));
    must(batch->note_erasure({0, board, path_of("生日"), event->version, "officer", 2000, false}));
    must(batch->commit());
  }
  // Still pending here: what leaves the store is gone through all the same.
  const Lines all = lines();
  for (const std::string& line : all) EXPECT_EQ(line.find("1994-02-28"), std::string::npos);
  Target target;
  must(target.take(all));
  const auto store = target.open();
  EXPECT_EQ(must(store->erasures(0, 10)).size(), 2U);
  for (const std::string board : {"b", "f"}) {
    EXPECT_EQ(must(store->verify(board)).defects, std::vector<std::string>()) << board;
    EXPECT_EQ(must(must(store->snapshot())->head(board))->hash, store_.head(board).hash);
    EXPECT_TRUE(is_same(must(must(store->snapshot())->load(board, {}, {}, unbounded)), store_.load(board)));
  }
}

TEST_F(ExportTest, WhatWasErasedAboveForksThatNeverWroteToItComesBackErased) {
  // By whether the eldest board erases, or only the one below it; forks are erased with the board above them.
  for (const std::string eldest : {"g", "f"}) {
    const std::string root = eldest + "/";
    const auto name = [&](const char* board) { return root + board; };
    store_.commit(name("g"), {set_leaf("p.x", "一", 1), set_leaf("q", 1, 1)});
    store_.commit(name("g"), {set_leaf("q", 2, 2)});
    fork(name("f"), name("g"), 2, {set_leaf("q", 3, 3)});
    store_.commit(name("f"), {set_leaf("p.z", "三", 4)});
    fork(name("ff"), name("f"), 3, {set_leaf("r", 1, 4)});
    fork(name("late"), name("f"), 4, {set_leaf("r", 1, 5)});
    fork(name("fff"), name("ff"), 4, {set_leaf("r", 2, 5)});
    for (const char* board : {"fff", "late", "ff", "f"}) erase(name(board), "p.x");
    for (const char* board : {"late", "f"}) erase(name(board), "p.z");
    if (eldest == "g") erase(name("g"), "p.x");
    store_.commit(name("fff"), {set_leaf("p.x", "新", 7)});
  }
  const Lines all = lines();
  Target target;
  must(target.take(all));
  EXPECT_EQ(target.deep_defects(), std::vector<std::string>());
  const auto store = target.open();
  for (const BoardSummary& board : must(must(store_->snapshot())->boards("", 100))) {
    const auto snapshot = must(store->snapshot());
    EXPECT_EQ(must(snapshot->head(board.board))->hash, board.head.hash) << board.board;
    EXPECT_EQ(must(snapshot->head(board.board))->erased, board.head.erased) << board.board;
    EXPECT_TRUE(is_same(must(snapshot->load(board.board, {}, {}, unbounded)), store_.load(board.board))) << board.board;
  }
}

TEST_F(ExportTest, WhatIsPersonalIsLeftOutOfForksOfForksToo) {
  store_.commit("b", {set_leaf("id", "E12345678", 1), set_leaf("q", 1, 1)});
  fork("f", "b", 1, {set_leaf("q", 2, 2)});
  fork("ff", "f", 2, {set_leaf("q", 3, 3)});
  fork("fff", "ff", 3, {set_leaf("id", "E9", 4)});
  Target target;
  must(target.take(lines({{}, [](const std::string&, const ReadCell&) { return secret_in("id"); }})));
  EXPECT_EQ(target.deep_defects(), std::vector<std::string>());
  Target third;
  must(third.take(exported(*open_memory(target.disk))));
  EXPECT_EQ(third.deep_defects(), std::vector<std::string>());
}

TEST_F(ExportTest, AForkWhoseVersionWasTrimmedMeanwhileIsRefusedWithTheReason) {
  for (Version version = 1; version <= 12; ++version) store_.commit("b", {set_leaf("a", version, version)});
  const auto parent = lines();
  fork("f", "b", 5, {set_leaf("a", 50, 6)});
  Target target;
  must(target.take(parent));
  {
    const auto store = target.open();
    const auto batch = must(store->begin());
    must(batch->trim("b", {10, std::nullopt, 1'000'000, unbounded, unbounded}));
    must(batch->commit());
  }
  const auto taken = target.take(lines());
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().message.find("version 5 of b"), std::string::npos) << taken.error().message;
  EXPECT_NE(taken.error().message.find("not kept"), std::string::npos) << taken.error().message;
  EXPECT_EQ(target.deep_defects(), std::vector<std::string>());
}

TEST_F(ExportTest, NoOlderImageThatATagNeedsMayBeMissing) {
  for (Version version = 1; version <= 40; ++version)
    store_.commit("b",
                  {set_leaf("a", version, version), set_leaf("k" + std::to_string(version % 7), version, version)});
  store_.commit("b", {set_leaf("$tags.k", 10, 41)});
  trim("b", 38);
  const Lines all = lines();
  std::size_t older = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Value line = testing::json(all[i]);
    if (line.find("older") == nullptr || *line.find("older") != Value(true)) continue;
    ++older;
    Lines changed = all;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
    Target target;
    EXPECT_FALSE(target.take(changed)) << all[i];
    EXPECT_EQ(target.records_of_boards(), 0U);
  }
  EXPECT_GE(older, 16U) << "of eight fields, each with its cell";
}

TEST_F(ExportTest, AHistoryThatWasTrimmedComesBackFromItsFloorOn) {
  grow_trimmed();
  for (const char* board : {"b", "f", "g", "c"}) EXPECT_EQ(store_.defects(board), std::vector<std::string>()) << board;
  const Lines all = lines();
  Target target;
  must(target.take(all));
  EXPECT_EQ(target.deep_defects(), std::vector<std::string>());
  const auto kv = open_memory(target.disk);
  Lines again = exported(*kv);
  ASSERT_EQ(again.size(), all.size());
  for (std::size_t i = 1; i < all.size(); ++i)  // the epochs of the first line differ
    ASSERT_EQ(again[i].substr(0, 400), all[i].substr(0, 400)) << "what came in goes out again";
  const auto store = target.open();
  const auto snapshot = must(store->snapshot());
  const auto ours = must(store_->snapshot());
  const std::vector<std::pair<std::string, std::vector<Version>>> readable{
      {"b", {1, 5, 8, 10, 11, 15, 17}}, {"f", {3, 9, 10, 14}}, {"g", {8, 10}}, {"c", {30, 31, 40, 50}}};
  for (const auto& [board, versions] : readable) {
    EXPECT_EQ(must(store->verify(board)).defects, std::vector<std::string>()) << board;
    EXPECT_EQ(must(snapshot->head(board))->hash, store_.head(board).hash);
    EXPECT_EQ(must(snapshot->head(board))->floor, store_.head(board).floor);
    for (const Version version : versions) {
      const auto expected = ours->load(board, {}, version, unbounded);
      const auto found = snapshot->load(board, {}, version, unbounded);
      ASSERT_EQ(testing::fault_of(found), testing::fault_of(expected)) << board << " at " << version;
      if (expected) EXPECT_TRUE(is_same(*found, *expected)) << board << " at " << version;
    }
  }
}

TEST_F(ExportTest, WhatIsPersonalIsLeftOutOfImagesToo) {
  grow_trimmed();
  const auto schema_of = [](const std::string& board, const ReadCell&) {
    return board == "b" ? secret_in("ssn") : Result<std::shared_ptr<const Schema>>(std::make_shared<const Schema>());
  };
  const Lines all = lines({{}, schema_of});
  for (const std::string& line : all) {
    const Value value = testing::json(line);
    const Value* record = value.find("record");
    if (record != nullptr) EXPECT_EQ(from_base64(*record->get_if<std::string>())->find("1994"), std::string::npos);
  }
  Target target;
  EXPECT_EQ(must(target.take(all)).fields_left_out, 3U) << "of the board and of both forks";
  EXPECT_EQ(target.deep_defects(), std::vector<std::string>());
}

TEST_F(ExportTest, WhatIsPersonalIsLeftOutAndTheChainStillVerifies) {
  const std::string canary = "护照号码E12345678";
  store_.commit("b", {set_leaf("id", canary, 1), set_leaf("city", "上海", 1)});
  store_.commit("b", {set_leaf("id", canary + "2", 2)});
  store_.commit("b", {set_leaf("city", "北京", 3)});
  fork("f", "b", 2, {set_leaf("id", canary + "3", 3)});
  fork("g", "b", 1, {set_leaf("x", 1, 2)});
  const auto schema_of = [](const std::string& board, const ReadCell&) {
    return board == "b" ? secret_in("id") : Result<std::shared_ptr<const Schema>>(std::make_shared<const Schema>());
  };
  const Lines all = lines({{}, schema_of});
  for (const std::string& line : all) {
    EXPECT_EQ(line.find(canary), std::string::npos);
    EXPECT_EQ(line.find(to_base64(canary).substr(4, 16)), std::string::npos);
  }
  Target target;
  const auto counts = must(target.take(all));
  EXPECT_EQ(counts.fields_left_out, 3U);
  EXPECT_EQ(target.deep_defects(), std::vector<std::string>());
  const auto store = target.open();
  const auto snapshot = must(store->snapshot());
  const auto records = must(snapshot->event_records("b", 1, 10, unbounded));
  ASSERT_EQ(records.size(), 4U);
  const Event last = must(codec::decode_event(records.back()));
  EXPECT_EQ(last.actor, "system");
  EXPECT_EQ(last.previous_hash, store_.head("b").hash);
  EXPECT_EQ(must(snapshot->load("b", {}, {}, unbounded)).cells().size(), 1U);
  EXPECT_EQ(must(snapshot->load("f", {}, {}, unbounded)).cells().size(), 1U);
  EXPECT_EQ(must(snapshot->load("g", {}, {}, unbounded)).cells().size(), 2U);
  for (const char* board : {"b", "f", "g"})
    EXPECT_EQ(must(store->verify(board)).defects, std::vector<std::string>()) << board;
  // An import that is exported again and imported elsewhere is the same.
  Target third;
  const auto kv = open_memory(target.disk);
  must(third.take(exported(*kv)));
  EXPECT_EQ(third.deep_defects(), std::vector<std::string>());
}

TEST_F(ExportTest, AFileThatIsCutAnywhereIsRefusedAndLeavesNoHalfBoard) {
  grow("b", 10, 1);
  const Lines all = lines();
  for (std::size_t count = 0; count < all.size(); ++count) {
    Target target;
    const auto taken = target.take({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)});
    ASSERT_FALSE(taken) << count;
    EXPECT_EQ(taken.error().fault, Fault::bad_bytes);
    EXPECT_NE(taken.error().message.find("line " + std::to_string(count + 1) + ": "), std::string::npos)
        << taken.error().message;
    EXPECT_EQ(target.records_of_boards(), 0U) << count;
  }
}

struct Broken {
  const char* name;
  std::function<void(Lines&)> change;
  const char* line;
  bool is_told_last = false;  // when all boards have been taken
};

TEST_F(ExportTest, SaysTheLineThatIsWrong) {
  grow("b", 10, 1);
  const Lines all = lines();
  const auto replace = [](std::string& text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  const std::vector<Broken> cases{
      {"no header", [](Lines& l) { l.erase(l.begin()); }, "line 1: "},
      {"another format", [&](Lines& l) { replace(l[0], "\"tafel_export\":1", "\"tafel_export\":2"); }, "line 1: "},
      {"no JSON", [](Lines& l) { l[4] = "{\"line\":"; }, "line 5: "},
      {"no object", [](Lines& l) { l[4] = "[1]"; }, "line 5: "},
      {"an unknown line", [](Lines& l) { l[4] = R"({"line":"picture"})"; }, "line 5: "},
      {"something after the end", [](Lines& l) { l.emplace_back(R"({"line":"board"})"); }, "line 14: ", true},
      {"an unknown line of 10 MB", [](Lines& l) { l[4] = R"({"line":")" + std::string(10'000'000, 'x') + "\"}"; },
       "line 5: "},
      {"wrong base64", [&](Lines& l) { replace(l[4], "\"record\":\"", "\"record\":\"*"); }, "line 5: "},
      {"a record of nothing", [](Lines& l) { l[4] = R"({"line":"event","record":""})"; }, "line 5: "},
      {"a long line of nothing", [](Lines& l) { l[4] = std::string(10'000'000, 'x'); }, "line 5: "},
      {"a long record", [](Lines& l) { l[4] = R"({"line":"event","record":")" + std::string(10'000'000, 'A') + "\"}"; },
       "line 5: "},
      {"a version twice", [](Lines& l) { l.insert(l.begin() + 4, l[3]); }, "line 5: "},
      {"a version missing", [](Lines& l) { l.erase(l.begin() + 4); }, "line 5: "},
      {"two versions in the wrong order", [](Lines& l) { std::swap(l[4], l[5]); }, "line 5: "},
      {"no such board", [](Lines& l) { replace_member(l[1], "board", "\"\""); }, "line 2: "},
      {"another board", [](Lines& l) { replace_member(l[1], "board", "\"c\""); }, "line 3: "},
      {"another version", [](Lines& l) { replace_member(l[1], "version", "9"); }, "line 12: "},
      {"a later version", [](Lines& l) { replace_member(l[1], "version", "11"); }, "line 13: "},
      {"another digest", [](Lines& l) { replace_member(l[1], "digest", "\"" + std::string(32, '0') + "\""); },
       "line 13: "},
      {"another hash", [](Lines& l) { replace_member(l[1], "hash", "\"" + std::string(64, '0') + "\""); }, "line 13: "},
      {"an odd hash", [](Lines& l) { replace_member(l[1], "hash", "\"0\""); }, "line 2: "},
      {"a parent that is not there", [](Lines& l) { replace_member(l[1], "parent", R"({"board":"p","version":1})"); },
       "line 2: "},
      {"its own parent", [](Lines& l) { replace_member(l[1], "parent", R"({"board":"b","version":1})"); }, "line 2: "},
      {"an event before any board", [](Lines& l) { l.erase(l.begin() + 1); }, "line 2: "},
      {"a wrong count", [](Lines& l) { replace_member(l.back(), "versions", "11"); }, "line 13: ", true}};
  for (const Broken& broken : cases) {
    Lines changed = all;
    broken.change(changed);
    Target target;
    const auto taken = target.take(changed);
    ASSERT_FALSE(taken) << broken.name;
    EXPECT_TRUE(taken.error().message.starts_with(broken.line)) << broken.name << ": " << taken.error().message;
    if (!broken.is_told_last) EXPECT_EQ(target.records_of_boards(), 0U) << broken.name;
    must(target.take(all));
  }
}

// Bytes that change, lines that move and events sealed anew by somebody who knows the chain: refused, or taken as a
// sound board.
TEST_F(ExportTest, AHostileFileIsRefusedOrSound) {
  grow("b", 12, 1);
  fork("f", "b", 6, {set_leaf("own", 1, 7), add_element("t", "中", 7)});
  store_.commit("t", {set_leaf("a", 1, 1), add_element("s", "x", 1)});
  for (Version version = 2; version <= 6; ++version) store_.commit("t", {set_leaf("a", version, version)});
  trim("t", 4);
  const Lines all = lines();
  std::mt19937_64 random(11);
  int taken = 0;
  for (int round = 0; round < 60 * effort; ++round) {
    Lines changed = all;
    std::string& line = changed[random() % changed.size()];
    switch (random() % 5) {
      case 0: line[random() % line.size()] = static_cast<char>(random()); break;
      case 1: line.erase(random() % line.size(), 1 + random() % 8); break;
      case 2: std::swap(changed[random() % changed.size()], changed[random() % changed.size()]); break;
      case 3: changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(random() % changed.size()), line); break;
      default: changed.resize(random() % changed.size()); break;
    }
    Target target;
    const auto counts = target.take(changed);
    taken += counts ? 1 : 0;
    ASSERT_EQ(target.deep_defects(), std::vector<std::string>()) << "round " << round;
  }
  EXPECT_LT(taken, 60 * effort);
}

// An event that was changed and sealed anew fits the chain; the state says no.
TEST_F(ExportTest, EventsSealedAnewAreHeldAgainstTheState) {
  grow("b", 12, 1);
  const auto records = must(must(store_->snapshot())->event_records("b", 1, 100, unbounded));
  std::mt19937_64 random(5);
  for (int round = 0; round < 30 * effort; ++round) {
    std::vector<Event> events;
    for (const std::string& record : records) events.push_back(must(codec::decode_event(record)));
    const std::size_t at = random() % events.size();
    Event& event = events[at];
    LoggedChange& logged = event.changes[random() % event.changes.size()];
    switch (random() % 7) {
      case 0: logged.previous = random() % 20; break;
      case 1: logged.jump = random() % 20; break;
      case 2: logged.change.image.reset(); break;
      case 3: event.fields[random() % event.fields.size()].info.parts = random() % 3 + 7; break;
      case 4: event.digest += digest_of(leaf_key(path_of("x")), CounterCell{}); break;
      case 5: std::reverse(event.changes.begin(), event.changes.end()); break;
      default: event.changes.push_back(event.changes.front()); break;
    }
    for (std::size_t i = at; i < events.size(); ++i) {
      events[i].previous_hash = i == 0 ? Sha256{} : events[i - 1].hash;
      events[i].hash = codec::chain_hash(events[i]);
    }
    Lines changed = lines();
    replace_member(changed[1], "hash", "\"" + to_hex(as_view(events.back().hash)) + "\"");
    for (std::size_t i = 0; i < events.size(); ++i)
      changed[2 + i] = R"({"line":"event","record":")" + to_base64(codec::encode_event(events[i])) + "\"}";
    Target target;
    const auto counts = target.take(changed);
    ASSERT_EQ(target.deep_defects(), std::vector<std::string>()) << "round " << round;
    if (counts) continue;  // the change was none
    EXPECT_EQ(target.records_of_boards(), 0U);
  }
}

// Images are believed by no hash: what the events and the digest say of them must fit.
TEST_F(ExportTest, AnOlderLeafIsNoCellOfItsOwn) {
  grow_trimmed();
  std::size_t changed_lines = 0;
  const Lines all = lines();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Value line = testing::json(all[i]);
    if (line.find("part") == nullptr || *line.find("part") != Value(0)) continue;
    Lines changed = all;
    replace_member(changed[i], "older", "false");
    const auto taken = Target().take(changed);
    ASSERT_FALSE(taken);
    EXPECT_NE(taken.error().message.find("stands in the image of the field"), std::string::npos)
        << taken.error().message;
    ++changed_lines;
  }
  EXPECT_GT(changed_lines, 0U);
}

TEST_F(ExportTest, ImagesThatWereChangedAreHeldAgainstTheEvents) {
  grow_trimmed();
  const Lines all = lines();
  std::mt19937_64 random(23);
  for (int round = 0; round < 30 * effort; ++round) {
    Lines changed = all;
    std::string* line = nullptr;
    while (line == nullptr || line->find(R"("line":"image")") == std::string::npos)
      line = &changed[random() % changed.size()];
    const Value value = testing::json(*line);
    std::string record = *from_base64(*value.find("record")->get_if<std::string>());
    switch (random() % 4) {
      case 0: *line = all[1]; break;
      case 1: replace_member(*line, "known", "false"); break;
      case 2: replace_member(*line, "older", *value.find("older") == Value(true) ? "false" : "true"); break;
      default:
        record[random() % record.size()] ^= static_cast<char>(1U << (random() % 8));
        replace_member(*line, "record", "\"" + to_base64(record) + "\"");
        break;
    }
    Target target;
    target.take(changed);
    ASSERT_EQ(target.deep_defects(), std::vector<std::string>()) << "round " << round;
  }
}

TEST_F(ExportTest, AnImportThatWasCutOffIsRemovedWhenTheStoreIsOpened) {
  grow("b", 10, 1);
  const Lines all = lines();
  Target target;
  {
    const auto kv = open_memory(target.disk);
    must(prepare_store(*kv, target.random));
    const auto write = must(kv->write());  // as it stands when a process is killed in the middle
    must(put_record(*write, Table::meta, meta_boards, encode_number(2)));
    must(put_record(*write, Table::meta, meta_importing, encode_number(1)));
    must(put_record(*write, Table::events, event_key(BoardNumber{1}, 1), "x"));
    must(put_record(*write, Table::expiry, expiry_key(9, BoardNumber{1}, leaf_key(path_of("a"))),
                    encode_expiring({"b", leaf_key(path_of("a"))})));
    must(write->commit());
  }
  target.open();
  EXPECT_EQ(target.records_of_boards(), 0U);
  must(target.take(all));
  EXPECT_EQ(target.deep_defects(), std::vector<std::string>());
}

}  // namespace
}  // namespace tafel::store
