#include "demo/agent_process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "agents_sdk/cpp/agent.hpp"
#include "common/base/text.hpp"
#include "demo/board_lines.hpp"
#include "demo/journal.hpp"
#include "demo/reports.hpp"
#include "demo/roles.hpp"
#include "demo/seen.hpp"
#include "demo/turn_facts.hpp"

namespace tafel::demo {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds connect_patience{20'000};
constexpr milliseconds receipt_poll{1};  // how often tickets are asked while some are on their way
constexpr milliseconds idle_wait{200};
constexpr std::size_t context_tokens = 16'000;

void tell(const Report& report) {
  const std::string line = report_to_line(report);
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count = ::write(STDOUT_FILENO, line.data() + sent, line.size() - sent);
    if (count < 0 && errno != EINTR) return;  // the supervisor is gone; we are ended soon
    if (count > 0) sent += static_cast<std::size_t>(count);
  }
}

// Boards of which a watcher has news for the main thread. The watchers are threads of the SDK; hence the mutex.
class Inbox {
 public:
  void put(std::size_t board) {
    const std::lock_guard lock(mutex_);
    if (std::find(boards_.begin(), boards_.end(), board) == boards_.end()) boards_.push_back(board);
    changed_.notify_one();
  }

  // What came until `deadline`; returns as soon as there is something.
  std::deque<std::size_t> take(SteadyClock::time_point deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [this] { return !boards_.empty(); });
    return std::exchange(boards_, {});
  }

 private:
  std::mutex mutex_;  // guards `boards_`
  std::condition_variable changed_;
  std::deque<std::size_t> boards_;
};

// True for what an agent waits for: a turn, the end of a board, and work that others have done.
bool is_call(const sdk::BoardEvent& event) {
  if (event.type != sdk::BoardEvent::Type::change) return true;
  return std::any_of(event.event->changes.begin(), event.event->changes.end(), [](const Change& change) {
    const auto first = change.key.path.first_segment();
    return first == "turns" || first == "phase" || first == "work";
  });
}

struct Seat {             // at one board
  std::size_t index = 0;  // of the dialogue
  std::shared_ptr<sdk::BoardHandle> board;
  std::size_t turns_handled = 0;
  std::size_t on_their_way = 0;    // thoughts and tickets
  bool is_closing = false;         // the coordinator has said its last word
  std::vector<std::string> lines;  // of the board as it was shown last
};

struct Thought {  // a context that waits for its answer
  std::size_t index = 0;
  std::size_t turn = 0;
  SteadyClock::time_point due;
  context::Context context;
  std::shared_ptr<const blackboard::Board> seen;
};

struct Pending {
  std::size_t index = 0;
  Delta delta;
  sdk::Ticket ticket;
};

class AgentProcess {
 public:
  AgentProcess(const AgentSettings& settings, std::vector<Dialogue> dialogues, Member member, JournalWriter journal,
               std::unique_ptr<sdk::Agent> agent)
      : settings_(settings),
        dialogues_(std::move(dialogues)),
        member_(std::move(member)),
        journal_(std::move(journal)),
        agent_(std::move(agent)) {}

  Result<void> run() {
    for (;;) {
      if (auto done = take_seats(); !done) return done;
      if (seats_.empty()) return journal_.close();
      for (const std::size_t index : inbox_->take(next_deadline())) {
        if (auto done = look(index); !done) return done;
      }
      if (auto done = answer_due_thoughts(); !done) return done;
      if (auto done = collect_receipts(); !done) return done;
    }
  }

 private:
  bool is_coordinator() const { return member_.role == Role::coordinator; }
  // The listener's view of the first dialogue is shown.
  bool is_shown(const Seat& seat) const {
    return member_.role == Role::listener && member_.number == 0 && seat.index == 0;
  }

  Seat* seat_at(std::size_t index) {
    const auto found =
        std::find_if(seats_.begin(), seats_.end(), [&](const Seat& seat) { return seat.index == index; });
    return found == seats_.end() ? nullptr : &*found;
  }

  Result<void> take_seats() {
    while (seats_.size() < settings_.boards_at_once && next_ < dialogues_.size()) {
      Seat seat;
      seat.index = next_++;
      auto board = agent_->join(dialogues_[seat.index].board());
      if (!board) return tl::unexpected(board.error());
      seat.board = std::move(*board);
      seat.board->watch([inbox = inbox_, index = seat.index](const sdk::BoardEvent& event) {
        if (is_call(event)) inbox->put(index);
      });
      inbox_->put(seat.index);  // what came before the watch
      seats_.push_back(std::move(seat));
    }
    return {};
  }

  SteadyClock::time_point next_deadline() const {
    auto deadline = SteadyClock::now() + (pending_.empty() ? idle_wait : receipt_poll);
    for (const Thought& thought : thoughts_) deadline = std::min(deadline, thought.due);
    return deadline;
  }

  Result<void> look(std::size_t index) {
    Seat* seat = seat_at(index);
    if (seat == nullptr) return {};
    if (is_coordinator()) return coordinate(*seat);
    const auto seen = seat->board->snapshot();
    const auto turns = static_cast<std::size_t>(count_at(*seen, "turns"));
    if (turns > seat->turns_handled) return think(*seat, turns);
    const RegisterCell* phase = register_at(*seen, "phase");
    const bool is_closed = phase != nullptr && shown_sibling(*phase).value == Value(phase_closed);
    if (is_closed && seat->on_their_way == 0) leave(*seat);
    return {};
  }

  // Brings the next turn to the board once everybody has answered to the one before.
  Result<void> coordinate(Seat& seat) {
    const auto seen = seat.board->snapshot();
    const auto answers = static_cast<std::size_t>(count_at(*seen, "work.done"));
    const auto turns = static_cast<std::size_t>(count_at(*seen, "turns"));
    if (seat.on_their_way > 0 || turns < seat.turns_handled || answers < turns * (settings_.agents - 1)) return {};
    if (seat.is_closing) return {};
    if (seat.index == 0 && turns > 0) show_board(seat, *seen, turns);
    if (turns < dialogues_[seat.index].turns.size()) return think(seat, turns + 1);
    seat.is_closing = true;
    return think(seat, turns);
  }

  // Assembles the context now and answers to the turn when it has been thought about. `turns` counts the turns up to
  // that one.
  Result<void> think(Seat& seat, std::size_t turns) {
    const std::size_t turn = turns - 1;
    auto thought = begin_thought(seat, turn);
    if (!thought) return tl::unexpected(thought.error());
    if (is_shown(seat) && turn == 1) show_context(Report::Kind::after, thought->context);
    seat.turns_handled = turns;
    ++seat.on_their_way;
    thoughts_.push_back(std::move(*thought));
    return {};
  }

  Result<Thought> begin_thought(const Seat& seat, std::size_t turn) const {
    Thought thought;
    thought.index = seat.index;
    thought.turn = turn;
    thought.due = SteadyClock::now() + thinking_time(seat.index, turn);
    for (;;) {  // until both are of one version
      thought.seen = seat.board->snapshot();
      auto context = seat.board->context(request());
      if (!context) return fail(Fault::refused, "no context: " + context.error().message);
      thought.context = std::move(*context);
      if (thought.context.base == thought.seen->version()) return thought;
    }
  }

  context::Request request() const {
    context::Request request;
    request.system =
        fmt::format("You are the {} of a team that plans a trip with the user. Answer with a delta.", member_.name);
    request.pinned = {"phase", "trip"};
    request.budget_tokens = context_tokens;
    return request;
  }

  // Between half and one and a half of the pace, different for each agent and turn, the same in each run.
  milliseconds thinking_time(std::size_t index, std::size_t turn) const {
    if (is_coordinator()) return milliseconds(0);
    constexpr std::uint64_t steps = 101;
    const std::uint64_t draw = checksum64(fmt::format("{}/{}/{}", member_.name, index, turn)) % steps;
    return milliseconds(settings_.pace_ms / 2 + settings_.pace_ms * static_cast<std::int64_t>(draw) / 100);
  }

  Result<void> answer_due_thoughts() {
    const auto now = SteadyClock::now();
    for (std::size_t i = 0; i < thoughts_.size();) {
      if (thoughts_[i].due > now) {
        ++i;
        continue;
      }
      const Thought thought = std::move(thoughts_[i]);
      thoughts_.erase(thoughts_.begin() + static_cast<std::ptrdiff_t>(i));
      answer(thought);
    }
    return {};
  }

  void answer(const Thought& thought) {
    Seat& seat = *seat_at(thought.index);
    const Dialogue& dialogue = dialogues_[thought.index];
    sdk::DeltaBuilder delta(thought.context);
    if (seat.is_closing) {
      close_board(delta);
    } else {
      speak(member_, {dialogue, thought.turn, *thought.seen}, delta);
    }
    delta.id(fmt::format("{}-{}{}", member_.name, thought.turn + 1, seat.is_closing ? "-close" : ""));
    delta.source({"turn", fmt::format("turn-{}", thought.turn + 1), {}, {}});
    pending_.push_back({thought.index, delta.delta(), seat.board->submit(delta)});
  }

  Result<void> collect_receipts() {
    for (std::size_t i = 0; i < pending_.size();) {
      if (!pending_[i].ticket.done()) {
        ++i;
        continue;
      }
      const Pending done = std::move(pending_[i]);
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
      if (auto taken = take_receipt(done); !taken) return taken;
    }
    return {};
  }

  Result<void> take_receipt(const Pending& done) {
    const auto receipt = done.ticket.wait(milliseconds(0));
    if (!receipt) return tl::unexpected(receipt.error());
    journal_.write(JournalEntry{done.delta, *receipt});
    if (receipt->error) return fail(Fault::refused, fmt::format("{}: {}", done.delta.board, receipt->error->message));
    Report report{is_coordinator() ? Report::Kind::turn : Report::Kind::delta,
                  done.delta.board,
                  receipt->version,
                  tally_of(done.delta, *receipt),
                  {}};
    Seat& seat = *seat_at(done.index);
    if (auto example = example_of(member_.name, done.delta, *receipt, *seat.board->snapshot())) {
      report.lines.push_back(std::move(*example));
    }
    --seat.on_their_way;
    if (seat.is_closing) report.kind = Report::Kind::closed;
    tell(report);
    if (is_shown(seat) && seat.turns_handled == 1) show_now(seat);
    if (!seat.is_closing) return look(done.index);
    if (auto waited = seat.board->wait_for(receipt->version, connect_patience); !waited) return waited;
    leave(seat);
    return {};
  }

  // The board is closed: nobody writes there any more.
  void leave(Seat& seat) {
    const auto last = seat.board->snapshot();
    journal_.write(
        MirrorNote{seat.board->id(), last->version(), to_hex(to_bytes(last->digest())), seat.board->resyncs()});
    std::erase_if(seats_, [&](const Seat& other) { return other.index == seat.index; });
  }

  void show_now(const Seat& seat) {
    if (const auto context = seat.board->context(request())) show_context(Report::Kind::before, *context);
  }

  void show_context(Report::Kind kind, const context::Context& context) {
    tell({kind, context.board, context.base, {}, context_lines(context)});
  }

  void show_board(Seat& seat, const blackboard::Board& board, std::size_t turns) {
    auto lines = board_lines(board);
    Report report{Report::Kind::board, seat.board->id(), board.version(), {}, new_lines(seat.lines, lines)};
    report.lines.insert(report.lines.begin(), fmt::format("{} after turn {}: version {}, {} fields", seat.board->id(),
                                                          turns, board.version(), lines.size()));
    seat.lines = std::move(lines);
    tell(report);
  }

  AgentSettings settings_;
  std::vector<Dialogue> dialogues_;
  Member member_;
  JournalWriter journal_;
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::unique_ptr<sdk::Agent> agent_;
  std::size_t next_ = 0;  // the next dialogue to take a seat at
  std::vector<Seat> seats_;
  std::vector<Thought> thoughts_;
  std::vector<Pending> pending_;
};

Result<void> work(const AgentSettings& settings) {
  auto dialogues = read_dialogues(settings.dialogues, settings.limit);
  if (!dialogues) return tl::unexpected(dialogues.error());
  const auto team = make_team(settings.agents, domains_of(*dialogues));
  auto journal = JournalWriter::open(settings.journal);
  if (!journal) return tl::unexpected(journal.error());
  sdk::AgentOptions options;
  options.server = settings.server;
  options.actor = team[settings.member].name;
  options.connect_timeout = connect_patience;
  auto agent = sdk::Agent::connect(std::move(options));
  if (!agent) return tl::unexpected(agent.error());
  return AgentProcess(settings, std::move(*dialogues), team[settings.member], std::move(*journal), std::move(*agent))
      .run();
}

}  // namespace

int run_agent(const AgentSettings& settings) {
  const auto worked = work(settings);
  if (worked) return 0;
  tell({Report::Kind::failed, "", 0, {}, {worked.error().message}});
  return 1;
}

}  // namespace tafel::demo
