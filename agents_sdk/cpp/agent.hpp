// The C++ SDK: an agent's connection to the blackboard server. Thread-safe: every method may be called from any thread.
// One thread of an agent owns its sockets; each watcher is called on a thread of its own. Nothing here aborts the host
// process or lets an exception of a library through. A process must not fork once it has connected: the child would
// share sockets and threads that it does not have.
//
//   auto agent = sdk::Agent::connect({.server = "tcp://127.0.0.1:7117", .actor = "planner"});
//   auto board = (*agent)->join("acme/trips/42");                       // a mirror that follows the board
//   auto context = (*board)->context({.system = "You plan trips.", .pinned = {"budget"}});
//   auto receipt = (*board)->apply(sdk::DeltaBuilder(*context).set("budget.max", 15000));
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blackboard/read.hpp"
#include "common/base/result.hpp"
#include "common/codec/event_codec.hpp"
#include "common/model/delta.hpp"
#include "common/model/receipt.hpp"
#include "common/model/retention.hpp"
#include "context/context.hpp"

namespace tafel::net {
class Context;
}

namespace tafel::sdk {

using std::chrono::milliseconds;

struct AgentOptions {
  std::string server = "tcp://127.0.0.1:7117";  // request endpoint; the others are learnt from the welcome
  std::string actor;                            // 1 to 128 bytes
  milliseconds connect_timeout{5000};
  milliseconds submit_timeout{30000};       // of the blocking calls; the outbox keeps trying meanwhile
  std::size_t outbox_deltas_max = 10'000;   // deltas without a receipt; more are refused with Fault::busy
  std::shared_ptr<net::Context> context{};  // null: one of its own
};

// Builds a delta fluently. Made from a Context it carries that context's base, so nobody can forget or invent what was
// seen.
class DeltaBuilder {
 public:
  DeltaBuilder() = default;  // base: the version before the delta
  explicit DeltaBuilder(Version base);
  explicit DeltaBuilder(const context::Context& seen);

  DeltaBuilder& id(std::string id);  // default: made by the agent
  DeltaBuilder& set(std::string_view path, Value value);
  DeltaBuilder& add(std::string_view path, std::vector<Value> elements);
  DeltaBuilder& remove(std::string_view path, std::vector<Value> elements);
  DeltaBuilder& reset(std::string_view path, std::vector<Value> elements);
  DeltaBuilder& incr(std::string_view path, std::int64_t by = 1);
  DeltaBuilder& max(std::string_view path, Value value);
  DeltaBuilder& min(std::string_view path, Value value);
  DeltaBuilder& append(std::string_view path, Value value);
  DeltaBuilder& unset(std::string_view path);
  DeltaBuilder& accept(std::string_view path, std::string_view suggestion);
  DeltaBuilder& dismiss(std::string_view path, std::string_view suggestion);
  // The schema of the board, or with `below` of all boards below it; nil for none. The only op of its delta.
  DeltaBuilder& schema(Value document, bool below = false);
  DeltaBuilder& take_ops(const std::vector<Op>& ops);       // made elsewhere, as by context::read_extraction
  DeltaBuilder& revert(std::string_view path, Version to);  // at and below the path; back to what was after `to`
  // Takes back what `actor` wrote last there, after version `since`.
  DeltaBuilder& revert_actor(std::string_view path, std::string_view actor, Version since);
  DeltaBuilder& confidence(Confidence confidence);     // of the delta
  DeltaBuilder& op_confidence(Confidence confidence);  // of the op added last
  DeltaBuilder& ttl(milliseconds ttl);                 // of the op added last
  DeltaBuilder& assert_();                             // of the op added last
  DeltaBuilder& source(Source source);
  DeltaBuilder& expect_version(Version version);
  DeltaBuilder& expect(std::string_view path, Version changed);
  DeltaBuilder& expect_value(std::string_view path, Value value);
  DeltaBuilder& atomic(bool atomic);
  DeltaBuilder& check(bool check = true);
  // The verbs of a whole board, each the only op of its delta. The delta of a fork goes to the new board.
  DeltaBuilder& fork(std::string_view parent, std::optional<Version> version = {});
  DeltaBuilder& merge(std::string_view fork, std::optional<Version> version = {});  // on the fork's parent
  DeltaBuilder& erase(std::string_view path);                                       // for good, history too
  DeltaBuilder& tag(std::string_view name, Version version);
  DeltaBuilder& untag(std::string_view name);
  // How much of the history of the board is kept; nullopt: as the server's default says.
  DeltaBuilder& retain(const std::optional<Retention>& retention);
  DeltaBuilder& delete_board();  // with its history, for good; its name is not used again
  const Delta& delta() const { return delta_; }

 private:
  Op& add_op(Verb verb, std::string_view path);
  DeltaBuilder& add_valued(Verb verb, std::string_view path, Value value);
  Delta delta_;
};

// A submitted delta on its way. Copies share one state.
class Ticket {
 public:
  const std::string& delta_id() const;
  bool done() const;
  // The receipt; Fault::unreachable when there is none in time (the outbox keeps the delta and goes on: the outcome is
  // unknown, ask again), Fault::closed when the agent was closed first.
  Result<Receipt> wait(milliseconds timeout) const;

  struct State;
  explicit Ticket(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

// What a watcher is told, in version order, each version exactly once. It is called on a thread of its own, one call at
// a time, and may take as long as it likes: it holds up nobody, and what it has not seen yet is kept on the server. It
// may call everything here, also what waits, and may end its own watch. Its exceptions go to stderr. A watcher that
// holds its BoardHandle or Agent keeps it alive until unwatch.
struct BoardEvent {
  enum class Type : std::uint8_t {
    change,   // one version: `event`
    live,     // caught up with the server's head at `version`; may come without a `lost` before it
    resync,   // history was gone or copies differed: the mirror was read again; versions up to `version` came as one
              // snapshot
    lost,     // the connection is gone; it is being made again
    deleted,  // the board was deleted by `version`; nothing comes after this. Earlier versions may be left out
  };
  Type type = Type::change;
  Version version = 0;
  std::shared_ptr<const codec::FeedEvent> event;
};
using Watcher = std::function<void(const BoardEvent&)>;

class Agent;

// A board that the agent follows: a mirror with gap detection, catch-up and digest check. Usable after its agent was
// closed: reads give the last copy, everything else Fault::closed.
class BoardHandle {
 public:
  virtual ~BoardHandle() = default;  // leaves the board; waits for watchers that are being called

  virtual const std::string& id() const = 0;
  virtual Version version() const = 0;  // of the mirror
  virtual Sum128 digest() const = 0;
  // The version by which the board was deleted: the mirror is empty then, for ever. nullopt: it is there.
  virtual std::optional<Version> deleted() const = 0;
  virtual std::uint64_t resyncs() const = 0;  // since joining; 0 unless history was trimmed or a copy broke
  // The mirror's cells as they are now, for ever. Costs nothing unless it is still held when the next version comes
  // (then one copy).
  virtual std::shared_ptr<const blackboard::Board> snapshot() const = 0;
  virtual std::optional<Value> get(std::string_view path) const = 0;
  virtual Value state() const = 0;
  // How much of what the schema requires is there, as the newest version tells it; nullopt where nothing is required.
  // Asks the server where the newest event did not tell it, as just after joining.
  virtual Result<std::optional<Completeness>> completeness() const = 0;
  // Waits until the mirror has at least `version` (read your writes: pass receipt.version). Fault::deleted when there
  // will be no such version.
  virtual Result<void> wait_for(Version version, milliseconds timeout) = 0;

  virtual Ticket submit(const DeltaBuilder& delta) = 0;          // returns at once
  virtual Result<Receipt> apply(const DeltaBuilder& delta) = 0;  // waits for the receipt and for the mirror to have it
  // Reads the mirror, lets `compute` make a delta, guards it with expect on what `compute` was given (board version,
  // unless the delta brings a guard of its own), and repeats on `stale` once the mirror has moved on, at most
  // `attempts` times; then the receipt is that refusal. `compute` returns nullopt to stop: Fault::refused, nothing was
  // submitted. An exception of `compute` goes to the caller.
  virtual Result<Receipt> transact(const std::function<std::optional<DeltaBuilder>(const blackboard::Board&)>& compute,
                                   std::size_t attempts = 16) = 0;
  // Calls `watcher` for every version after the mirror's current one. Returns a number for unwatch; 0 when no thread
  // could be had.
  virtual std::uint64_t watch(Watcher watcher) = 0;
  // No call begins afterwards. Waits for the one that is running, unless the watcher itself asks.
  virtual void unwatch(std::uint64_t number) = 0;
  // Assembles the bounded context from the mirror. The error says what would fit; `deleted` where the board is gone.
  virtual tl::expected<context::Context, context::ContextError> context(const context::Request& request) const = 0;
};

class Agent {
 public:
  // Fault::unreachable when nobody answers in time, refused when the server does not want this actor, bad_config for
  // what is wrong here.
  static Result<std::unique_ptr<Agent>> connect(AgentOptions options);
  // Closes: what is in the outbox is given up, tickets get Fault::closed. Waits for watchers that are being called, for
  // nothing else.
  virtual ~Agent() = default;

  virtual const std::string& actor() const = 0;
  virtual std::string epoch() const = 0;  // of the server's store
  // Submits to any board, joined or not. The delta gets an id when it has none; it is resent under that id until a
  // receipt comes. Deltas of one agent are sent in the order of these calls. What no message can carry (too large, NaN,
  // bad UTF-8) is refused at once.
  virtual Ticket submit(const std::string& board, const DeltaBuilder& delta) = 0;
  virtual Ticket submit(const Delta& delta) = 0;
  virtual Result<Receipt> apply(const std::string& board, const DeltaBuilder& delta) = 0;
  // Follows a board: reads a snapshot, subscribes from it, and returns when the mirror is live. Fault::deleted where it
  // was deleted.
  virtual Result<std::shared_ptr<BoardHandle>> join(const std::string& board) = 0;
  // A raw stream of versions from `from` + 1 on, without a mirror, for tools. `paths` empty: everything. Waits until
  // the server has taken or refused the subscription. Where history is gone, the watcher is told `resync` and the
  // stream goes on from there.
  virtual Result<std::uint64_t> follow(const std::string& board, Version from, std::vector<std::string> paths,
                                       Watcher watcher) = 0;
  virtual void unfollow(std::uint64_t number) = 0;
  // A question to the query service (broker/query_service.hpp lists them); the answer's body. Fault::refused (or
  // Fault::deleted, of a board that was) carries the error's text.
  virtual Result<Value> query(const Value& body, milliseconds timeout = milliseconds(10000)) = 0;
  virtual std::size_t outbox_size() const = 0;  // deltas without a receipt yet
  virtual bool connected() const = 0;
};

}  // namespace tafel::sdk
