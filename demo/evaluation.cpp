#include "demo/evaluation.hpp"

#include <fmt/format.h>

#include <map>

#include "common/codec/delta_codec.hpp"
#include "demo/checker.hpp"
#include "demo/naive.hpp"

namespace tafel::demo {
namespace {

constexpr double behind_percent_min = 30;

struct BoardNotes {
  std::vector<Told> told;
  std::vector<MirrorNote> mirrors;
};

// Problems of one kind: the first one, and how many there are.
struct Problems {
  std::size_t count = 0;
  std::string first;

  void add(const std::vector<std::string>& found) {
    if (count == 0 && !found.empty()) first = found.front();
    count += found.size();
  }
  Check check(std::string name) const {
    return {std::move(name), count == 0, count == 0 ? "" : fmt::format("{} times; {}", count, first)};
  }
};

class Evaluation {
 public:
  explicit Evaluation(const Played& played) : played_(played) {
    summary_.agents = played.team.size();
    summary_.dialogues = played.dialogues.size();
    for (const Dialogue& dialogue : played.dialogues) summary_.turns += dialogue.turns.size();
    summary_.seconds = played.seconds;
    summary_.columns.push_back({"tafel", {}, 0});
    for (const NaiveWay way : naive_ways) summary_.columns.push_back({std::string(name_of(way)), {}, 0});
  }

  Result<void> read_journals() {
    for (const Member& member : played_.team) {
      auto journal = read_journal(journal_file(played_.journals, member), member.name);
      if (!journal) return tl::unexpected(journal.error());
      journals_.push_back(std::move(*journal));
    }
    for (const Journal& journal : journals_) {
      for (const JournalEntry& entry : journal.entries) {
        summary_.tally += tally_of(entry.delta, entry.receipt);
        if (!entry.receipt.error) notes_[entry.delta.board].told.push_back({journal.actor, &entry});
      }
      for (const MirrorNote& mirror : journal.mirrors) notes_[mirror.board].mirrors.push_back(mirror);
    }
    return {};
  }

  void take(const BoardRecord& record) {
    const BoardNotes& notes = notes_[record.board];
    const BoardCheck check = check_board(record, notes.told, notes.mirrors);
    untold_.add(check.untold);
    unseen_.add(check.unseen);
    broken_.add(check.broken);
    summary_.conflicts_open += check.conflicts_open;
    summary_.mirrors += notes.mirrors.size();
    Column& tafel = summary_.columns.front();
    tafel.losses += find_losses(check.schedule, check.ending);
    tafel.losses.updates += check.untold.size() + check.unseen.size();
    for (const Arrival& arrival : check.schedule.arrivals) {
      tafel.bytes += canonical(codec::delta_to_value(arrival.delta)).size();
    }
    if (check.untold.empty()) compare(check.schedule);
  }

  Summary finish() {
    check_told();
    check_naive();
    return std::move(summary_);
  }

 private:
  void compare(const Schedule& schedule) {
    for (std::size_t i = 0; i < naive_ways.size(); ++i) {
      const NaiveRun run = merge_naively(naive_ways[i], schedule);
      summary_.columns[i + 1].losses += find_losses(schedule, ending_of(run.state));
      summary_.columns[i + 1].bytes += run.bytes;
    }
  }

  void check(std::string name, bool passed, std::string detail) {
    summary_.checks.push_back({std::move(name), passed, std::move(detail)});
  }

  void check_told() {
    const Tally& tally = summary_.tally;
    const double behind =
        tally.deltas == 0 ? 0 : 100.0 * static_cast<double>(tally.behind) / static_cast<double>(tally.deltas);
    const std::size_t mirrors = summary_.agents * summary_.dialogues;
    const Losses& losses = summary_.columns.front().losses;
    check("no delta was refused", tally.refused == 0, fmt::format("{} refused of {}", tally.refused, tally.deltas));
    summary_.checks.push_back(untold_.check("the log tells what each agent was told, and holds its change"));
    summary_.checks.push_back(unseen_.check("no event lost a change that its writer had not seen"));
    summary_.checks.push_back(broken_.check("log, server and every mirror have one digest; `verify` finds nothing"));
    check("every agent compared its mirror of every board", summary_.mirrors == mirrors,
          fmt::format("{} of {}", summary_.mirrors, mirrors));
    check("Tafel lost nothing", losses.total() == 0, fmt::format("{} losses", losses.total()));
    check("at least 30 % of the deltas came on a base below the head", behind >= behind_percent_min,
          fmt::format("{:.1f} %", behind));
    check("something was held, kept beside another value, and ignored as blank",
          tally.held > 0 && tally.kept_both > 0 && tally.blanks > 0,
          fmt::format("{}, {}, {}", tally.held, tally.kept_both, tally.blanks));
  }

  void check_naive() {
    for (std::size_t i = 1; i < summary_.columns.size(); ++i) {
      const Column& column = summary_.columns[i];
      check(fmt::format("the dialogues are hard enough: {} lost something", column.name), column.losses.total() > 0,
            fmt::format("{} losses", column.losses.total()));
    }
  }

  const Played& played_;
  std::vector<Journal> journals_;
  std::map<std::string, BoardNotes> notes_;
  Problems untold_;
  Problems unseen_;
  Problems broken_;
  Summary summary_;
};

}  // namespace

std::filesystem::path journal_file(const std::filesystem::path& directory, const Member& member) {
  return directory / (member.name + ".jsonl");
}

Result<Summary> evaluate(sdk::Agent& agent, const Played& played, const std::function<bool(std::size_t)>& keep_going) {
  Evaluation evaluation(played);
  if (auto read = evaluation.read_journals(); !read) return tl::unexpected(read.error());
  std::size_t done = 0;
  for (const Dialogue& dialogue : played.dialogues) {
    if (!keep_going(done++)) return fail(Fault::closed, "interrupted");
    const auto record = read_board(agent, dialogue.board());
    if (!record) return tl::unexpected(record.error());
    evaluation.take(*record);
  }
  return evaluation.finish();
}

}  // namespace tafel::demo
