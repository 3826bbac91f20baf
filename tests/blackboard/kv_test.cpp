#include "blackboard/store/kv.hpp"

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::fault_of;
using testing::must;

using Entries = std::vector<std::pair<std::string, std::string>>;

Entries entries_from(KvRead& kv, Table table, std::string_view from = {}) {
  Entries entries;
  must(kv.scan(table, from, [&](std::string_view key, std::string_view value) {
    entries.emplace_back(key, value);
    return true;
  }));
  return entries;
}

template <class Place>
class KvTest : public ::testing::Test {
 protected:
  void reopen() {
    kv_.reset();
    kv_ = place_.open();
  }
  void put(const std::string& key, const std::string& value, Table table = Table::fields) {
    const auto write = must(kv_->write());
    must(write->put(table, key, value));
    must(write->commit());
  }
  std::optional<std::string> get(const std::string& key, Table table = Table::fields) {
    return must(must(kv_->read())->get(table, key));
  }

  Place place_;
  std::unique_ptr<Kv> kv_ = place_.open();
};
TYPED_TEST_SUITE(KvTest, testing::Places, testing::PlaceNames);

TYPED_TEST(KvTest, WhatIsCommittedSurvivesReopening) {
  this->put("key", "value");
  this->reopen();
  EXPECT_EQ(this->get("key"), "value");
}

TYPED_TEST(KvTest, WithoutCommitNothingRemains) {
  {
    const auto write = must(this->kv_->write());
    must(write->put(Table::fields, "key", "value"));
  }
  EXPECT_EQ(this->get("key"), std::nullopt);
  this->reopen();
  EXPECT_EQ(this->get("key"), std::nullopt);
}

TYPED_TEST(KvTest, TablesDoNotMix) {
  this->put("key", "field", Table::fields);
  this->put("key", "part", Table::parts);
  EXPECT_EQ(this->get("key", Table::fields), "field");
  EXPECT_EQ(this->get("key", Table::parts), "part");
  EXPECT_EQ(this->get("key", Table::events), std::nullopt);
}

TYPED_TEST(KvTest, PutReplacesAndEraseRemoves) {
  this->put("key", "old");
  this->put("key", "new");
  EXPECT_EQ(this->get("key"), "new");
  const auto write = must(this->kv_->write());
  must(write->erase(Table::fields, "key"));
  must(write->erase(Table::fields, "never there"));
  must(write->commit());
  EXPECT_EQ(this->get("key"), std::nullopt);
}

TYPED_TEST(KvTest, ScansInKeyOrderFromAnyKey) {
  for (const char* key : {"b", "a", "d", "b\x01"}) this->put(key, "");
  const auto read = must(this->kv_->read());
  const auto keys_from = [&](std::string_view from) {
    std::string keys;
    for (const auto& [key, value] : entries_from(*read, Table::fields, from)) keys += key + " ";
    return keys;
  };
  EXPECT_EQ(keys_from(""), "a b b\x01 d ");
  EXPECT_EQ(keys_from("b"), "b b\x01 d ");
  EXPECT_EQ(keys_from("c"), "d ");
  EXPECT_EQ(keys_from("e"), "");
}

TYPED_TEST(KvTest, AScanStopsWhenItsVisitorSaysSo) {
  for (const char* key : {"a", "b", "c"}) this->put(key, "");
  int visited = 0;
  must(must(this->kv_->read())->scan(Table::fields, "", [&](std::string_view, std::string_view) {
    return ++visited < 2;
  }));
  EXPECT_EQ(visited, 2);
}

TYPED_TEST(KvTest, ASnapshotDoesNotSeeLaterCommits) {
  this->put("key", "old");
  const auto before = must(this->kv_->read());
  this->put("key", "new");
  this->put("other", "new");
  EXPECT_EQ(must(before->get(Table::fields, "key")), "old");
  EXPECT_EQ(entries_from(*before, Table::fields).size(), 1U);
  EXPECT_EQ(this->get("key"), "new");
}

TYPED_TEST(KvTest, AWriterSeesItsOwnChangesAndNobodyElseDoes) {
  this->put("a", "1");
  this->put("c", "3");
  const auto write = must(this->kv_->write());
  must(write->put(Table::fields, "b", "2"));
  must(write->put(Table::fields, "c", "33"));
  must(write->erase(Table::fields, "a"));
  EXPECT_EQ(entries_from(*write, Table::fields), (Entries{{"b", "2"}, {"c", "33"}}));
  EXPECT_EQ(must(write->get(Table::fields, "a")), std::nullopt);
  EXPECT_EQ(entries_from(*must(this->kv_->read()), Table::fields), (Entries{{"a", "1"}, {"c", "3"}}));
}

TYPED_TEST(KvTest, OnlyOneWritesAtATime) {
  auto write = must(this->kv_->write());
  EXPECT_EQ(fault_of(this->kv_->write()), "busy");
  write.reset();
  EXPECT_EQ(fault_of(this->kv_->write()), "none");
}

TYPED_TEST(KvTest, AnEndedTransactionIsClosed) {
  const auto write = must(this->kv_->write());
  must(write->commit());
  EXPECT_EQ(fault_of(write->put(Table::fields, "key", "")), "closed");
  EXPECT_EQ(fault_of(write->get(Table::fields, "key")), "closed");
  EXPECT_EQ(fault_of(write->commit()), "closed");
}

TYPED_TEST(KvTest, KeepsBytesOfEveryValueAndLargeRecords) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  this->put(all, std::string(3'000'000, 'x') + all);
  this->reopen();
  EXPECT_EQ(this->get(all), std::string(3'000'000, 'x') + all);
}

TYPED_TEST(KvTest, NothingIsUnderAKeyThatCanNotBe) {
  this->put(std::string(key_bytes_max, 'k'), "value");
  this->put("z", "last");
  EXPECT_EQ(this->get(""), std::nullopt);
  EXPECT_EQ(this->get(std::string(key_bytes_max + 1, 'k')), std::nullopt);
  const auto read = must(this->kv_->read());
  EXPECT_EQ(entries_from(*read, Table::fields, std::string(key_bytes_max, 'k')).size(), 2U);
  EXPECT_EQ(entries_from(*read, Table::fields, std::string(key_bytes_max + 1, 'k')), (Entries{{"z", "last"}}));
}

TYPED_TEST(KvTest, BehavesAsAMapDoes) {
  std::mt19937_64 random(7);
  std::map<std::string, std::string> model;
  for (int round = 0; round < 60; ++round) {
    const auto write = must(this->kv_->write());
    std::map<std::string, std::string> changed = model;
    for (int i = 0; i < 30; ++i) {
      const std::string key = "key" + std::to_string(random() % 200);
      if (random() % 3 == 0) {
        must(write->erase(Table::parts, key));
        changed.erase(key);
      } else {
        const std::string value(random() % 5000, static_cast<char>('a' + round % 26));
        must(write->put(Table::parts, key, value));
        changed[key] = value;
      }
    }
    ASSERT_EQ(entries_from(*write, Table::parts), Entries(changed.begin(), changed.end())) << "round " << round;
    if (random() % 4 == 0) continue;  // given up
    must(write->commit());
    model = std::move(changed);
    if (round % 10 == 0) continue;
    ASSERT_EQ(entries_from(*must(this->kv_->read()), Table::parts), Entries(model.begin(), model.end()))
        << "round " << round;
  }
  this->reopen();
  EXPECT_EQ(entries_from(*must(this->kv_->read()), Table::parts), Entries(model.begin(), model.end()));
}

TYPED_TEST(KvTest, ThreadsReadWholeCommitsWhileOneWrites) {
  std::atomic<bool> is_done = false;
  std::atomic<int> torn = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!is_done) {
        const auto read = must(this->kv_->read());
        const auto left = must(read->get(Table::fields, "left"));
        std::this_thread::yield();
        if (left != must(read->get(Table::fields, "right"))) ++torn;
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    const auto write = must(this->kv_->write());
    must(write->put(Table::fields, "left", std::to_string(i)));
    must(write->put(Table::fields, "right", std::to_string(i)));
    must(write->commit());
  }
  is_done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
}

TYPED_TEST(KvTest, UsageGrowsWithTheContent) {
  const auto before = must(this->kv_->usage());
  this->put("key", std::string(1'000'000, 'x'));
  const auto after = must(this->kv_->usage());
  EXPECT_GE(after.bytes, before.bytes + 1'000'000);
  EXPECT_GT(after.quota, after.bytes);
}

}  // namespace
}  // namespace tafel::store
