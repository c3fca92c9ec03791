// The errors that the engine reports. The bindings turn each into the Python exception of the same
// name in deskovky.errors.
#pragma once

#include <stdexcept>
#include <string>

namespace deskovky {

struct UnknownGameError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

struct FenError : std::invalid_argument {
  FenError(const std::string& field, const std::string& reason)
      : std::invalid_argument("FEN field '" + field + "': " + reason) {}
};

struct IllegalActionError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

struct TableError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

struct ConfigurationError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace deskovky
