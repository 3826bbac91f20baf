// What one follower sees of a board: the paths it asked for, as far as it has the right to read them. Followers who see
// the same share one lens, so that what is sent to them is encoded once.
#pragma once

#include <string>
#include <vector>

#include "common/codec/event_codec.hpp"
#include "common/model/event.hpp"
#include "common/model/rights.hpp"

namespace tafel::broker {

class Lens {
 public:
  // `paths` empty: all that may be read.
  Lens(std::vector<Path> paths, Rights rights);

  // Nothing is left out: the follower gets whole events, with the digest.
  bool is_whole() const { return is_whole_; }
  bool sees(const Path& path) const;
  const Rights& rights() const { return rights_; }
  // The feed event of `event`, encoded. A version of which nothing is seen is sent all the same, so that versions stay
  // without gaps; it then tells only that it exists, and when. That the board was deleted is for all who follow it.
  std::string encode(const Event& event) const;

  // Equal exactly for lenses that see the same of one board.
  static std::string name_of(const std::vector<Path>& paths, const Rights& rights, const std::string& actor);

 private:
  std::vector<Path> paths_;
  Rights rights_;
  bool reads_everything_;
  bool is_whole_;
};

}  // namespace tafel::broker
