// What the judges of the board verbs share: verdicts, and what they ask of boards and rights.
#pragma once

#include <string>
#include <vector>

#include "broker/board_verbs.hpp"

namespace tafel::broker {

// An error of the one op of the delta.
tl::unexpected<ErrorInfo> refused(const Delta& delta, ErrorCode code, std::string message);
tl::unexpected<ErrorInfo> refused_version(const Delta& delta, ErrorCode code, std::string message, Version found);
conflict::Judgement applied(std::vector<Change> changes, Version base);
conflict::Judgement unchanged(Reason reason, Version base);

inline const Op& op_of(const VerbRequest& request) { return request.delta.ops.front(); }

// A reserved register has one value: the newest.
Change reserved_register(const VerbRequest& request, const Path& path, Value value, Version version, Version base);

// Of the writer on another board; what is personal or secret there counts too.
Result<Rights> rights_on(const VerbRequest& request, const std::string& board);

// The members of an op's value: one text that is needed, and a version.
struct NamedBoard {
  std::string board;
  std::optional<Version> version;
};
tl::expected<NamedBoard, ErrorInfo> named_board(const Delta& delta, std::string_view member,
                                           std::string_view version_member);

// That the board can be read as it was after the version; nullopt when it can.
Result<std::optional<ErrorInfo>> check_version(const VerbRequest& request, const std::string& board, Version version,
                                               const Head& head);

// The error of another board that was deleted; nullopt when it was not.
Result<std::optional<ErrorInfo>> deleted(const VerbRequest& request, const std::string& board, const Rights& rights);

// The judge of each verb.
Result<VerbVerdict> judge_fork(const VerbRequest& request);
Result<VerbVerdict> judge_merge(const VerbRequest& request, const Rights& rights);
Result<VerbVerdict> judge_tag(const VerbRequest& request, const conflict::BoardView& view);
Result<VerbVerdict> judge_retain(const VerbRequest& request, const conflict::BoardView& view);
Result<VerbVerdict> judge_erase(const VerbRequest& request, const conflict::BoardView& view);
Result<VerbVerdict> judge_delete(const VerbRequest& request, const conflict::BoardView& view, const Rights& rights);

}  // namespace tafel::broker
