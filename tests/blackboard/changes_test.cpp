// Changes in memory: merged, encoded and read through.
#include "blackboard/store/changes.hpp"

#include <random>

#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::fault_of;
using testing::must;

using Model = std::map<std::string, std::string>;

Model entries_of(Layers layers, KvRead& below, std::string_view from = {}) {
  Model entries;
  must(scan_through(layers, below, Table::parts, from, [&](std::string_view key, std::string_view value) {
    EXPECT_TRUE(entries.empty() || entries.rbegin()->first < key) << "out of order";
    entries.emplace(key, value);
    return true;
  }));
  return entries;
}

// What the changes say, by table and key.
std::vector<Changes::Entries> contents_of(const Changes& changes) {
  std::vector<Changes::Entries> all;
  for (std::size_t table = 0; table < table_count; ++table) all.push_back(changes.of(static_cast<Table>(table)));
  return all;
}

Changes some_changes(std::mt19937_64& random, std::size_t count) {
  Changes changes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto table = static_cast<Table>(random() % table_count);
    const std::string key = "key" + std::to_string(random() % 40);
    if (random() % 3 == 0) {
      changes.erase(table, key);
    } else {
      changes.put(table, key, std::string(random() % 300, static_cast<char>(random())));
    }
  }
  return changes;
}

TEST(Changes, AreTheSameAfterTheirEncoding) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    const Changes changes = some_changes(random, random() % 60);
    std::string bytes;
    encode_changes(changes, bytes);
    EXPECT_LE(bytes.size(), changes.bytes());
    const Changes decoded = must(decode_changes(bytes));
    EXPECT_EQ(contents_of(decoded), contents_of(changes));
    EXPECT_EQ(decoded.bytes(), changes.bytes());
    for (std::size_t size = 0; size < bytes.size(); size += 1 + random() % 50) {
      const auto part = decode_changes(std::string_view(bytes).substr(0, size));
      EXPECT_TRUE(!part || part->bytes() < changes.bytes()) << "cut at " << size;
    }
  }
}

TEST(Changes, BytesThatAreNoneAreRefused) {
  std::string bytes;
  Changes changes;
  changes.put(Table::parts, "key", "value");
  encode_changes(changes, bytes);
  std::mt19937_64 random(5);
  for (int i = 0; i < 2'000; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    static_cast<void>(decode_changes(damaged));  // whatever comes of it, nothing is read beyond the end
  }
  const std::string head(8, '\0');
  const std::vector<std::string> none{
      head,
      '\x0B' + head + "k",                                    // no such table
      '\x03' + head,                                          // a key of no bytes
      '\x03' + std::string("\0\0\0\x05\0\0\0\0", 8) + "key",  // which ends early
      '\x83' + std::string("\0\0\0\1\0\0\0\1", 8) + "kv",     // erased, with a value
  };
  for (const std::string& wrong : none) EXPECT_EQ(fault_of(decode_changes(wrong)), "bad_bytes");
}

TEST(Changes, NewerOnesReplaceOlderOnes) {
  std::mt19937_64 random(7);
  Changes sum;
  std::vector<Changes::Entries> model(table_count);
  for (int round = 0; round < 100; ++round) {
    Changes newer = some_changes(random, random() % 20);
    for (std::size_t table = 0; table < table_count; ++table) {
      for (const auto& [key, value] : newer.of(static_cast<Table>(table))) model[table].insert_or_assign(key, value);
    }
    sum.absorb(std::move(newer));
    ASSERT_EQ(contents_of(sum), model);
  }
  Changes again;
  for (std::size_t table = 0; table < table_count; ++table) {
    for (const auto& [key, value] : model[table]) {
      value ? again.put(static_cast<Table>(table), key, *value) : again.erase(static_cast<Table>(table), key);
    }
  }
  EXPECT_EQ(sum.bytes(), again.bytes());
  for (std::size_t table = 0; table < table_count; ++table) sum.take(static_cast<Table>(table));
  EXPECT_TRUE(sum.empty());
}

// Three layers over a store show what the store would, had each been committed into it.
TEST(Changes, LayersShowWhatTheStoreWouldHold) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 60; ++round) {
    const auto kv = open_memory(make_memory_disk());
    Model model;
    std::array<Changes, 3> layers;  // oldest first
    {
      const auto write = must(kv->write());
      for (int i = 0; i < 15; ++i) {
        const std::string key(1 + random() % 2, static_cast<char>('a' + random() % 8));
        must(write->put(Table::parts, key, "below"));
        model[key] = "below";
      }
      must(write->commit());
    }
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      for (std::uint64_t i = random() % 10; i > 0; --i) {
        const std::string key(1 + random() % 2, static_cast<char>('a' + random() % 10));
        if (random() % 3 == 0) {
          layers[layer].erase(Table::parts, key);
          model.erase(key);
        } else {
          layers[layer].put(Table::parts, key, std::to_string(layer));
          model[key] = std::to_string(layer);
        }
      }
    }
    const std::array<const Changes*, 4> newest_first{&layers[2], &layers[1], nullptr, &layers[0]};
    const auto below = must(kv->read());
    ASSERT_EQ(entries_of(newest_first, *below), model) << "round " << round;
    for (const std::string from : {"a", "b", "bb", "cc", "d", "z"}) {
      ASSERT_EQ(entries_of(newest_first, *below, from), Model(model.lower_bound(from), model.end())) << from;
      const auto got = must(get_through(newest_first, *below, Table::parts, from));
      ASSERT_EQ(got, model.contains(from) ? std::optional(model[from]) : std::nullopt) << from;
    }
    for (std::size_t enough = 1; enough <= model.size(); ++enough) {
      std::size_t seen = 0;
      must(scan_through(newest_first, *below, Table::parts, {},
                        [&](std::string_view, std::string_view) { return ++seen < enough; }));
      ASSERT_EQ(seen, enough);
    }
  }
}

}  // namespace
}  // namespace tafel::store
