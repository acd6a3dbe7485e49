#include "cli/frame/confirm.h"

#include <unistd.h>

#include <iostream>

namespace corral::cli {

Consent ask(const std::string& question, const std::string& things) {
  std::cout << question << " [y]es, [N]o, [a]ll " << things << ", [q]uit: " << std::flush;
  std::string line;
  if (!std::getline(std::cin, line)) return Consent::Quit;
  switch (line.empty() ? 'n' : line.front()) {
    case 'y':
    case 'Y': return Consent::Yes;
    case 'a':
    case 'A': return Consent::All;
    case 'q':
    case 'Q': return Consent::Quit;
    default: return Consent::No;
  }
}

bool can_ask() { return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1; }

}  // namespace corral::cli
