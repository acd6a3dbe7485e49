// Credentials that an entry holds in plain text: where they are, never what they are. The rules for what may
// be a credential are those of base/secrets.h. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

namespace corral::config {

struct PlainCredential {
  std::string place;     // "GITHUB_TOKEN", "the argument after --token", "header Authorization"; printable
  std::string variable;  // a name for it: "GITHUB_TOKEN"

  bool operator==(const PlainCredential&) const = default;
};

/// Looks at the environment, the arguments, the headers and the URL of an entry in the format of a client. At
/// most twenty; what only names a variable (${TOKEN}) is none.
std::vector<PlainCredential> plain_credentials(const boost::json::object& entry);

}  // namespace corral::config
