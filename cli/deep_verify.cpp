#include "blackboard/store/deep_verify.hpp"

#include "blackboard/store/record.hpp"
#include "cli/deep_verify.hpp"
#include "cli/operator.hpp"
#include "cli/output.hpp"

namespace tafel::cli {

Result<Exit> run_deep_verify(const Arguments& arguments, Output& output) {
  const auto directory = arguments.positional(0);
  if (!directory) return fail(Fault::bad_config, "verify --deep needs DATA_DIR");
  ProgressTeller teller;
  const auto report = as_failure_of_a_store(store::verify_deep(
      std::filesystem::path(*directory), [&](const std::string& what) { teller.tell([&] { return what; }); }));
  if (!report) return tl::unexpected(report.error());
  Map records;
  for (std::size_t i = 0; i < store::table_count; ++i)
    records.emplace_back(store::table_name(static_cast<store::Table>(i)), Value(report->records[i]));
  List defects(report->defects.begin(), report->defects.end());
  const auto printed = output.json_line(Map{{"boards", report->boards},
                                            {"versions", report->versions},
                                            {"cells", report->cells},
                                            {"bytes", report->bytes},
                                            {"records", Value(Map(records))},
                                            {"pages", report->pages_walked ? "sound" : "not looked at: a server runs"},
                                            {"defects", defects}});
  if (!printed) return tl::unexpected(printed.error());
  return report->defects.empty() ? Exit::done : Exit::refused;
}

}  // namespace tafel::cli
