// Retention: goes round the boards, and takes from the log of each what its limits do not keep, a bounded step at a
// time.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "blackboard/store/store.hpp"
#include "common/model/retention.hpp"

namespace tafel::broker {

class Trimmer {
 public:
  // `defaults` hold for the boards that have no limits of their own at `$retention`.
  Trimmer(store::Store& store, Retention defaults) : store_(store), defaults_(defaults) {}

  // One step. True when there is more to do at once. A failure is one of `Batch::commit`; damage of a board is logged,
  // and its log is left as it is until the next start.
  Result<bool> step(TimeMs now);
  // A fork is gone: what only it kept of its parent is to be found.
  void look_at_all_again() { settled_.clear(); }

 private:
  // A board whose log is too long, or that has left-overs of a tag or a fork.
  struct Work {
    std::string board;
    store::TrimGoal goal;
    bool is_trimmed = false;
    store::SweepProgress progress{};
    Version settles_at = 0;  // when it is done, nothing is to do until the board has another version; 0: ask again
  };

  Result<bool> find_work(TimeMs now);  // false: all boards have been looked at
  Result<std::optional<Work>> work_on(store::Snapshot& snapshot, const store::BoardSummary& board, TimeMs now);
  Result<bool> go_on();  // false: the work is done
  void settle(const Work& work);

  store::Store& store_;
  const Retention defaults_;
  std::string after_;  // the board that was looked at last; empty: the first is next
  TimeMs rests_until_ = 0;
  std::optional<Work> work_;
  std::map<std::string, Version> settled_;  // boards on which nothing is to do at this version
  std::set<std::string> damaged_;
};

}  // namespace tafel::broker
