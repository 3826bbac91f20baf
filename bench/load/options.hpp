// Reading the command line of a benchmark.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>

namespace tafel::bench {

// Puts what is given where `described` says; it has an option "help". The exit code where the program is to end: 0
// after its help, 2 for a wrong command line.
std::optional<int> read_options(const std::string& program,
                                const boost::program_options::options_description& described, int argc, char** argv);

}  // namespace tafel::bench
