// The examples of docs/sdk-cpp.md in one program: a whole blackboard inside this process, two agents, and what they do
// with it. It ends with exit code 0 when everything went as the page says.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "agents_sdk/cpp/extractor.hpp"
#include "agents_sdk/cpp/history.hpp"
#include "agents_sdk/embedded/embedded.hpp"
#include "blackboard/read.hpp"

namespace sdk = tafel::sdk;
using std::chrono::milliseconds;
using tafel::Confidence;
using tafel::Value;

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  std::printf("%s %s\n", holds ? "ok  " : "FAIL", what);
  if (!holds) ++failures;
}

// [connect]
std::unique_ptr<sdk::Agent> connect(sdk::Embedded& tafel, const std::string& actor) {
  auto agent =
      tafel.connect(actor);  // over a network: sdk::Agent::connect({.server = "tcp://127.0.0.1:7117", .actor = actor})
  if (!agent) {
    std::fprintf(stderr, "%s\n", agent.error().message.c_str());
    return nullptr;
  }
  return std::move(*agent);
}
// [connect]

// [apply]
void write(sdk::BoardHandle& board) {
  auto receipt = board.apply(sdk::DeltaBuilder()
                                 .set("budget.max", 15000)
                                 .add("countries", {"英国", "日本"})
                                 .incr("visits")
                                 .source({"turn", "turn-5", {}, ""}));
  if (!receipt) {  // the world failed: no answer in time, closed, outbox full
    std::fprintf(stderr, "%s\n", receipt.error().message.c_str());
  } else if (receipt->error) {  // the verdict: refused, and why (fit to be given to the model)
    std::fprintf(stderr, "%s\n", receipt->error->message.c_str());
  } else {  // applied; the mirror has it already
    expect(board.get("budget.max") == Value(15000), "apply: the mirror has what was written");
  }
}
// [apply]

// [submit]
void write_much(sdk::BoardHandle& board) {
  std::vector<sdk::Ticket> tickets;
  for (int i = 0; i < 100; ++i)
    tickets.push_back(board.submit(sdk::DeltaBuilder().append("dialogue", "turn " + std::to_string(i))));
  int accepted = 0;
  for (const sdk::Ticket& ticket : tickets) {
    const auto receipt = ticket.wait(milliseconds(10000));
    if (receipt && !receipt->error) ++accepted;
  }
  expect(accepted == 100, "submit: a hundred deltas in a few messages");
}
// [submit]

// [context]
void think(sdk::BoardHandle& board) {
  tafel::context::Request request;
  request.system = "You plan trips.";
  request.pinned = {"budget"};
  request.budget_tokens = 2000;
  const auto context = board.context(request);
  if (!context) {
    std::fprintf(stderr, "%s\n", context.error().message.c_str());
    return;
  }
  // … the model answers context->messages …
  const auto receipt = board.apply(sdk::DeltaBuilder(*context)  // carries the version that the model saw
                                       .set("budget.max", 12000)
                                       .confidence(Confidence::inferred));
  expect(receipt && receipt->ops[0].outcome == tafel::Outcome::held,
         "context: a guess does not overwrite what was stated, it is held");
}
// [context]

// [transact]
void reserve(sdk::BoardHandle& board) {
  const auto receipt = board.transact([](const tafel::blackboard::Board& seen) -> std::optional<sdk::DeltaBuilder> {
    const auto seats = tafel::blackboard::value_at(seen, *tafel::Path::parse("seats"), {});
    const std::int64_t taken = seats ? seats->as_int64().value_or(0) : 0;
    if (taken >= 40) return std::nullopt;  // stop
    return sdk::DeltaBuilder().set("seats", taken + 1);
  });
  expect(receipt && !receipt->error, "transact: read, compute, write if nothing moved, else again");
}
// [transact]

// [watch]
void watch(sdk::Agent& other, sdk::BoardHandle& board) {
  std::atomic<tafel::Version> seen{0};
  const auto number = board.watch([&](const sdk::BoardEvent& event) {
    if (event.type == sdk::BoardEvent::Type::change) seen = event.version;  // event.event has actor, source and changes
  });
  const auto receipt = other.apply(board.id(), sdk::DeltaBuilder().set("visa", "needed"));
  for (int i = 0; receipt && i < 1000 && seen < receipt->version; ++i) std::this_thread::sleep_for(milliseconds(10));
  board.unwatch(number);  // no call after this
  expect(receipt && seen == receipt->version, "watch: told of what another agent wrote");
}
// [watch]

// [once]
void write_once(sdk::BoardHandle& board) {
  const auto delta = sdk::DeltaBuilder().id("order-4711").incr("orders");
  const auto first = board.apply(delta);
  const auto again = board.apply(delta);  // as after a crash, when nobody knows whether it arrived
  expect(first && again && again->duplicate && board.get("orders") == Value(1),
         "id: the same delta twice takes effect once");
}
// [once]

// [history]
void look_back(sdk::Agent& agent, sdk::BoardHandle& board) {
  const sdk::History past(agent, board.id());
  const auto first = past.get("budget.max", {.version = 1});
  expect(first && *first == Value(15000), "get: as it was after a version");
  const auto blamed = past.blame("budget.max");
  expect(blamed && blamed->at(0).said.source.ref == "turn-5", "blame: who wrote it, when, and from which turn");

  const auto changed = board.apply(sdk::DeltaBuilder().set("budget.max", 9000).add("countries", {"法国"}));
  const auto difference = past.diff({.version = changed->version - 1});
  expect(difference && difference->fields.size() == 2, "diff: each field that differs, before and after");

  const auto delta = past.revert_to(changed->version - 1);  // an op for each field; add a confidence or a source to it
  const auto receipt = board.apply(*delta);
  expect(receipt && !receipt->error && board.get("budget.max") == Value(15000), "revert: back, as a new version");
}
// [history]

// [schema]
void declare(sdk::BoardHandle& board) {
  const Value rule = tafel::Map{{"type", "number"}, {"range", tafel::List{0, 4}}, {"label", "GPA 绩点"}};
  const auto declared =
      board.apply(sdk::DeltaBuilder().schema(tafel::Map{{"fields", tafel::Map{{"profile.gpa", rule}}}}));
  expect(declared && !declared->error, "schema: says what the fields of the board are");
  const auto refused = board.apply(sdk::DeltaBuilder().set("profile.gpa", "很好"));
  expect(refused && refused->error && refused->error->code == tafel::ErrorCode::schema_violation,
         "schema: what does not fit is refused, in words for a model");
}
// [schema]

// [extract]
// Where a model is plugged in; this one knows its lines.
class Listener final : public sdk::Extractor {
 public:
  bool may_change_facts(const sdk::DialogueTurn& turn) override { return turn.user.size() > 12; }  // not for "谢谢"
  tafel::Result<std::string> ask(const sdk::ExtractionQuestion& question) override {
    // … a model call with question.tool, question.known, question.turn, and question.correction if it is not empty …
    const bool is_first = question.correction.empty();
    return std::string(R"({"fields": {"profile.gpa": {"intent": "OVERWRITE", "confidence": "stated", "value": )") +
           (is_first ? R"("三点八")" : "3.8") + "}}, \"unset\": null}";
  }
};

void listen(sdk::Agent& agent, sdk::BoardHandle& board) {
  const auto schema = sdk::schema_of(agent, board.id());
  Listener listener;
  const auto thanks = sdk::extract(board, *schema, listener, {"turn-6", "谢谢", ""});
  expect(thanks && !thanks->receipt, "extract: no factual change, no question to the model");
  const auto outcome = sdk::extract(board, *schema, listener, {"turn-7", "我的绩点是三点八", ""});
  expect(outcome && outcome->receipt && outcome->answers == 2 && board.get("profile.gpa") == Value(3.8),
         "extract: the model corrects what does not fit");
}
// [extract]

}  // namespace

int main() {
  const std::filesystem::path data =
      std::filesystem::temp_directory_path() / ("tafel-quickstart-" + std::to_string(::getpid()));
  {
    // [open]
    auto tafel = sdk::Embedded::open({.data = data, .listen = {}, .quota_bytes = 0});
    if (!tafel) {
      std::fprintf(stderr, "%s\n", tafel.error().message.c_str());
      return 1;
    }
    // [open]
    const auto planner = connect(**tafel, "planner");
    const auto critic = connect(**tafel, "critic");
    if (!planner || !critic) return 1;
    // [join]
    auto board = planner->join("acme/trips/42");
    if (!board) {
      std::fprintf(stderr, "%s\n", board.error().message.c_str());
      return 1;
    }
    // [join]
    write(**board);
    write_much(**board);
    think(**board);
    reserve(**board);
    watch(*critic, **board);
    write_once(**board);
    look_back(*planner, **board);
    declare(**board);
    listen(*planner, **board);
  }
  std::error_code ignored;
  std::filesystem::remove_all(data, ignored);
  return failures == 0 ? 0 : 1;
}
