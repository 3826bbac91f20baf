// The records of fields and cells that the writer of a store works on, decoded: what many deltas of a batch change is
// read and decoded once, and encoded and written once. One for a store, used by its write transactions one after the
// other: what it holds between two of them is what stands in the store.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "blackboard/store/records.hpp"
#include "common/base/limits.hpp"

namespace tafel::store {

class RecordCache final : public Records {
 public:
  // Holds up to about so many bytes between transactions; within one it grows with what that touches.
  explicit RecordCache(std::size_t bytes_max = limits::store_kept_records_bytes) : bytes_max_(bytes_max) {}

  // One transaction: `kv` is used until `end`.
  void begin(KvWrite& kv);
  // What was put and is not yet in the transaction goes there.
  Result<void> write_back();
  // False: the transaction was not committed, and what it has put is forgotten.
  void end(bool is_committed);
  // The transaction was, or is going to be, written to past this cache. Nothing put may be waiting.
  void forget_all();

  Result<FieldPointer> field(BoardNumber number, const Path& path) override;
  Result<PartPointer> part(BoardNumber number, const CellKey& key) override;
  Result<void> scan_parts(BoardNumber number, const Path& path, Part part, const PartVisitor& visit) override;
  Result<KvRead*> kv() override;

  // A field has a record as soon as it has a part: whoever puts the part of a new field puts the field too, in the same
  // transaction.
  Result<void> put_field(BoardNumber number, const Path& path, FieldRecord record);
  Result<void> put_part(BoardNumber number, const CellKey& key, StoredCell record);
  // As if nothing had ever been written to the cell.
  Result<void> erase_part(BoardNumber number, const CellKey& key);
  // Other tables, which nothing here depends on.
  KvWrite& other_tables() { return *kv_; }

 private:
  struct FieldName {
    BoardNumber number;
    std::string_view path;  // Path::key()
    friend bool operator==(const FieldName&, const FieldName&) = default;
  };
  struct Field;
  struct PartName {
    const Field* field;
    Part part;
    std::string_view id;
    friend bool operator==(const PartName&, const PartName&) = default;
  };

  struct Field {
    Field(BoardNumber its_number, Path its_path) : number(its_number), path(std::move(its_path)) {}
    FieldName name() const { return {number, path.key()}; }

    BoardNumber number;
    Path path;
    std::string parts_prefix;  // of the keys of its parts: a hash that is made once
    FieldPointer record;
    bool is_read = false;
    bool is_waiting = false;  // put, and not written back
    // The ids of all its suggestions, tombstones too: every write to a field asks for them, and few have any.
    std::optional<std::set<std::string>> suggestions;
  };
  struct StoredPart {
    StoredPart(Field& its_field, Part its_part, std::string its_id)
        : field(&its_field), part(its_part), id(std::move(its_id)) {}
    PartName name() const { return {field, part, id}; }

    Field* field;
    Part part;
    std::string id;
    PartPointer record;
    bool is_waiting = false;
  };
  // Entries are found by their names, which are not copied for it.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const FieldName& name) const;
    std::size_t operator()(const PartName& name) const;
    template <class Entry>
    std::size_t operator()(const Entry& entry) const {
      return (*this)(entry->name());
    }
  };
  struct Equal {
    using is_transparent = void;
    template <class Left, class Right>
    bool operator()(const Left& left, const Right& right) const {
      return name_of(left) == name_of(right);
    }
    static const FieldName& name_of(const FieldName& name) { return name; }
    static const PartName& name_of(const PartName& name) { return name; }
    template <class Entry>
    static auto name_of(const Entry& entry) {
      return entry->name();
    }
  };

  Field& open_field(BoardNumber number, const Path& path);
  Result<Field*> read_field(BoardNumber number, const Path& path);
  StoredPart* find_part(const Field& field, const CellKey& key);
  StoredPart& new_part(Field& field, const CellKey& key);
  static std::string key_of(StoredPart& part);
  Result<std::set<std::string>*> suggestions_of(BoardNumber number, const Path& path);

  const std::size_t bytes_max_;
  KvWrite* kv_ = nullptr;
  std::unordered_set<std::unique_ptr<Field>, Hash, Equal> fields_;
  std::unordered_set<std::unique_ptr<StoredPart>, Hash, Equal> parts_;
  std::size_t bytes_ = 0;  // of all records that came in since everything was forgotten
  std::vector<Field*> waiting_fields_;
  std::vector<StoredPart*> waiting_parts_;
  bool has_put_ = false;  // in this transaction
};

}  // namespace tafel::store
