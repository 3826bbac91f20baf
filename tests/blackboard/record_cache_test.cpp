#include "blackboard/store/record_cache.hpp"

#include <random>

#include "blackboard/store/record.hpp"
#include "tests/blackboard/store_fixture.hpp"

namespace tafel::store {
namespace {

using testing::must;
using testing::path_of;

constexpr BoardNumber number{1};

FieldRecord field_record(Version version) {
  FieldRecord record;
  record.info = {Kind::register_, version, 1, 1};
  record.trail.push(version);
  record.leaf.trail.push(version);
  record.leaf.set_cell(
      std::make_shared<const Cell>(*testing::set_leaf("f", static_cast<std::int64_t>(version), version).image));
  return record;
}

StoredCell stored_cell(Version version, bool is_live = true) {
  StoredCell cell;
  cell.trail.push(version);
  if (is_live) cell.set_cell(std::make_shared<const Cell>(*testing::hold("f", "愿望", version).image));
  return cell;
}

std::string bytes_of(const FieldPointer& field) { return field ? encode_field(path_of("f"), *field) : "none"; }
std::string bytes_of(const PartPointer& part) { return part ? encode_part(*part) : "none"; }

// All cells of one part, as one text.
std::string parts_in(Records& records, const Path& path, Part part) {
  std::string text;
  must(records.scan_parts(number, path, part, [&](const CellKey& key, const StoredCell& cell) {
    text += key.id + "=" + encode_part(cell) + ";";
    return Result<bool>(true);
  }));
  return text;
}

// What is kept reads at every moment as if nothing were kept, whatever was put, erased, scanned, committed or given up.
TEST(RecordCache, ReadsAsIfNothingWereKept) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    const auto disk = make_memory_disk();
    const auto kv = open_memory(disk);
    const auto other_disk = make_memory_disk();
    const auto plain_kv = open_memory(other_disk);
    RecordCache cache(seed % 2 == 0 ? 4096 : 1U << 20U);  // half of them forget often
    Version version = 0;
    for (int transaction = 0; transaction < 30; ++transaction) {
      const auto write = must(kv->write());
      const auto plain_write = must(plain_kv->write());
      PlainRecords plain(*plain_write);
      cache.begin(*write);
      for (std::uint64_t step = 0; step < 1 + below(20); ++step) {
        const Path path = path_of("f" + std::to_string(below(4)));
        const Part part = below(2) == 0 ? Part::element : Part::suggestion;
        const CellKey key{path, part, std::string(1, static_cast<char>('a' + below(3)))};
        ++version;
        const auto put_field = [&] {
          must(cache.put_field(number, path, field_record(version)));
          const std::string record = encode_field(path, field_record(version));
          must(put_record(*plain_write, Table::fields, field_key(number, path), record));
        };
        switch (below(7)) {
          case 0: put_field(); break;
          case 1:
          case 2: {
            const StoredCell cell = stored_cell(version, below(3) > 0);
            must(cache.put_part(number, key, cell));
            must(put_record(*plain_write, Table::parts, part_key(number, key), encode_part(cell)));
            put_field();  // a field has a record as soon as it has a part
            break;
          }
          case 3:
            must(cache.erase_part(number, key));
            must(plain_write->erase(Table::parts, part_key(number, key)));
            break;
          case 4: ASSERT_EQ(parts_in(cache, path, part), parts_in(plain, path, part)) << "seed " << seed; break;
          case 5: {
            must(cache.write_back());  // as before the store's own work, which forgets
            if (below(2) == 0) cache.forget_all();
            break;
          }
          default: break;
        }
        ASSERT_EQ(bytes_of(must(cache.field(number, path))), bytes_of(must(plain.field(number, path))))
            << "seed " << seed;
        ASSERT_EQ(bytes_of(must(cache.part(number, key))), bytes_of(must(plain.part(number, key)))) << "seed " << seed;
      }
      const bool is_kept = below(4) > 0;
      if (is_kept) {
        must(cache.write_back());
        must(write->commit());
        must(plain_write->commit());
      }
      cache.end(is_kept);
    }
    for (int table = 0; table < static_cast<int>(table_count); ++table) {
      std::string left;
      std::string right;
      const auto into = [](std::string& text) {
        return [&text](std::string_view key, std::string_view value) {
          text.append(key).append("=").append(value).append(";");
          return true;
        };
      };
      must(must(kv->read())->scan(static_cast<Table>(table), {}, into(left)));
      must(must(plain_kv->read())->scan(static_cast<Table>(table), {}, into(right)));
      ASSERT_EQ(left, right) << "seed " << seed;
    }
  }
}

TEST(RecordCache, WritesWhatWasPutOftenOnce) {
  const auto disk = make_memory_disk();
  const auto kv = open_memory(disk);
  RecordCache cache;
  const auto write = must(kv->write());
  cache.begin(*write);
  for (Version version = 1; version <= 5; ++version) must(cache.put_field(number, path_of("f"), field_record(version)));
  EXPECT_FALSE(must(get_field(*write, number, path_of("f"))));  // it waits
  must(cache.write_back());
  EXPECT_EQ(must(get_field(*write, number, path_of("f")))->info.changed, 5U);
  cache.end(false);
}

TEST(RecordCache, AStoredCellHasOneDigestWhateverFormItIsHeldIn) {
  const CellKey key = suggestion_key(path_of("f"), {7, 0});
  const StoredCell made = stored_cell(7);
  const auto read = decode_part(encode_part(made));
  ASSERT_TRUE(read);
  EXPECT_EQ(must(read->digest(key)), must(made.digest(key)));
  EXPECT_EQ(must(read->digest(key)), digest_of(key, *must(read->cell())));
  EXPECT_EQ(read->image(), made.image());
  EXPECT_EQ(must(StoredCell().digest(key)), Sum128{});
}

}  // namespace
}  // namespace tafel::store
