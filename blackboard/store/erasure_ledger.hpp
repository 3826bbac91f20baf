// The ledger of erasures, and of deleted boards (path `$board`), as a file that lies beside backups, one JSON object a
// line:
//
//   {"actor":"officer","board":"t/e","path":"profile.生日","time":1790000000000,"version":3}
//
// Members that are not known are not looked at.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "blackboard/store/erasures.hpp"
#include "common/model/value.hpp"

namespace tafel::store {

std::string ledger_line(const Erasure& erasure);  // without the line end

// All entries, in order; a line that is none is Fault::bad_bytes with its number.
Result<std::vector<Erasure>> read_ledger(const std::filesystem::path& file);

Value erasure_to_value(const Erasure& erasure);
// One entry; the message of a failure says what is wrong with it.
Result<Erasure> erasure_from_value(const Value& value);

// What a store has erased, to be asked whether that took all that another erasure did.
class ErasedPlaces {
 public:
  void add(const Erasure& erasure);
  // True when the same path, or one above it, was erased on the same board no earlier, or the board was deleted.
  bool cover(const Erasure& wanted) const;

 private:
  std::map<std::pair<std::string, Path>, TimeMs> newest_;
};

}  // namespace tafel::store
