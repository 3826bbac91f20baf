// What a transaction puts and erases, by table in key order: for a while it stands in memory and not in the store.
// Reading through layers of such changes shows the store as if they stood in it.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "blackboard/store/kv.hpp"

namespace tafel::store {

class Changes {
 public:
  using Entries = std::map<std::string, std::optional<std::string>, std::less<>>;  // nullopt: erased

  void put(Table table, std::string_view key, std::string_view value);
  void erase(Table table, std::string_view key);
  // Takes over what `newer` says. Its entries are moved, not copied.
  void absorb(Changes newer);

  bool empty() const { return bytes_ == 0; }
  std::size_t bytes() const { return bytes_; }  // of memory, about; more than they take encoded
  const Entries& of(Table table) const { return tables_[static_cast<std::size_t>(table)]; }
  Entries take(Table table);  // its entries, which are gone from here

 private:
  void set(Table table, std::string_view key, const std::optional<std::string_view>& value);

  std::array<Entries, table_count> tables_;
  std::size_t bytes_ = 0;
};

// Does in `to` what the changes say.
Result<void> write_changes(const Changes& changes, KvWrite& to);

// Replaces `bytes` by the encoded changes.
void encode_changes(const Changes& changes, std::string& bytes);
// Fault::bad_bytes for what `encode_changes` never wrote.
Result<Changes> decode_changes(std::string_view bytes);

// Changes over a store, newest first; a null one is none.
using Layers = std::span<const Changes* const>;
Result<std::optional<std::string>> get_through(Layers layers, KvRead& below, Table table, std::string_view key);
Result<void> scan_through(Layers layers, KvRead& below, Table table, std::string_view from,
                          const KvRead::Visitor& visit);

}  // namespace tafel::store
