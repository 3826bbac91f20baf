// The boards that an agent follows, on its one feed connection: reads their snapshots by pages, subscribes, hands
// events to their mirrors, and begins again wherever something was missed. Belongs to the link's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents_sdk/cpp/board_feed.hpp"
#include "agents_sdk/cpp/channel.hpp"
#include "agents_sdk/cpp/queries.hpp"

namespace tafel::sdk {

class Boards {
 public:
  Boards(Channel& feed, Channel& query, Queries& queries) : feed_(feed), query_(query), queries_(queries) {}

  void join(std::shared_ptr<BoardFeed> board);
  void leave(const BoardFeed& board, std::int64_t now);
  // A message of the feed connection.
  void handle(const Channel::Received& received, std::int64_t now);
  // Asks for what is missing.
  void tick(std::int64_t now);
  std::int64_t next(std::int64_t now) const;

  bool awaits_answer() const;  // of the feed connection
  bool awaits_heartbeat() const;
  // Watchers that need a stream of their own.
  struct Straggler {
    std::shared_ptr<BoardFeed> board;
    BoardFeed::Behind behind;
  };
  std::vector<Straggler> stragglers() const;

 private:
  struct Followed {
    std::shared_ptr<BoardFeed> board;
    std::uint64_t ask = 0;  // id of the subscribe; 0: none is open
    std::int64_t asked_at = 0;
    bool confirmed = false;  // its answer came: what comes now belongs to it
    std::uint64_t page = 0;  // number of the page that was asked for; 0: none
    std::int64_t not_before = 0;
    std::int64_t wait_ms = 0;
    bool is_gone = false;  // a page said that the board was deleted; the feed will tell by which version
  };

  void connection_ended();
  void subscribe(Followed& followed, Version from, std::int64_t now);
  void ask_page(Followed& followed, const Value& cursor);
  void page_came(const std::string& board, std::uint64_t number, Result<Value> answer);
  void refused(const codec::Message& message, std::int64_t now);
  void act(Followed& followed, Mirror::Next next, std::int64_t now);
  void wait_out(Followed& followed, std::int64_t now);
  Followed* find(const Value& body, bool confirmed_only);

  Channel& feed_;
  Channel& query_;
  Queries& queries_;
  std::map<std::string, Followed> followed_;
  std::uint64_t generation_ = 0;
  std::uint64_t last_page_ = 0;
  std::int64_t now_ = 0;  // of the turn: answers to pages come without a time
  bool was_open_ = false;
};

}  // namespace tafel::sdk
