// The work: what an agent writes, the same for every peer and repeatable from a seed. An update adds one element to the
// set `targets`, removes another, and sets one of 100 fields.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace tafel::bench {

inline constexpr std::string_view set_path = "targets";
inline constexpr std::uint64_t hot_elements = 1000;  // names that updates are drawn from, unless they are spread
inline constexpr std::uint64_t field_count = 100;

struct Update {
  std::uint64_t number = 0;  // of the run, from 0; comes back with the change, so that its time is known
  std::string_view add;      // the texts are valid until the next update is made
  std::string_view remove;   // never the same as `add`
  std::string_view field;    // a dot path
  std::string_view value;
};

// The name of an element: 12 bytes.
std::string element_name(std::uint64_t index);

class Updates {
 public:
  // Elements are drawn from the first `elements`, at least two.
  Updates(std::uint64_t seed, std::uint64_t elements);
  Update next();

 private:
  std::mt19937_64 dice_;
  std::uint64_t elements_;
  std::uint64_t number_ = 0;
  std::string add_;
  std::string remove_;
  std::string field_;
  std::string value_;
};

}  // namespace tafel::bench
