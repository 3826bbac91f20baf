#include "blackboard/store/changes.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "common/base/bytes.hpp"

namespace tafel::store {
namespace {

// As encoded: kind u8 ‖ key size be32 ‖ value size be32 ‖ key ‖ value. The kind is the table, with a bit for an
// erasure.
constexpr unsigned erased_bit = 0x80;
constexpr std::size_t entry_head_bytes = 9;
constexpr std::size_t entry_memory_bytes = 96;  // node of the map, and what strings take beside their bytes

// The entries of all layers from one key on, merged: of equal keys the newest layer's.
class Merge {
 public:
  Merge(Layers layers, Table table, std::string_view from) {
    for (const Changes* layer : layers) {
      if (layer == nullptr) continue;
      const Changes::Entries& entries = layer->of(table);
      if (const auto first = entries.lower_bound(from); first != entries.end()) rest_.push_back({first, entries.end()});
    }
    find_least();
  }

  const Changes::Entries::value_type* head() const { return head_; }  // null: there are no more

  void advance() {
    const std::string& key = head_->first;
    for (Rest& rest : rest_) {
      if (rest.at != rest.end && rest.at->first == key) ++rest.at;
    }
    find_least();
  }

  // Shows the entries before `key`, or all when there is none; false when the visitor has enough.
  bool visit_before(const std::optional<std::string_view>& key, const KvRead::Visitor& visit) {
    for (; head_ != nullptr && (!key || head_->first < *key); advance()) {
      if (head_->second && !visit(head_->first, *head_->second)) return false;
    }
    return true;
  }

 private:
  struct Rest {
    Changes::Entries::const_iterator at;
    Changes::Entries::const_iterator end;
  };

  void find_least() {
    head_ = nullptr;
    for (const Rest& rest : rest_) {
      if (rest.at != rest.end && (head_ == nullptr || rest.at->first < head_->first)) head_ = &*rest.at;
    }
  }

  std::vector<Rest> rest_;  // newest first
  const Changes::Entries::value_type* head_ = nullptr;
};

}  // namespace

void Changes::put(Table table, std::string_view key, std::string_view value) { set(table, key, value); }
void Changes::erase(Table table, std::string_view key) { set(table, key, std::nullopt); }

void Changes::set(Table table, std::string_view key, const std::optional<std::string_view>& value) {
  Entries& entries = tables_[static_cast<std::size_t>(table)];
  auto entry = entries.lower_bound(key);
  if (entry == entries.end() || entry->first != key) {
    entry = entries.emplace_hint(entry, key, std::nullopt);
    bytes_ += entry_memory_bytes + key.size();
  }
  bytes_ -= entry->second ? entry->second->size() : 0;
  bytes_ += value ? value->size() : 0;
  entry->second = value;
}

void Changes::absorb(Changes newer) {
  if (empty()) {
    *this = std::move(newer);
    return;
  }
  for (std::size_t table = 0; table < table_count; ++table) {
    Entries& from = newer.tables_[table];
    while (!from.empty()) {
      auto node = from.extract(from.begin());
      const std::size_t value_bytes = node.mapped() ? node.mapped()->size() : 0;
      const std::size_t key_bytes = node.key().size();
      const auto placed = tables_[table].insert(std::move(node));
      if (placed.inserted) {
        bytes_ += entry_memory_bytes + key_bytes;
      } else {
        std::optional<std::string>& older = placed.position->second;
        bytes_ -= older ? older->size() : 0;
        older = std::move(placed.node.mapped());
      }
      bytes_ += value_bytes;
    }
  }
}

Changes::Entries Changes::take(Table table) {
  Entries entries = std::exchange(tables_[static_cast<std::size_t>(table)], {});
  for (const auto& [key, value] : entries) bytes_ -= entry_memory_bytes + key.size() + (value ? value->size() : 0);
  return entries;
}

Result<void> write_changes(const Changes& changes, KvWrite& to) {
  for (std::size_t i = 0; i < table_count; ++i) {
    const auto table = static_cast<Table>(i);
    for (const auto& [key, value] : changes.of(table)) {
      const auto written = value ? to.put(table, key, *value) : to.erase(table, key);
      if (!written) return written;
    }
  }
  return {};
}

void encode_changes(const Changes& changes, std::string& bytes) {
  bytes.clear();
  bytes.reserve(changes.bytes());
  for (std::size_t table = 0; table < table_count; ++table) {
    for (const auto& [key, value] : changes.of(static_cast<Table>(table))) {
      bytes.push_back(static_cast<char>(static_cast<unsigned>(table) | (value ? 0U : erased_bit)));
      put_be32(bytes, static_cast<std::uint32_t>(key.size()));
      put_be32(bytes, static_cast<std::uint32_t>(value ? value->size() : 0));
      bytes.append(key);
      if (value) bytes.append(*value);
    }
  }
}

Result<Changes> decode_changes(std::string_view bytes) {
  Changes changes;
  while (!bytes.empty()) {
    const auto wrong = [] { return fail(Fault::bad_bytes, "these are no changes of a store"); };
    if (bytes.size() < entry_head_bytes) return wrong();
    const unsigned kind = static_cast<std::uint8_t>(bytes[0]);
    const bool is_erased = (kind & erased_bit) != 0;
    const std::size_t table = kind & ~erased_bit;
    const std::size_t key_size = get_be32(bytes.substr(1));
    const std::size_t value_size = get_be32(bytes.substr(5));
    bytes.remove_prefix(entry_head_bytes);
    const bool fits = table < table_count && key_size >= 1 && key_size <= key_bytes_max &&
                      key_size + value_size <= bytes.size() && !(is_erased && value_size > 0);
    if (!fits) return wrong();
    const std::string_view key = bytes.substr(0, key_size);
    if (is_erased) {
      changes.erase(static_cast<Table>(table), key);
    } else {
      changes.put(static_cast<Table>(table), key, bytes.substr(key_size, value_size));
    }
    bytes.remove_prefix(key_size + value_size);
  }
  return changes;
}

Result<std::optional<std::string>> get_through(Layers layers, KvRead& below, Table table, std::string_view key) {
  for (const Changes* layer : layers) {
    if (layer == nullptr) continue;
    const auto entry = layer->of(table).find(key);
    if (entry != layer->of(table).end()) return entry->second;
  }
  return below.get(table, key);
}

Result<void> scan_through(Layers layers, KvRead& below, Table table, std::string_view from,
                          const KvRead::Visitor& visit) {
  Merge changed(layers, table, from);
  bool goes_on = true;
  const auto scanned = below.scan(table, from, [&](std::string_view key, std::string_view value) {
    goes_on = changed.visit_before(key, visit);
    if (!goes_on) return false;
    const auto* change = changed.head();
    if (change == nullptr || change->first != key) return goes_on = visit(key, value);
    goes_on = !change->second || visit(key, *change->second);
    if (goes_on) changed.advance();
    return goes_on;
  });
  if (scanned && goes_on) changed.visit_before(std::nullopt, visit);
  return scanned;
}

}  // namespace tafel::store
