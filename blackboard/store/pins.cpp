#include "blackboard/store/pins.hpp"

#include <algorithm>

#include "blackboard/store/board_reader.hpp"
#include "blackboard/store/record.hpp"
#include "common/codec/fields.hpp"
#include "common/model/names.hpp"

namespace tafel::store {

Result<Pins> Pins::read(KvRead& kv, BoardNumber number) {
  Pins pins;
  const auto tags = scan_fields(kv, number, *Path::parse(tags_path), {},
                                [&](std::string_view, const Path&, const FieldRecord& field) -> Result<bool> {
                                  const auto cell = field.leaf.cell();
                                  if (!cell) return tl::unexpected(cell.error());
                                  const auto* tag = *cell ? std::get_if<RegisterCell>(&**cell) : nullptr;
                                  const auto version = tag ? codec::as_uint64(shown_sibling(*tag).value) : std::nullopt;
                                  if (version) pins.versions_.push_back(*version);
                                  return true;
                                });
  if (!tags) return tl::unexpected(tags.error());
  const std::string prefix = board_prefix(number);
  const auto forks = scan_records(kv, Table::forks, prefix, prefix,
                                  [&](std::string_view key, std::string_view payload) -> Result<bool> {
                                    const auto fork = decode_fork(payload);
                                    if (!fork) return bad_record(Table::forks, key, "this is no fork");
                                    pins.versions_.push_back(fork->version);
                                    return true;
                                  });
  if (!forks) return tl::unexpected(forks.error());
  std::sort(pins.versions_.begin(), pins.versions_.end());
  pins.versions_.erase(std::unique(pins.versions_.begin(), pins.versions_.end()), pins.versions_.end());
  return pins;
}

bool Pins::holds(Version version) const { return std::binary_search(versions_.begin(), versions_.end(), version); }

bool Pins::hold_any(Version from, Version to) const {
  const auto first = std::lower_bound(versions_.begin(), versions_.end(), from);
  return first != versions_.end() && *first < to;
}

}  // namespace tafel::store
