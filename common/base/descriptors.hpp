// The three standard descriptors of a process.
#pragma once

namespace tafel {

// Opens /dev/null where one of them is closed. Else the next file or socket takes its number, and what is meant for
// stdout or stderr is written into that. Call it first in `main`.
void open_standard_descriptors();

}  // namespace tafel
