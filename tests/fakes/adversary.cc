// A badly behaved server for the tests: it grows any tree of processes that a keeper must be able to
// end, and its main process answers simple requests. Every process of it ends by itself and carries the
// tag of its test.
#include <sys/prctl.h>

#include "adversary_options.h"
#include "adversary_server.h"
#include "adversary_trees.h"

int main(int argc, char** argv) {
  using namespace corral::fakes;
  const AdversaryOptions options = parse_adversary_options(argc, argv);
  if (options.role == Role::Helper) run_helper(options);
  prctl(PR_SET_NAME, "adv-server");
  end_by_itself(options.deadline());
  return serve(options);
}
