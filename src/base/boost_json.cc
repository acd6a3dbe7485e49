// Boost.JSON without its shared library: the library corral_json is this file, and every other part of corral
// that includes <boost/json/...> links it. Boost wants its source in exactly one translation unit.
#include <boost/json/src.hpp>
