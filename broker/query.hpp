// One question under way: what its parts share, and a function for each `what`. board_queries.cpp answers those about
// the present, history_queries.cpp and diff_query.cpp those about the past.
#pragma once

#include <string>
#include <vector>

#include "blackboard/read.hpp"
#include "broker/queries.hpp"
#include "broker/schemas.hpp"

namespace tafel::broker {

// A board at the version that a question asks for.
struct Moment {
  Head head;
  Version version = 0;
  TimeMs now = 0;  // what has expired by then is absent: of an old version, the time when it was new
  Sum128 digest;   // of the whole board
};

class Query {
 public:
  Query(store::Snapshot& snapshot, const std::string& epoch, const Question& question, const Asker& asker,
        BoardSchema schema)
      : snapshot_(snapshot),
        epoch_(epoch),
        question_(question),
        asker_(asker),
        schema_(std::move(schema)),
        rights_(asker.rights_on(question.board).under(schema_.schema)) {}

  Answer get();
  Answer full();
  Answer cells();
  Answer log();
  Answer context();
  Answer schema();
  Answer boards();
  Answer suggestions();

  Answer history();
  Answer blame();
  Answer diff();
  Answer touched();

  bool may_read_anything() const { return rights_.may_read_anything(); }
  // The answer to every question about a board that was deleted; nullopt when it was not.
  std::optional<ErrorInfo> deletion_error();

 private:
  Answer deleted_boards(std::size_t count);
  tl::expected<Head, ErrorInfo> head();
  tl::expected<Moment, ErrorInfo> moment() { return moment(question_.at, question_.at_time); }
  tl::expected<Moment, ErrorInfo> moment(std::optional<Version> version, std::optional<TimeMs> time);
  tl::expected<Version, ErrorInfo> version_at(const Head& head, TimeMs time);
  tl::expected<Event, ErrorInfo> event(Version version);
  tl::expected<List, ErrorInfo> revisions_of(const Event& event);
  tl::expected<blackboard::Board, ErrorInfo> load(const Moment& moment);
  tl::expected<Value, ErrorInfo> completeness(const Moment& moment);
  Value digest_or_null(const Sum128& digest) const;
  blackboard::Reader reader(const Moment& moment) const { return {moment.now, &rights_}; }
  // The asker may see it, and it is not one of the reserved fields that nobody has asked for.
  bool shows(const Path& path) const;

  store::Snapshot& snapshot_;
  const std::string& epoch_;
  const Question& question_;
  const Asker& asker_;
  const BoardSchema schema_;  // empty where the question does not depend on it
  const Rights rights_;
};

tl::unexpected<ErrorInfo> refusal(ErrorCode code, std::string message);
tl::unexpected<ErrorInfo> failed(const Failure& failure);
// The error for a version that is not there to be read; nullopt when it is.
std::optional<ErrorInfo> version_defect(const Head& head, Version version);

}  // namespace tafel::broker
