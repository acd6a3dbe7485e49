// The tables of the registry, as a list of steps from one version to the next. A step that was ever released
// is never edited: another one is added.
#pragma once

#include <cstdint>
#include <span>

#include "registry/sqlite.h"

namespace corral::registry {

struct SchemaStep {
  std::int64_t version;  // that the database has after it
  const char* sql;
};

/// In order, from an empty database to the newest version.
std::span<const SchemaStep> schema_steps();
std::int64_t schema_version();

enum class SchemaState : std::uint8_t {
  Ours,    // empty, or of a version that we know
  Newer,   // of a later corral
  Foreign  // somebody else's database
};
struct SchemaLook {
  SchemaState state = SchemaState::Ours;
  std::int64_t version = 0;
  Trouble trouble = Trouble::None;  // it could not be looked at
};
/// Changes nothing.
SchemaLook look_at_schema(Database& database);

/// All steps that are missing, up to `version`, in one transaction.
Trouble migrate(Database& database, std::int64_t version);

}  // namespace corral::registry
