// Joining while others write: the mirror is the server's board, whatever moment was caught.
#include <atomic>

#include "tests/sdk/server_fixture.hpp"

namespace tafel::sdk {
namespace {

const std::string board_id = "acme/busy";

// Commits about once a millisecond until it is destroyed.
class Writer {
 public:
  Writer(const TestServer& server, std::function<DeltaBuilder(int)> make)
      : agent_(server.connect("writer")), make_(std::move(make)) {
    thread_ = std::thread([this] {
      for (int i = 0; !stop_; ++i) {
        const auto receipt = agent_->apply(board_id, make_(i));
        if (receipt && !receipt->error) last_ = receipt->version;
        std::this_thread::sleep_for(milliseconds(1));
      }
    });
  }
  ~Writer() { stop(); }
  Version stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return last_;
  }
  Version last() const { return last_; }

 private:
  std::unique_ptr<Agent> agent_;
  std::function<DeltaBuilder(int)> make_;
  std::atomic<bool> stop_{false};
  std::atomic<Version> last_{0};
  std::thread thread_;
};

TEST(Join, AnEmptyBoardIsLiveAtVersionZeroAndSeesTheFirstWrite) {
  TestServer server;
  const auto agent = server.connect("a");
  const auto board = join(*agent, board_id);
  EXPECT_EQ(board->version(), 0U);
  EXPECT_EQ(board->state(), Value(Map{}));
  const auto receipt = server.connect("b")->apply(board_id, DeltaBuilder().set("a.b.c", 1));
  ASSERT_TRUE(receipt);
  ASSERT_TRUE(board->wait_for(1, long_enough));
  EXPECT_EQ(board->get("a.b.c"), Value(1));  // RO7
  EXPECT_EQ(digest_of(*board), server_digest(*agent, board_id));
}

TEST(Join, FiveHundredJoinsUnderLoadMissNothing_O09) {
  TestServer server;
  const auto agent = server.connect("joiner");
  Writer writer(server, [](int i) {
    return DeltaBuilder()
        .set("f" + std::to_string(i % 50), i)
        .incr("n")
        .add("s", {i % 20})
        .remove("s", {(i + 10) % 20});
  });
  for (int i = 0; i < 50 * effort; ++i) {
    const auto board = join(*agent, board_id);
    const Version before = board->version();
    Recorder recorder;
    board->watch(recorder.watcher());
    const Version wanted = std::max(writer.last(), before) + 1;
    ASSERT_TRUE(board->wait_for(wanted, long_enough));
    ASSERT_TRUE(recorder.wait_for_version(wanted));
    const auto versions = recorder.versions();
    ASSERT_FALSE(versions.empty());
    EXPECT_EQ(versions, up_to(versions.back(), versions.front()));
    EXPECT_EQ(board->resyncs(), 0U);
    board->watch([](const BoardEvent&) {});
  }
  const Version last = writer.stop();
  const auto board = join(*agent, board_id);
  ASSERT_TRUE(board->wait_for(last, long_enough));
  EXPECT_EQ(digest_of(*board), server_digest(*agent, board_id));
}

TEST(Join, OneRareWriteRightAfterTheSnapshotIsNotMissed) {
  TestServer server;
  const auto agent = server.connect("joiner");
  const auto other = server.connect("other");
  for (int i = 0; i < 10 * effort; ++i) {
    const std::string id = "acme/rare/" + std::to_string(i);
    ASSERT_TRUE(other->apply(id, DeltaBuilder().set("a", 0)));
    std::thread write([&] { EXPECT_TRUE(other->apply(id, DeltaBuilder().set("a", 1))); });
    const auto board = join(*agent, id);
    write.join();
    ASSERT_TRUE(board->wait_for(2, long_enough));
    EXPECT_EQ(board->get("a"), Value(1));
  }
}

TEST(Join, ALargeBoardIsReadByPagesWhileItChanges) {
  TestServer server;
  const auto agent = server.connect("joiner");
  const auto filler = server.connect("filler");
  std::vector<Ticket> tickets;
  constexpr int fields = 2000 * effort;
  for (int i = 0; i < fields; i += 100) {
    DeltaBuilder delta;
    for (int k = i; k < i + 100; ++k)
      delta.set("g" + std::to_string(k % 97) + ".f" + std::to_string(k), "value of field " + std::to_string(k));
    tickets.push_back(filler->submit(board_id, delta));
  }
  for (const Ticket& ticket : tickets) ASSERT_FALSE(ticket.wait(long_enough)->error);
  Writer writer(server, [](int i) {
    DeltaBuilder delta;
    const int k = (i * 7919) % fields;
    const std::string path = "g" + std::to_string(k % 97) + ".f" + std::to_string(k);
    i % 3 == 0 ? delta.unset(path) : delta.set(path, i);
    return delta;
  });
  for (int i = 0; i < 5; ++i) {
    const auto board = join(*agent, board_id);
    ASSERT_TRUE(board);
    ASSERT_TRUE(board->wait_for(board->version() + 5, long_enough));
    EXPECT_EQ(board->resyncs(), 0U);
  }
  const Version last = writer.stop();
  const auto board = join(*agent, board_id);
  ASSERT_TRUE(board->wait_for(last, long_enough));
  EXPECT_EQ(digest_of(*board), server_digest(*agent, board_id));
}

}  // namespace
}  // namespace tafel::sdk
