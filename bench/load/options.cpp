#include "bench/load/options.hpp"

#include <iostream>

namespace tafel::bench {

std::optional<int> read_options(const std::string& program,
                                const boost::program_options::options_description& described, int argc, char** argv) {
  namespace po = boost::program_options;
  try {
    po::variables_map given;
    po::store(po::parse_command_line(argc, argv, described), given);
    if (given.contains("help")) {
      std::cout << described;
      return 0;
    }
    po::notify(given);
  } catch (const po::error& error) {
    std::cerr << program << ": " << error.what() << '\n';
    return 2;
  }
  return std::nullopt;
}

}  // namespace tafel::bench
