// The tables of the registry, as a list of migration steps. A step that was released is never edited; a new
// one is added instead. Used by the code that opens a database, before anything else does.
#pragma once

#include <cstdint>
#include <span>

#include "registry/sqlite.h"

namespace corral::registry {

struct SchemaStep {
  std::int64_t version;  // of the database after this step
  const char* sql;
};

/// In order, from an empty database to the newest version. The first one makes all tables and has number 3:
/// versions 1 and 2 were never released.
std::span<const SchemaStep> schema_steps();
std::int64_t schema_version();

enum class SchemaState : std::uint8_t {
  Ours,    // empty, or a version that `migrate` can bring up to date
  Older,   // written by a corral before the first step
  Newer,   // written by a later corral
  Foreign  // a database of another program
};
struct SchemaLook {
  SchemaState state = SchemaState::Ours;
  std::int64_t version = 0;
  Trouble trouble = Trouble::None;  // reading it failed
};
/// Does not change the database.
SchemaLook look_at_schema(Database& database);

/// Runs all missing steps in one transaction. Only for a database whose state is `Ours`.
Trouble migrate(Database& database);

}  // namespace corral::registry
